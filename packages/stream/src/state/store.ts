import { Refused } from '../errors.ts';
import { type AtRest, type Form, readAtRest, shapeOf, sparse } from './at-rest.ts';
import { Timers } from './deadlines.ts';

/**
 * The stored entry of one key. `dueAt`: a lower bound of its next deadline, on `now`'s axis. `version`: of the last
 * event written for it.
 * `lastInputAt`: the newest moment of its inputs, on the broker's clock; no event of it is dated earlier.
 */
export type Entry<State> = {
  readonly state: State;
  readonly dueAt: number;
  readonly version: number;
  readonly epoch: number;
  readonly lastInputAt: number;
  readonly correlationId: string;
};

const SHAPE = 0;
const DUE_AT = 2;
const VERSION = 10;
const EPOCH = 18;
const LAST_INPUT_AT = 26;
const CORRELATION = 34;
const HEADER = 36;

const toBytes = <State>(shape: number, entry: Entry<State>, form: Form): Buffer => {
  const { state, dueAt, version, epoch, lastInputAt, correlationId } = entry;
  const json = form.write(state);
  const correlation = Buffer.byteLength(correlationId);
  const bytes = Buffer.allocUnsafe(HEADER + correlation + Buffer.byteLength(json));
  bytes.writeUInt16BE(shape, SHAPE);
  bytes.writeDoubleBE(dueAt, DUE_AT);
  bytes.writeDoubleBE(version, VERSION);
  bytes.writeDoubleBE(epoch, EPOCH);
  bytes.writeDoubleBE(lastInputAt, LAST_INPUT_AT);
  bytes.writeUInt16BE(correlation, CORRELATION);
  bytes.write(correlationId, HEADER);
  bytes.write(json, HEADER + correlation);
  return bytes;
};

/** How many decoded entries are kept beside their bytes: at least so many of those used last, at most twice as many. */
const RECENT = 2048;

/** A cache of the values used last. It has two generations; the older is dropped when the younger is full. */
class Recent<Value> {
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  get(key: string): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= RECENT && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }
}

/**
 * The states of one partition, as the bytes of the snapshot topic: shape number, deadline, version, epoch and
 * correlation id, then JSON. A restore decodes nothing. Entries of the present batch are encoded at its end. The
 * entries used last are not decoded again, because a decider never changes a state that it was given.
 */
export class Store<State> {
  readonly #states = new Map<string, Buffer>();
  readonly #changed = new Set<string>();
  /** put, and not encoded yet */
  readonly #put = new Map<string, Entry<State>>();
  /** of those put, the keys that have no bytes yet */
  #added = 0;
  readonly #recent = new Recent<Entry<State>>();
  readonly #timers = new Timers();
  readonly #shape: number;
  readonly #form: Form;
  readonly #atRest: AtRest<State>;

  constructor(atRest: AtRest<State>) {
    this.#atRest = atRest;
    this.#shape = shapeOf(atRest);
    this.#form = sparse(atRest.usual);
  }

  get size(): number {
    return this.#states.size + this.#added;
  }

