import type { CommandLine } from '@vigil/adapters/adapter';
import type { SessionEvent } from '@vigil/adapters/session';
import { type ClientAdapter, clientOf, type StartedClient } from '../orders/client-control.ts';
import { withoutSequences } from '../output/plain-text.ts';
import type { Chunk } from '../pty-host/ring.ts';

/** What the lines so far come to. Plain JSON. `sessionId` null: no line has named the session yet. */
export type EventStreamMemory = { readonly reader: unknown; readonly sessionId: string | null };

/** Where another supervisor stopped reading: `read` bytes in, `seen` of them still available. */
export type StreamPast = {
  readonly stream: EventStreamMemory | null;
  readonly read: number;
  readonly seen: readonly Chunk[];
};

/** The facts in one line of a session. */
export type StreamedLine = { readonly sessionId: string; readonly events: readonly SessionEvent[] };

/** Whether these lines end the client's invocation, with nothing left that would wake it: its result. */
export const hasFinished = (lines: readonly StreamedLine[]): boolean =>
  lines.some(({ events }) =>
    events.some((event) => event.kind === 'turn_ended' && event.agent === null && !event.wakes),
  );

/** The result of a tool stands whole in one line, a picture too; more is dropped. */
const LONGEST_LINE = 4 << 20;

/** The client that this command line starts, where its output is a stream of events; null: it is not. */
export const streamClientOf = (clients: readonly ClientAdapter[], line: CommandLine): StartedClient | null => {
  const client = clientOf(clients, line);
  return client?.invocation.streamsEvents === true ? client : null;
};

type StreamClient = Pick<ClientAdapter, 'name' | 'stream'>;

/** Reads the events that a headless client prints on its terminal, each line once, among any other output. */
export class EventStream {
  readonly client: string;
  readonly #reader: ClientAdapter['stream'];
  readonly #lines: OutputLines;
  #memory: EventStreamMemory;

  /** `onDropped`: a line of this many bytes is not read. */
  constructor({ name, stream }: StreamClient, past: StreamPast, onDropped: (bytes: number) => void) {
    this.client = name;
    this.#reader = stream;
    this.#memory = past.stream ?? { reader: stream.initial, sessionId: null };
    this.#lines = new OutputLines(LONGEST_LINE, onDropped);
    // What another supervisor has read is not read again, but the beginning of the line that it stopped in is needed.
    const first = past.seen[0]?.from ?? past.read;
    if (first > 0) this.#lines.lose();
    for (const { data } of past.seen) this.#lines.take(data);
  }

  get memory(): EventStreamMemory {
    return this.#memory;
  }

  /** `at`: when it was printed, epoch milliseconds */
  read(data: Buffer, at: number): readonly StreamedLine[] {
    return this.#lines.take(data).flatMap((line) => this.#line(line, at));
  }

  /** The last line, where the client has ended without a newline. */
  end(at: number): readonly StreamedLine[] {
    return this.#lines.end().flatMap((line) => this.#line(line, at));
  }

  /** Some output was gone before it could be read. */
  missed(): void {
    this.#lines.lose();
  }

  #line(text: string, at: number): readonly StreamedLine[] {
    // A client may set the title of its terminal before it prints.
    const line = text.startsWith('{') ? text : withoutSequences(text).trim();
    const { state: reader, events, sessionId: named } = this.#reader.read(this.#memory.reader, line, at);
    const sessionId = named ?? this.#memory.sessionId;
    this.#memory = { reader, sessionId };
    return sessionId === null || events.length === 0 ? [] : [{ sessionId, events }];
  }
}

const NEWLINE = 0x0a;

/** Puts the lines of an output together that comes in pieces, however they are cut. A line that is too long is dropped alone. */
export class OutputLines {
  readonly #longest: number;
  readonly #onDropped: (bytes: number) => void;
  #parts: Buffer[] = [];
  /** of the line that is not complete yet, dropped ones included */
  #bytes = 0;
  #isDropped = false;

  /**
   * `longest`: the longest line that is kept, bytes; `onDropped`: a line of this many bytes, as far as they came, was
   * dropped
   */
  constructor(longest: number, onDropped: (bytes: number) => void) {
    this.#longest = longest;
    this.#onDropped = onDropped;
  }

  /** The lines that are complete now, without their newlines. */
  take(data: Buffer): readonly string[] {
    const lines: string[] = [];
    let from = 0;
    for (let end = data.indexOf(NEWLINE); end >= 0; end = data.indexOf(NEWLINE, from)) {
      this.#keep(data.subarray(from, end));
      lines.push(...this.end());
      from = end + 1;
    }
    this.#keep(data.subarray(from));
    return lines;
  }

  /** Some bytes never came: the line that they belong to is dropped. */
  lose(): void {
    this.#isDropped = true;
    this.#parts = [];
  }

  /** What came of the last line, where no newline follows any more. */
  end(): readonly string[] {
    const [parts, bytes, isDropped] = [this.#parts, this.#bytes, this.#isDropped];
    [this.#parts, this.#bytes, this.#isDropped] = [[], 0, false];
    if (isDropped) this.#onDropped(bytes);
    return isDropped || bytes === 0 ? [] : [Buffer.concat(parts).toString('utf8')];
  }

  #keep(data: Buffer): void {
    this.#bytes += data.length;
    if (this.#bytes > this.#longest) this.lose();
    if (!this.#isDropped && data.length > 0) this.#parts.push(Buffer.from(data));
  }
}
