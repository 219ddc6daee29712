import type { ScreenMeaning, Typing } from '../adapter.ts';
import { asPrompt } from './command-line.ts';

/** The longest reported text of a dialog, characters. */
const LONGEST_TEXT = 500;

/** Horizontal rules and the frames around boxes, as clients draw them. */
const FRAME = /^[\s─━═╌╍▔▁▀▄╭╮╰╯│┃|]+|[\s─━═╌╍▔▁▀▄╭╮╰╯│┃|]+$/gu;

/** The text of a line without the frame of its box; may be empty. */
export const unframed = (line: string): string => line.replace(FRAME, '');

export const isRule = (line: string): boolean => /^\s*[─━═╌▔]{20,}\s*$/u.test(line);

/** The number of last lines in which dialogs name their keys. */
const lastLines = (lines: readonly string[]): readonly string[] => lines.filter((line) => line.trim() !== '').slice(-4);

/** Separators between the keys that a client offers. */
const BETWEEN_KEYS = /\s*[|·]\s*/u;

/**
 * Whether one of the last lines offers keys: `keys` matches the beginning of the line, or of a part of it after a
 * separator. A sentence in the output of a command that names a key does not begin with it, or follows a mark of that
 * output.
 */
export const offersKeys = (lines: readonly string[], keys: RegExp): boolean =>
  lastLines(lines).some((line) =>
    line
      .trim()
      .split(BETWEEN_KEYS)
      .some((part) => part.search(keys) === 0),
  );

/** A line that requests a choice instead of asking. */
const REQUEST = /^(?:choose|select|press enter)\b/i;
const GREETING = /^welcome to /i;

/**
 * The question of a dialog: the last question before its options, else its first line of text and the line that
 * requests a choice. `subject`: the subject of the question, such as a command; null if the question names it itself.
 */
export const dialogText = (lines: readonly string[], options: number, subject: string | null): string => {
  const texts = lines.map(unframed);
  const question = texts.slice(0, options).findLast((line) => /\?(?:\s|$)/.test(line));
  const first = texts.find((line) => /\p{L}{2}/u.test(line) && !GREETING.test(line));
  const requested = texts.find((line) => line !== first && REQUEST.test(line));
  const parts = question === undefined ? [first, requested] : [question.replace(/\?\s.*$/, '?'), subject];
  return parts
    .filter((part) => part)
    .join(' ')
    .slice(0, LONGEST_TEXT);
};

/** The text of an input line that is folded into several rows; null if it is empty. */
export const inputText = (rows: readonly string[]): string | null => {
  const text = rows
    .map((row) => row.trim())
    .join(' ')
    .trim();
  return text === '' ? null : text;
};

const PASTE_BEGIN = '\u001b[200~';
const PASTE_END = '\u001b[201~';
const CTRL_U = '\u0015';

/** One line without control characters, because an escape sequence would act as keys and end the paste. */
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
      text: `${PASTE_BEGIN}${line}${PASTE_END}`,
      submit: '\r',
      withdraw: CTRL_U,
      isShownBy: (pending) => withoutSpaces(pending) === withoutSpaces(line) || placeholder.test(pending),
    };
  };

const LIMITED = /\b(?:429|503|529|overloaded|rate[ _-]?limit(?:ed)?|usage limit|high demand)\b/i;
const DELAY = /\bretrying in (?:(\d+)m\s*)?(?:(\d+)s)?/i;

const delayIn = (text: string): number | null => {
  const [, minutes, seconds] = DELAY.exec(text) ?? [];
  if (minutes === undefined && seconds === undefined) return null;
  return (Number(minutes ?? 0) * 60 + Number(seconds ?? 0)) * 1000;
};

/** A line about a retry. `reason`: the text beside it. */
export const retrying = (text: string, reason = ''): ScreenMeaning => ({
  kind: 'retrying',
  text: text.trim(),
  limit: LIMITED.test(text) || LIMITED.test(reason) ? { retryInMs: delayIn(text) } : null,
});
