import { ID, NewerEvent, UnknownSchemaId } from '@vigil/events';
import { Unwelcome } from '../errors.ts';
import { countDeadLetter, type DeadLetterCounts, isOver, NO_DEAD_LETTERS } from '../log/dead-letter-quota.ts';
import {
  DeadLetterLimits,
  deadLetterOf,
  deadLetterTopic,
  isReasoned,
  leftOutLetterOf,
  VALUE_CAP,
} from '../log/dead-letters.ts';
import { misplaced, partitionIngress } from '../log/inputs.ts';
import type { LogRecord, OutRecord } from '../log/log.ts';
import {
  type ClockState,
  ingressOpen,
  ingressReleased,
  movedTo,
  pass,
  START,
  TICK_MS,
  tick,
  tickOf,
  timeOf,
} from '../time/clock.ts';
import type { Clock } from './decider.ts';
import { DeciderLogic } from './decider-logic.ts';
import { type FoldDeps, MapperLogic, type ProcessorLogic } from './processor-logic.ts';
import type { AnyProcessor, AnyRules } from './topology.ts';

export const TICK = '@tick/';
export const INGRESS = '@ingress/';
/** The value of the last mark of an ingress that is closed for good; a mark without a value means that it is open. */
export const RELEASED: Buffer = Buffer.from('released');

/**
 * The number of deadlines that one transaction computes again. A transaction of all would take longer than a broker
 * waits.
 */
export const SLICE_KEYS = 10_000;

/** One partition of a processor: pure, synchronous, without I/O or a clock. Records in, records out. */
export class Fold {
  readonly logic: ProcessorLogic;
  readonly limits = new DeadLetterLimits();
  clock: ClockState = START;
  /** stored beside the clock, so that a restart gives no key another quota */
  deadLetters: DeadLetterCounts = NO_DEAD_LETTERS;
  readonly #processor: AnyProcessor;
  readonly #deps: FoldDeps;
  readonly #intervalMs: number;
  /** keys whose deadlines have to be computed again */
  #stale: { readonly keys: readonly string[]; readonly next: number } = { keys: [], next: 0 };

  constructor(processor: AnyProcessor, deps: FoldDeps) {
    this.#processor = processor;
    this.#deps = deps;
    this.#intervalMs = processor.time?.everyMs ?? TICK_MS;
    this.logic = logicOf(processor, deps);
  }

