import { redacted } from '@vigil/adapters/described';
import { LONGEST_LINE } from './window.ts';

/** A longer line is searched for secrets up to here, and cut afterwards, so that no half of a secret is left. */
const SEARCHED = 2 * LONGEST_LINE;

const KEY_BEGINS = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;
const KEY_ENDS = /-----END [A-Z ]*PRIVATE KEY-----/;
/** A line within a private key. */
const KEY_LINE = /^\s*[A-Za-z0-9+/=]{16,}\s*$/;
/** Control characters, and characters that turn or hide the text around them. */
const STEERING = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\u{e0000}-\u{e007f}]/gu;

const REDACTED = '[redacted]';

/** A line for people: without secrets, and without characters that could control a screen. */
export const safeLine = (line: string): string => redacted(line.slice(0, SEARCHED).replace(STEERING, '\uFFFD'));

/** Output for a report that people read: without secrets, private keys and control characters. */
export const safeOutput = (lines: readonly string[]): readonly string[] =>
  withoutKeys(lines).map((line) => safeLine(line.replaceAll('\t', '  ')));

/** Lines with the private keys left out, also one whose beginning has left the screen, or whose end is not there yet. */
export const withoutKeys = (lines: readonly string[]): readonly string[] => {
  const filtered = [...lines];
  let inKey = false;
  for (const [place, line] of lines.entries()) {
    if (KEY_ENDS.test(line) && !inKey)
      for (let before = place - 1; KEY_LINE.test(filtered[before] ?? ''); before -= 1) filtered[before] = REDACTED;
    const isOfKey: boolean = KEY_BEGINS.test(line) || KEY_ENDS.test(line) || (inKey && KEY_LINE.test(line));
    if (isOfKey) filtered[place] = REDACTED;
    inKey = isOfKey && !KEY_ENDS.test(line);
  }
  return filtered;
};
