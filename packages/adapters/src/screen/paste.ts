import type { Typing } from '../adapter.ts';
import { asPrompt } from '../shared/prompt.ts';

const pasteBegin = '\u001b[200~';
const pasteEnd = '\u001b[201~';
const ctrlU = '\u0015';

/** One line without control characters: an escape sequence in a text would be keys, and end the paste. */
const oneLine = (text: string): string =>
  asPrompt(
    text
      .split(/[\r\n]+/)
      .map((line) => line.trim())
      .join(' ')
      .replace(/\p{Cc}/gu, ' '),
  );

const withoutSpaces = (text: string): string => text.replace(/\s+/gu, '');

/**
 * Types a text as one bracketed paste. `placeholder`: the client's replacement for a long paste. The input line was
 * empty before, so its content is this text.
 */
export const asPaste =
  (placeholder: RegExp) =>
  (text: string): Typing => {
    const line = oneLine(text);
    return {
      text: `${pasteBegin}${line}${pasteEnd}`,
      submit: '\r',
      withdraw: ctrlU,
      isShownBy: (pending) => withoutSpaces(pending) === withoutSpaces(line) || placeholder.test(pending),
    };
  };
