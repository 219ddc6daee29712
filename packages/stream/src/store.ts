import { Refused } from './errors.ts';

/**
 * What is remembered of one key. `dueAt`: a lower bound of its next deadline, on `now`'s axis. `version`: of the last event written for it.
 * `heardAt`: the newest moment that it was told of, on the broker's clock; nothing that it says is dated before it.
 */
export type Entry<State> = {
  readonly state: State;
  readonly dueAt: number;
  readonly version: number;
  readonly epoch: number;
  readonly heardAt: number;
  readonly correlationId: string;
};

const SHAPE = 0;
const DUE_AT = 2;
const VERSION = 10;
const EPOCH = 18;
const HEARD_AT = 26;
const CORRELATION = 34;
const HEADER = 36;

const toBytes = <State>(shape: number, entry: Entry<State>): Buffer => {
  const correlation = Buffer.from(entry.correlationId);
  const header = Buffer.alloc(HEADER);
  header.writeUInt16BE(shape, SHAPE);
  header.writeDoubleBE(entry.dueAt, DUE_AT);
  header.writeDoubleBE(entry.version, VERSION);
  header.writeDoubleBE(entry.epoch, EPOCH);
  header.writeDoubleBE(entry.heardAt, HEARD_AT);
  header.writeUInt16BE(correlation.length, CORRELATION);
  return Buffer.concat([header, correlation, Buffer.from(JSON.stringify(entry.state))]);
};

/**
 * The states of one partition, as the bytes in which they lie in the snapshot topic: shape number, deadline, version, epoch and
 * correlation id in front, JSON behind. A restore decodes nothing.
 */
export class Store<State> {
  readonly #states = new Map<string, Buffer>();
  readonly #changed = new Set<string>();
  readonly #shape: number;
  readonly #upgrade: (shape: number, state: unknown) => State;

  constructor(shape: number, upgrade?: (shape: number, state: unknown) => State) {
    this.#shape = shape;
    this.#upgrade = upgrade ?? ((_, state) => state as State);
  }

  get size(): number {
    return this.#states.size;
  }

  /** Throws Refused where a newer version of the code has written it. */
  restore(key: string, value: Buffer | null): void {
    if (value === null) {
      this.#states.delete(key);
      return;
    }
    const shape = value.readUInt16BE(SHAPE);
    if (shape > this.#shape)
      throw new Refused(
        `the state of ${key} has shape ${shape}, this version knows shapes up to ${this.#shape}: run the version that wrote it, or a newer one`,
      );
    this.#states.set(key, value);
  }

  get(key: string): Entry<State> | undefined {
    const bytes = this.#states.get(key);
    if (bytes === undefined) return undefined;
    const shape = bytes.readUInt16BE(SHAPE);
    const from = HEADER + bytes.readUInt16BE(CORRELATION);
    const plain: unknown = JSON.parse(bytes.toString('utf8', from));
    return {
      state: shape === this.#shape ? (plain as State) : this.#upgrade(shape, plain),
      dueAt: bytes.readDoubleBE(DUE_AT),
      version: bytes.readDoubleBE(VERSION),
      epoch: bytes.readDoubleBE(EPOCH),
      heardAt: bytes.readDoubleBE(HEARD_AT),
      correlationId: bytes.toString('utf8', HEADER, from),
    };
  }

  put(key: string, entry: Entry<State>): void {
    const bytes = toBytes(this.#shape, entry);
    if (this.#states.get(key)?.equals(bytes)) return;
    this.#states.set(key, bytes);
    this.#changed.add(key);
  }

  forget(key: string): void {
    if (this.#states.delete(key)) this.#changed.add(key);
  }

  bytes(key: string): Buffer | null {
    return this.#states.get(key) ?? null;
  }

  /** Looks at it again at `dueAt`. Not a change: what lies in the snapshot stays a lower bound. */
  rearm(key: string, dueAt: number): void {
    const bytes = Buffer.from(this.#states.get(key) as Buffer);
    bytes.writeDoubleBE(dueAt, DUE_AT);
    this.#states.set(key, bytes);
  }

  /** Looks at it again at `dueAt`, and so does whoever restores it. */
  push(key: string, dueAt: number): void {
    this.rearm(key, dueAt);
    this.#changed.add(key);
  }

  /** The keys whose deadline may have come. */
  due(now: number): readonly string[] {
    const keys: string[] = [];
    for (const [key, bytes] of this.#states) if (bytes.readDoubleBE(DUE_AT) <= now) keys.push(key);
    return keys;
  }

  /** The last value of each key that has changed since this was last asked; null: forgotten. */
  changes(): readonly (readonly [key: string, value: Buffer | null])[] {
    const changes = [...this.#changed].map((key) => [key, this.#states.get(key) ?? null] as const);
    this.#changed.clear();
    return changes;
  }
}
