import type { MatchedPattern, RepeatedError, ShownError } from '@vigil/events';
import type { TerminalFacts } from '../heartbeat/heartbeat.ts';
import { errorHash, type Match, type Patterns } from './patterns.ts';
import { withoutSequences } from './plain-text.ts';

/** How many of our texts are remembered, and how much of each. */
const REMEMBERED = 8;
const LONGEST_TEXT = 4096;

const flat = (text: string): string => text.replace(/\s+/g, ' ').trim();
const isWord = (character: string): boolean => /[\p{L}\p{N}<>]/u.test(character);

/** Without what programs draw around a text: bars, bullets, prompts. */
const unframed = (line: string): string => {
  let [begin, end] = [0, line.length];
  while (begin < end && !isWord(line.charAt(begin))) begin += 1;
  while (end > begin && !isWord(line.charAt(end - 1))) end -= 1;
  return line.slice(begin, end);
};

/**
 * Removes texts that we sent from the output, so that no pattern matches them: whole, or folded into several lines. A line
 * with a single word is removed only where it continues such a line: a text may name the very signal that the agent then gives.
 */
export class EchoFilter {
  #texts: readonly string[] = [];
  /** the rest of a text whose start was the last line */
  #rest: string | null = null;

  /** The texts that are remembered. */
  get texts(): readonly string[] {
    return this.#texts;
  }

  sent(text: string): void {
    const one = flat(text.slice(0, LONGEST_TEXT));
    if (one.includes(' ')) this.#texts = [...this.#texts.filter((known) => known !== one), one].slice(-REMEMBERED);
  }

  /** The next line of output without Vigil's own text. */
  takenFrom(line: string): string {
    if (this.#texts.length === 0) return line;
    const shown = flat(line);
    const piece = unframed(shown);
    if (piece === '') return line;
    const others = this.#texts.reduce((left, text) => left.replaceAll(text, ' '), shown);
    if (others !== shown) return this.#ours(null, others);
    if (this.#rest !== null && unframed(this.#rest).startsWith(piece))
      return this.#ours(unframed(this.#rest).slice(piece.length), '');
    const text = piece.includes(' ') ? this.#texts.find((one) => one.includes(piece)) : undefined;
    if (text === undefined) return this.#ours(null, line);
    return this.#ours(text.slice(text.indexOf(piece) + piece.length), '');
  }

  #ours(rest: string | null, left: string): string {
    this.#rest = rest;
    return left;
  }
}

/** One line of output without control characters; `at` in epoch milliseconds. */
export type Line = { readonly at: number; readonly text: string };

/** What came with one piece of output. */
export type Seen = {
  /** something that is not the echo of our own text */
  readonly fresh: boolean;
  readonly matched: readonly MatchedPattern[];
  /** lines that are errors by the template's own patterns */
  readonly errors: readonly ShownError[];
  readonly completed: boolean;
  readonly hasResult: boolean;
};

/** What cannot be computed from the lines that are still kept. Plain JSON. */
export type OutputMemory = {
  readonly lines: number;
  readonly lastOutputAt: number | null;
  readonly repeated: RepeatedError | null;
  /** typed by us, and not yet shown */
  readonly echo: string;
  /** texts that were sent to the agent */
  readonly sent: readonly string[];
};

/** What the patterns find in a line. `error`: its hash, where it counts among repeated errors; `shown`: the error that it is. */
type Found = {
  readonly matches: readonly Match[];
  readonly isResult: boolean;
  readonly error: string | null;
  readonly shown: Pick<ShownError, 'kind' | 'message'> | null;
};

const nothingFound: Found = { matches: [], isResult: false, error: null, shown: null };

const keep = (lines: Line[], line: Line, most: number): void => {
  lines.push(line);
  if (lines.length > most) lines.shift();
};

/** How long a terminal is without output before its cursor counts as standing still, milliseconds. */
export const STILL_AFTER_MS = 500;
/**
 * An agent without any output counts as starting for this time, the default of policies: nothing is typed into it,
 * milliseconds.
 */
const START_TAKES_MS = 300_000;
const LONGEST_LINE = 8192;
/** How many of the last lines are kept for the evaluator, and how much of them a heartbeat carries, characters. */
const KEPT_FOR_JUDGING = 50;
const LONGEST_JUDGED = 1000;
const LARGEST_TAIL = 4000;
/** Characters of an error that are reported. */
const LONGEST_ERROR = 200;
/** Characters of a question that are reported. */
const LONGEST_QUESTION = 500;

/** The agent's terminal as a reader sees it: the last lines, and what they mean. */
export class OutputReader {
  readonly #startedAt: number;
  readonly #keep: number;
  readonly #own = new EchoFilter();
  #patterns: Patterns;
  #tailLines = 0;
  /** the last lines, empty ones too, without texts that we sent */
  readonly #judged: Line[] = [];
  readonly #ring: Line[] = [];
  #searched: { readonly line: string; readonly by: Patterns; readonly found: Found } | null = null;
  #lines = 0;
  #cursor = '';
  #echo = '';
  #lastOutputAt: number | null = null;
  #lastByteAt = 0;
  #repeated: RepeatedError | null = null;

  /** `startedAt`: its agent, epoch milliseconds */
  constructor(patterns: Patterns, startedAt: number, keep = 200) {
    this.#patterns = patterns;
    this.#startedAt = startedAt;
    this.#keep = keep;
  }

  /** Our own text is about to be typed; its echo is not the agent's output. */
  typing(text: string): void {
    this.#echo += text.replace(/\r$/, '\r\n');
  }