  get time(): Clock {
    return timeOf(this.clock, this.#intervalMs);
  }

  /** Replaces the rules for all later records. */
  useRules({ decider }: AnyRules): void {
    this.logic.useDecider(decider);
  }

  /** Marks all stored deadlines as possibly too late, and computes the first slice again at once. */
  rearm(): void {
    this.#stale = { keys: this.logic.store.keys(), next: 0 };
    this.rearmNext();
  }

  /** Computes the next slice of the remaining ones. */
  rearmNext(): void {
    if (!this.isStale) return;
    const { keys, next } = this.#stale;
    this.logic.rearm(keys.slice(next, next + SLICE_KEYS), this.time);
    this.#stale = { keys, next: next + SLICE_KEYS };
  }

  /** Whether some stored deadlines may still be too late. */
  get isStale(): boolean {
    return this.#stale.next < this.#stale.keys.length;
  }

  /** Whether the last record was a tick with more due deadlines than one transaction decides: apply it again. */
  get isUnfinished(): boolean {
    return this.logic.hasMoreDue;
  }

  /**
   * The output of a record, or the next part of it while `isUnfinished`. An event of a newer version is skipped: its dead letters would stop the service during an
   * upgrade. Throws UnknownSchemaId before any change: learn the schema, then apply the record again.
   */
  apply(record: LogRecord): readonly OutRecord[] {
    const outs = this.#apply(record);
    // The clock returns to the time before the tick until its last part: dead letters of the parts count in one minute.
    if (this.isUnfinished) return outs;
    return isOver(this.deadLetters, this.clock.now) ? [...this.#finishMinute(), ...outs] : outs;
  }

  #apply(record: LogRecord): readonly OutRecord[] {
    const before = this.clock;
    if (!this.isUnfinished) this.#deps.count('records_read', 1, { processor: this.#processor.processor });
    if (record.key?.startsWith('@')) return this.#mark(record.key, record);
    if (this.#carriesTime(record)) this.#moveTo(pass(this.clock, record.timestamp));
    try {
      const elsewhere = misplaced(record, this.#deps.partitions(record.topic));
      if (elsewhere !== undefined) this.#deps.count('records_moved', 1, { processor: this.#processor.processor });
      const outs = elsewhere === undefined ? this.#decide(record) : this.#move(record, elsewhere);
      this.limits.count(false, this.clock.now);
      return outs;
    } catch (error) {
      if (error instanceof UnknownSchemaId) {
        this.clock = before;
        throw error;
      }
      if (error instanceof NewerEvent) return this.#passOver();
      return this.refuse(record, error);
    }
  }

  /** The dead letter of a record that cannot be read or decided. Above the quota the record is only counted. */
  refuse(record: LogRecord, error: unknown, otherwise = 'undecided'): readonly OutRecord[] {
    const { now } = this.clock;
    if (!this.#isForeign(record, error)) this.limits.count(true, now);
    this.#deps.count('dead_letters', 1, { processor: this.#processor.processor });
    const finished = isOver(this.deadLetters, now) ? this.#finishMinute() : [];
    const { counts, valueCap } = countDeadLetter(this.deadLetters, record, now, VALUE_CAP);
    this.deadLetters = counts;
    if (valueCap !== null) {
      const letter = deadLetterOf(this.#deadLetterEncoding(), { record, error, otherwise }, valueCap, now);
      return [...finished, { ...letter, timestamp: now }];
    }
    this.#deps.count('dead_letters_left_out', 1, { processor: this.#processor.processor });
    return finished;
  }

  /** The dead letter for the records that a past minute left out, if there are any. */
  #finishMinute(): readonly OutRecord[] {
    const { leftOut } = this.deadLetters;
    this.deadLetters = NO_DEAD_LETTERS;
    if (leftOut === null) return [];
    const { now } = this.clock;
    return [{ ...leftOutLetterOf(this.#deadLetterEncoding(), leftOut, now), timestamp: now }];
  }

  #deadLetterEncoding() {
    const { service } = this.#processor;
    return { codec: this.#deps.codec, service, partitions: this.#deps.partitions(deadLetterTopic(service)) };
  }

  #passOver(): readonly OutRecord[] {
    this.limits.count(false, this.clock.now);
    this.#deps.count('newer_events', 1, { processor: this.#processor.processor });
    return [];
  }

  #decide(record: LogRecord): readonly OutRecord[] {
    return this.logic.on(record, this.time, (error) => this.refuse(record, error));
  }

  /**
   * Moves a record to its own partition. Its agent is absent there only while this partition is read, so each tick of
   * this partition sends a mark there.
   */
  #move(record: LogRecord, elsewhere: OutRecord): readonly OutRecord[] {
    if (record.topic !== this.#processor.writesTicks) return [elsewhere];
    const isFirst = !Object.hasOwn(this.clock.movesTo, elsewhere.partition);
    this.clock = movedTo(this.clock, elsewhere.partition);
    return isFirst ? [this.#readHere(record, elsewhere.partition), elsewhere] : [elsewhere];
  }

  #readHere({ topic, partition }: LogRecord, to: number): OutRecord {
    return { topic, partition: to, key: `${INGRESS}${partitionIngress(partition)}`, value: null };
  }

  /**
   * Whether the sender is at fault. Such dead letters are not counted, because any writer of the input could otherwise
   * stop the service.
   */
  #isForeign({ topic }: LogRecord, error: unknown): boolean {
    if (error instanceof Unwelcome) return true;
    return isReasoned(error) && this.#processor.foreign?.some((input) => input === topic) === true;
  }

  /** Before the first record of the time topic, any record carries time, so that no decision is dated zero. */
  #carriesTime(record: LogRecord): boolean {
    const { time } = this.#processor;
    return time === null || this.clock.now === 0 || (record.topic === time.topic && time.sources === 'own');
  }

  #mark(key: string, record: LogRecord): readonly OutRecord[] {
    const { time } = this.#processor;
    if (time === null || record.topic !== time.topic) return [];
    if (key.startsWith(INGRESS)) return this.#ingress(key, record);
    return key.startsWith(TICK) ? this.#tick(key, record, time.sources) : [];
  }

  #ingress(key: string, record: LogRecord): readonly OutRecord[] {
    const ingress = key.slice(INGRESS.length);
    if (!ID.test(ingress)) return [];
    this.#moveTo((record.value === null ? ingressOpen : ingressReleased)(this.clock, ingress, record.timestamp));
    return this.#processor.ticks
      .filter(({ to }) => to === 'same')
      .map(({ topic }) => ({
        ...this.#markRecord(key, this.#stampOf(record)),
        value: record.value === null ? null : RELEASED,
        topic,
        partition: record.partition,
      }));
  }

  #tick(key: string, record: LogRecord, sources: 'own' | 'every'): readonly OutRecord[] {
    const since = this.clock;
    const before = since.own.tick;
    const source = key.slice(TICK.length);
    this.#moveTo(
      sources === 'own'
        ? tick(this.clock, record.timestamp, this.#intervalMs)
        : tickOf(this.clock, source, record.timestamp, this.#deps.sources, this.#intervalMs),
    );
    if (sources === 'every' && this.clock.own.tick === before) return [];
    const stamp = sources === 'own' ? this.#stampOf(record) : this.clock.own.tick;
    const fired = this.logic.deadlines(record, this.time, (state, error) => this.refuse(state, error, 'deadline'));
    // Time passes with the last part only, so that a crash before it repeats the tick.
    if (this.isUnfinished) {
      this.clock = since;
      return fired;
    }
    const vouched = Object.keys(this.clock.movesTo).map((to) => this.#readHere(record, Number(to)));
    return [...fired, ...this.#forward(before, stamp), ...vouched];
  }

  /** Forwards time along the routes, after all events emitted at it. */
  #forward(before: number, stamp: number): readonly OutRecord[] {
    const { partition, partitions } = this.#deps;
    return this.#processor.ticks
      .filter(({ everyMs }) => everyMs <= TICK_MS || Math.floor(before / everyMs) !== Math.floor(stamp / everyMs))
      .flatMap(({ topic, to }) => {
        const all = to === 'same' ? [partition] : Array.from({ length: partitions(topic) }, (_, p) => p);
        return all.map((p) => ({ ...this.#markRecord(`${TICK}${partition}`, stamp), topic, partition: p }));
      });
  }

  /** After time is set back, the stored deadlines are too late, and are computed again. */
  #moveTo(clock: ClockState): void {
    const isBack = clock.now < this.clock.now;
    this.clock = clock;
    if (isBack) this.rearm();
  }

  /** A timestamp that is not accepted is not forwarded. */
  #stampOf({ timestamp }: LogRecord): number {
    return this.clock.leap === null ? timestamp : this.clock.now;
  }

  #markRecord(key: string, timestamp: number) {
    return { key, value: null, timestamp };
  }
}

const logicOf = (processor: AnyProcessor, deps: FoldDeps): ProcessorLogic => {
  const encoding = { ...processor, codec: deps.codec, partitions: deps.partitions };
  return 'decider' in processor
    ? new DeciderLogic(processor, deps, encoding)
    : new MapperLogic(processor, deps, encoding);
};
