import { withoutSequences } from '@vigil/supervisor/plain-text';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\p{Bidi_Control}\u{e0000}-\u{e007f}]/gu;

/** Text of an agent as the page shows it: no escape sequences, nothing that turns the text around it. */
export const plain = (text: string): string =>
  withoutSequences(text.replaceAll('\r\n', '\n').replaceAll('\u009b', '\u001b[')).replaceAll(STEERING, '\uFFFD');

/** The same for every text of an answer, at any depth. */
export const plainAll = <T>(value: T): T => {
  if (typeof value === 'string') return plain(value) as T;
  if (Array.isArray(value)) return value.map(plainAll) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [plain(k), plainAll(v)])) as T;
};

export const orDash = (text: string | number | null | undefined): string =>
  text === null || text === undefined || text === '' ? '-' : String(text);

/** `allow_more_time`: Allow more time */
export const sentenceOf = (name: string): string =>
  name.charAt(0).toUpperCase() + name.slice(1).toLowerCase().replaceAll('_', ' ');

/** `REVIEW_REQUIRED`: review required */
export const readable = (name: string | null): string => orDash(name).toLowerCase().replaceAll('_', ' ');