  /** This text was sent to the agent, over any channel: no pattern matches it where the terminal shows it. */
  sent(text: string): void {
    this.#own.sent(text);
  }

  get memory(): OutputMemory {
    const [lines, lastOutputAt, repeated] = [this.#lines, this.#lastOutputAt, this.#repeated];
    return { lines, lastOutputAt, repeated, echo: this.#echo, sent: this.#own.texts };
  }

  /** After `write` has been given the output that is still there, as another supervisor had judged it. */
  recall({ lines, lastOutputAt, repeated, echo }: OutputMemory): void {
    [this.#lines, this.#lastOutputAt, this.#repeated] = [lines, lastOutputAt, repeated];
    this.#echo = echo;
  }

  /** From now on by these patterns; gives the errors that they find in the last lines. */
  usePatterns(patterns: Patterns, tailLines: number): readonly MatchedPattern[] {
    this.#patterns = patterns;
    this.#tailLines = tailLines;
    const before = this.#lines - this.#judged.length;
    return this.#judged.flatMap(({ at, text }, i) =>
      patterns
        .matches(text)
        .filter(({ kind }) => kind === 'error' || kind === 'fatal')
        .map((match) => ({ ...match, at, line: before + i + 1 })),
    );
  }

  write(text: string, now: number): Seen {
    this.#lastByteAt = now;
    const fresh = this.#withoutEcho(text);
    if (fresh === '') return { fresh: false, matched: [], errors: [], completed: false, hasResult: false };
    this.#lastOutputAt = now;
    const whole = (this.#cursor + fresh).split('\n');
    this.#cursor = (whole.pop() ?? '').slice(-LONGEST_LINE);
    const before = this.#lines;
    const found = whole.map((line) => this.#line(line, now));
    const matched = found.flatMap(({ matches }, i) =>
      matches.map((match) => ({ ...match, at: now, line: before + i + 1 })),
    );
    return {
      fresh: true,
      matched,
      errors: found.flatMap(({ shown }) => (shown === null ? [] : [{ ...shown, at: now, count: 1 }])),
      completed: matched.some(({ kind }) => kind === 'completion'),
      hasResult: found.some(({ isResult }) => isResult),
    };
  }

  #withoutEcho(text: string): string {
    let same = 0;
    while (same < text.length && same < this.#echo.length && text[same] === this.#echo[same]) same += 1;
    const expected = this.#echo;
    this.#echo = same === text.length ? expected.slice(same) : '';
    return text.slice(same);
  }

  #line(raw: string, now: number): Found {
    const text = visible(raw).slice(0, LONGEST_LINE);
    this.#lines += 1;
    const isBlank = text.trim() === '';
    if (!isBlank) keep(this.#ring, { at: now, text }, this.#keep);
    const judged = this.#own.takenFrom(text);
    keep(this.#judged, { at: now, text: judged.slice(0, LONGEST_JUDGED) }, KEPT_FOR_JUDGING);
    const found = isBlank ? nothingFound : this.#search(judged);
    if (found.error !== null) this.#error(found.error, now);
    return found;
  }

  /** A line that is repeated is searched once. */
  #search(line: string): Found {
    const known = this.#searched;
    if (known !== null && known.line === line && known.by === this.#patterns) return known.found;
    const kind = this.#patterns.errorKind(line);
    const found: Found = {
      shown: kind === null ? null : { kind, message: line.trim().slice(0, LONGEST_ERROR) },
      matches: this.#patterns.matches(line),
      isResult: this.#patterns.isResult(line),
      error: this.#patterns.isError(line) ? errorHash(line) : null,
    };
    this.#searched = { line, by: this.#patterns, found };
    return found;
  }

  #error(hash: string, now: number): void {
    const before = this.#repeated;
    this.#repeated = before?.hash === hash ? { ...before, count: before.count + 1 } : { hash, count: 1, first_at: now };
  }

  get tail(): readonly Line[] {
    const cursor = visible(this.#cursor);
    return cursor.trim() === ''
      ? [...this.#ring]
      : [...this.#ring, { at: this.#lastByteAt, text: cursor }].slice(-this.#keep);
  }

  /** The last lines as far as the policy requests them, and no more than a heartbeat may carry. */
  get reported(): readonly string[] {
    const last = this.#tailLines === 0 ? [] : this.#judged.slice(-this.#tailLines).map(({ text }) => text);
    for (let from = last.length - 1, size = 0; from >= 0; from -= 1) {
      size += last[from]?.length ?? 0;
      if (size > LARGEST_TAIL) return last.slice(from + 1);
    }
    return last;
  }

  /** As a heartbeat reports it. */
  facts(now: number): Pick<TerminalFacts, 'lastOutputAt' | 'lines' | 'repeatedError' | 'asks' | 'tail'> {
    const [lastOutputAt, lines, repeatedError] = [this.#lastOutputAt, this.#lines, this.#repeated];
    const since = this.asksSince(now);
    const asks = since === null ? null : { since, text: visible(this.#cursor).trim().slice(0, LONGEST_QUESTION) };
    return { lastOutputAt, lines, repeatedError, asks, tail: this.reported };
  }

  isStill(now: number): boolean {
    const since = this.#lastOutputAt === null ? this.#startedAt + START_TAKES_MS : this.#lastByteAt + STILL_AFTER_MS;
    return now >= since;
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
  const text = withoutSequences(raw.slice(0, endOf(raw)));
  return text.slice(text.lastIndexOf('\r') + 1).replace(/(?!\t)\p{Cc}/gu, '');
};
