import { markHidden } from '@vigil/read-model/hidden-text';
import { withoutSequences } from '@vigil/supervisor/plain-text';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\p{Bidi_Control}\u{e0000}-\u{e007f}]/u;
const ALL_CONTROL = new RegExp(CONTROL, 'gu');
/** Zero-width characters; most of them hide. */
const MAY_HIDE = /[\u200b-\u200d\u2060\ufeff]/;
const isUnsafe = (text: string): boolean => CONTROL.test(text) || MAY_HIDE.test(text);

/** Text of an agent as the page shows it: no escape sequences, nothing that turns the text around it, nothing hidden. */
export const plain = (text: string): string => (isUnsafe(text) ? cleaned(text) : text);

const cleaned = (text: string): string =>
  markHidden(
    withoutSequences(text.replaceAll('\r\n', '\n').replaceAll('\u009b', '\u001b[')).replaceAll(ALL_CONTROL, '\uFFFD'),
  );

/** The same for every text of an answer, at any depth. */
const plainAll = <T>(value: T): T => {
  if (typeof value === 'string') return plain(value) as T;
  if (Array.isArray(value)) return value.map(plainAll) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [plain(k), plainAll(v)])) as T;
};

/** JSON may write control characters as escapes: `\b`, `\f`, `\r` and `\u…`. */
const ESCAPED = /\\[bfru]/;

/** An answer of the API without what could control a screen. Most answers have nothing of it, and are read as they are. */
export const plainJson = (json: string): unknown => {
  const value: unknown = JSON.parse(json);
  return ESCAPED.test(json) || isUnsafe(json) ? plainAll(value) : value;
};

export const orDash = (text: string | number | null | undefined): string =>
  text === null || text === undefined || text === '' ? '-' : String(text);

/** `allow_more_time`: Allow more time */
export const sentenceOf = (name: string): string =>
  name.charAt(0).toUpperCase() + name.slice(1).toLowerCase().replaceAll('_', ' ');

/** `REVIEW_REQUIRED`: review required */
export const readable = (name: string | null): string => orDash(name).toLowerCase().replaceAll('_', ' ');

/** Which attempt of its task an agent is, such as `2 of 3`; a task's first agent is not an attempt of a recovery. */
export const attemptText = ({
  attempt,
  maxAttempts,
}: {
  readonly attempt: number | null;
  readonly maxAttempts: number | null;
}): string => {
  if (attempt === null) return '-';
  return attempt === 0 ? 'first agent' : `${attempt} of ${orDash(maxAttempts)}`;
};