  /** Throws Refused if a newer version of the code wrote the state, or if its shape is too old for this one. */
  restore(key: string, value: Buffer | null): void {
    this.#recent.delete(key);
    if (value === null) {
      this.#states.delete(key);
      this.#timers.disarm(key);
      return;
    }
    const shape = value.readUInt16BE(SHAPE);
    if (shape > this.#shape)
      throw new Refused(
        `the state of ${key} has shape ${shape}, this version reads shapes up to ${this.#shape}: run the version that wrote it, or a newer one`,
      );
    if (shape < this.#atRest.oldest)
      throw new Refused(
        `the state of ${key} has shape ${shape}, and this version reads shapes from ${this.#atRest.oldest} on: run the version that wrote it. ` +
          'To begin again instead, run `vigil halt`, delete the snapshot topic, run `vigil topics apply`, start again, and run `vigil resume` when everything is read: ' +
          'what the inputs still hold is decided again, under the same ids',
      );
    this.#set(key, value);
  }

  get(key: string): Entry<State> | undefined {
    const known = this.#put.get(key) ?? this.#recent.get(key);
    if (known !== undefined) return known;
    const bytes = this.#states.get(key);
    if (bytes === undefined) return undefined;
    const entry = this.#decode(bytes);
    this.#recent.set(key, entry);
    return entry;
  }

  put(key: string, entry: Entry<State>): void {
    if (!this.has(key)) this.#added += 1;
    this.#put.set(key, entry);
  }

  forget(key: string): void {
    this.#settle();
    this.#recent.delete(key);
    this.#timers.disarm(key);
    if (this.#states.delete(key)) this.#changed.add(key);
  }

  has(key: string): boolean {
    return this.#put.has(key) || this.#states.has(key);
  }

  bytes(key: string): Buffer | null {
    this.#settle();
    return this.#states.get(key) ?? null;
  }

  /** Arms the key for `dueAt`. This is not a change: the time in the snapshot stays a lower bound. */
  rearm(key: string, dueAt: number): void {
    const bytes = Buffer.from(this.bytes(key) as Buffer);
    bytes.writeDoubleBE(dueAt, DUE_AT);
    this.#set(key, bytes);
    this.#recent.delete(key);
  }

  /** Arms the key for `dueAt`, also after a restore. */
  push(key: string, dueAt: number): void {
    this.rearm(key, dueAt);
    this.#changed.add(key);
  }

  /** Arms the key for `dueAt` at the latest, also after a restore. */
  advance(key: string, dueAt: number): void {
    if ((this.bytes(key) as Buffer).readDoubleBE(DUE_AT) > dueAt) this.push(key, dueAt);
  }

  keys(): readonly string[] {
    this.#settle();
    return [...this.#states.keys()];
  }

  /** The keys whose deadline may have passed. Other keys cost nothing. */
  due(now: number): readonly string[] {
    this.#settle();
    const keys: string[] = [];
    for (const key of this.#timers.take(now)) {
      const at = (this.#states.get(key) as Buffer).readDoubleBE(DUE_AT);
      this.#timers.arm(key, at);
      if (at <= now) keys.push(key);
    }
    return keys;
  }

  /** The last value of each key that has changed since the previous call; null for a forgotten key. */
  changes(): readonly (readonly [key: string, value: Buffer | null])[] {
    this.#settle();
    const changes = [...this.#changed].map((key) => [key, this.#states.get(key) ?? null] as const);
    this.#changed.clear();
    return changes;
  }

  /** Encodes each put state. A state whose bytes are the same as before has not changed. */
  #settle(): void {
    for (const [key, entry] of this.#put) {
      const bytes = toBytes(this.#shape, entry, this.#form);
      this.#recent.set(key, entry);
      if (this.#states.get(key)?.equals(bytes)) continue;
      this.#set(key, bytes);
      this.#changed.add(key);
    }
    this.#put.clear();
    this.#added = 0;
  }

  #set(key: string, bytes: Buffer): void {
    this.#states.set(key, bytes);
    this.#timers.arm(key, bytes.readDoubleBE(DUE_AT));
  }

  #decode(bytes: Buffer): Entry<State> {
    const shape = bytes.readUInt16BE(SHAPE);
    const from = HEADER + bytes.readUInt16BE(CORRELATION);
    const text = bytes.toString('utf8', from);
    return {
      state: shape === this.#shape ? (this.#form.read(text) as State) : readAtRest(this.#atRest, shape, text),
      dueAt: bytes.readDoubleBE(DUE_AT),
      version: bytes.readDoubleBE(VERSION),
      epoch: bytes.readDoubleBE(EPOCH),
      lastInputAt: bytes.readDoubleBE(LAST_INPUT_AT),
      correlationId: bytes.toString('utf8', HEADER, from),
    };
  }
}
