import { stripVTControlCharacters } from 'node:util';
import type { MatchedPattern, RepeatedError } from '@vigil/events';
import { errorHash, type Patterns } from './patterns.ts';

/** One line of output without control characters; `at` in epoch milliseconds. */
export type Line = { readonly at: number; readonly text: string };

/** What came with one piece of output. */
export type Seen = {
  /** something that is not the echo of our own text */
  readonly fresh: boolean;
  readonly matched: readonly MatchedPattern[];
  readonly completed: boolean;
};

/** How long a terminal is without output before its cursor counts as standing still, milliseconds. */
export const stillAfterMs = 500;
const longestLine = 8192;

/** The agent's terminal as a reader sees it: the last lines, and what they mean. */
export class Screen {
  readonly #keep: number;
  readonly #patterns: Patterns;
  #ring: Line[] = [];
  #lines = 0;
  #cursor = '';
  #echo = '';
  #lastOutputAt: number | null = null;
  #lastByteAt = 0;
  #repeated: RepeatedError | null = null;

  constructor(patterns: Patterns, keep = 100) {
    this.#patterns = patterns;
    this.#keep = keep;
  }

  /** Our own text is about to be typed; its echo is not the agent's output. */
  typing(text: string): void {
    this.#echo += text.replace(/\r$/, '\r\n');
  }

  write(text: string, now: number): Seen {
    this.#lastByteAt = now;
    const fresh = this.#withoutEcho(text);
    if (fresh === '') return { fresh: false, matched: [], completed: false };
    this.#lastOutputAt = now;
    const whole = (this.#cursor + fresh).split('\n');
    this.#cursor = (whole.pop() ?? '').slice(-longestLine);
    const matched = whole.flatMap((line) => this.#line(line, now));
    return { fresh: true, matched, completed: matched.some(({ kind }) => kind === 'completion') };
  }

  #withoutEcho(text: string): string {
    let same = 0;
    while (same < text.length && same < this.#echo.length && text[same] === this.#echo[same]) same += 1;
    const expected = this.#echo;
    this.#echo = same === text.length ? expected.slice(same) : '';
    return text.slice(same);
  }

  #line(raw: string, now: number): MatchedPattern[] {
    const text = visible(raw).slice(0, longestLine);
    this.#lines += 1;
    if (text.trim() !== '') this.#ring = [...this.#ring, { at: now, text }].slice(-this.#keep);
    const matches = this.#patterns.matches(text);
    if (matches.some(({ kind }) => kind === 'error')) this.#error(errorHash(text), now);
    return matches.map((match) => ({ ...match, at: now }));
  }

  #error(hash: string, now: number): void {
    const before = this.#repeated;
    this.#repeated = before?.hash === hash ? { ...before, count: before.count + 1 } : { hash, count: 1, first_at: now };
  }

  get lines(): number {
    return this.#lines;
  }
  get lastOutputAt(): number | null {
    return this.#lastOutputAt;
  }
  get repeatedError(): RepeatedError | null {
    return this.#repeated;
  }
  get tail(): readonly Line[] {
    const cursor = visible(this.#cursor);
    return cursor.trim() === ''
      ? this.#ring
      : [...this.#ring, { at: this.#lastByteAt, text: cursor }].slice(-this.#keep);
  }

  isStill(now: number): boolean {
    return now - this.#lastByteAt >= stillAfterMs;
  }

  /** Since when the agent asks something and waits, epoch milliseconds; null: it does not. */
  asksSince(now: number): number | null {
    return this.isStill(now) && this.#patterns.asks(visible(this.#cursor)) ? this.#lastOutputAt : null;
  }
}

/** Where the carriage returns at the end begin. Not /\r+$/: that takes seconds where many stand elsewhere, while no agent of the host is looked after. */
const endOf = (raw: string): number => {
  let end = raw.length;
  while (raw[end - 1] === '\r') end -= 1;
  return end;
};

/** A line as it stands on the screen: what a carriage return has overwritten is gone. */
const visible = (raw: string): string => {
  const text = stripVTControlCharacters(raw.slice(0, endOf(raw)));
  return text.slice(text.lastIndexOf('\r') + 1).replace(/(?!\t)\p{Cc}/gu, '');
};
