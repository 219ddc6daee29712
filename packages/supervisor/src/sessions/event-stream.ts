import type { Adapter, CommandLine } from '@vigil/adapters/adapter';
import type { SessionEvent } from '@vigil/adapters/session';
import { withoutSequences } from '../output/plain-text.ts';
import type { Chunk } from '../pty-host/ring.ts';
import { OutputLines } from './output-lines.ts';

/** What a supervisor has to know of a client to read its output stream. */
export type StreamAdapter = Pick<Adapter, 'name' | 'invocation' | 'stream'>;

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

/** The result of a tool stands whole in one line, a picture too; more is dropped. */
const longestLine = 4 << 20;

/** The client that this command line starts, where its output is a stream of events; undefined: it is not. */
const streamClientOf = (clients: readonly StreamAdapter[], line: CommandLine): StreamAdapter | undefined =>
  clients.find(({ invocation }) => invocation(line)?.streamsEvents === true);

/** Whether the output of this command is a stream of events. */
export const printsStream = ({ clients }: { readonly clients: readonly StreamAdapter[] }, line: CommandLine): boolean =>
  streamClientOf(clients, line) !== undefined;

/** Reads the events that a headless client prints on its terminal, each line once, among any other output. */
export class EventStream {
  readonly client: string;
  readonly #reader: StreamAdapter['stream'];
  readonly #lines: OutputLines;
  #memory: EventStreamMemory;

  private constructor({ name, stream }: StreamAdapter, past: StreamPast, onDropped: (bytes: number) => void) {
    this.client = name;
    this.#reader = stream;
    this.#memory = past.stream ?? { reader: stream.initial, sessionId: null };
    this.#lines = new OutputLines(longestLine, onDropped);
    // What another supervisor has read is not read again, but the beginning of the line that it stopped in is needed.
    const first = past.seen[0]?.from ?? past.read;
    if (first > 0) this.#lines.lose();
    for (const { data } of past.seen) this.#lines.take(data);
  }

  /** Null: this command line requests no stream. `onDropped`: a line of this many bytes is not read. */
  static of(
    clients: readonly StreamAdapter[],
    line: CommandLine,
    past: StreamPast,
    onDropped: (bytes: number) => void,
  ): EventStream | null {
    const client = streamClientOf(clients, line);
    return client === undefined ? null : new EventStream(client, past, onDropped);
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
