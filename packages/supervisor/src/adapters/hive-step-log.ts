import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { parseLine } from '@vigil/adapters/payload';
import type { Heartbeat, Verdict } from '@vigil/events';

type Steps = NonNullable<Heartbeat['steps']>;
type Open = { readonly file: number; readonly ino: number };

const verdicts: ReadonlySet<unknown> = new Set(['ACCEPT', 'RETRY', 'CONTINUE', 'ESCALATE']);
/** Bytes that are read at once; the rest is read the next time. */
const MOST_AT_ONCE = 1 << 20;
/** Bytes of a line; a longer line is not a step. */
const LONGEST_LINE = 1 << 20;

const found = (path: string): Stats | null => statSync(path, { throwIfNoEntry: false }) ?? null;

/** How far it has been read, and where. Plain JSON. */
export type StepMark = { readonly ino: number | null; readonly offset: number; readonly total: number };

/**
 * Follows an agent's tool_logs.jsonl from its size at the start: the steps of one instance, over rotation and
 * truncation.
 */
export class StepLog {
  readonly #path: string;
  #open: Open | null = null;
  #offset = 0;
  #rest: Buffer = Buffer.alloc(0);
  #total = 0;

  /** Existing lines belong to an earlier instance. Where another supervisor has read lines of this instance, reading continues there. */
  constructor(path: string, mark: StepMark | null = null) {
    this.#path = path;
    const now = found(path);
    const isSame = mark !== null && (now?.ino ?? null) === mark.ino && (now?.size ?? 0) >= mark.offset;
    this.#offset = isSame ? mark.offset : mark === null ? (now?.size ?? 0) : 0;
    this.#total = mark?.total ?? 0;
    this.#reopen();
  }

  get mark(): StepMark {
    return { ino: this.#open?.ino ?? null, offset: this.#offset - this.#rest.length, total: this.#total };
  }

  /** The steps since the last call; null: there are none. @throws errors of the file system */
  read(): Steps | null {
    const lines = [...this.#more(), ...(this.#isReplaced() ? this.#fromTheNewOne() : [])];
    // A step is a line that is a JSON object; its `verdict` may be missing.
    const steps = lines.map((line) => parseLine(line.trim())).filter((step) => step !== null);
    if (steps.length === 0) return null;
    this.#total += steps.length;
    const known = steps.flatMap(({ verdict }) => (verdicts.has(verdict) ? [verdict as Verdict] : []));
    return { total_steps: this.#total, verdicts: known };
  }

  close(): void {
    if (this.#open) closeSync(this.#open.file);
    this.#open = null;
  }

  #isReplaced(): boolean {
    const now = found(this.#path);
    return now !== null && (this.#open === null || now.ino !== this.#open.ino || now.size < this.#offset);
  }

  /** The old one has been read to its end by now, unless it grows faster than it is read. */
  #fromTheNewOne(): string[] {
    this.close();
    this.#offset = 0;
    this.#rest = Buffer.alloc(0);
    this.#reopen();
    return this.#more();
  }

  #reopen(): void {
    if (!found(this.#path)?.isFile()) return;
    const file = openSync(this.#path, constants.O_RDONLY | constants.O_NONBLOCK);
    this.#open = { file, ino: fstatSync(file).ino };
  }

  /** Whole lines; one that is torn waits for its end. */
  #more(): string[] {
    if (this.#open === null) return [];
    const chunk = Buffer.alloc(MOST_AT_ONCE);
    const bytes = readSync(this.#open.file, chunk, 0, MOST_AT_ONCE, this.#offset);
    this.#offset += bytes;
    const text = Buffer.concat([this.#rest, chunk.subarray(0, bytes)]);
    const end = text.lastIndexOf(0x0a) + 1;
    const rest = text.subarray(end);
    this.#rest = Buffer.from(rest.length > LONGEST_LINE ? rest.subarray(0, LONGEST_LINE) : rest);
    return text.subarray(0, end).toString('utf8').split('\n');
  }
}
