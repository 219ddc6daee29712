import { markHidden } from '@vigil/read-model/hidden-text';
import { withoutSequences } from '@vigil/supervisor/plain-text';

// C0 and C1 controls, the marks that change the direction of text, and tag characters: text from agents must not control a terminal.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\p{Bidi_Control}\u{e0000}-\u{e007f}]/gu;

/** Text as it may be printed: one line, no escape sequences, nothing that moves the cursor, turns text around or is hidden. */
export const plain = (text: string): string =>
  markHidden(
    withoutSequences(text.replaceAll(/[\t\r\n]+/g, ' ').replaceAll('\u009b', '\u001b[')).replaceAll(CONTROL, '\uFFFD'),
  );

/** The same for every text of an answer, at any depth. */
export const plainAll = <T>(value: T): T => {
  if (typeof value === 'string') return plain(value) as T;
  if (Array.isArray(value)) return value.map(plainAll) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [plain(k), plainAll(v)])) as T;
};

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Printable JSON: characters that JSON itself leaves raw (C1 controls, direction marks, tags, hidden ones) are escaped too. */
export const jsonText = (value: unknown, indent = 2): string =>
  markHidden(
    JSON.stringify(value, null, indent).replaceAll(CONTROL, (c) =>
      c === '\n' ? c : c.split('').map(escaped).join(''),
    ),
    escaped,
  );
