import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Draft, RegistryTrouble } from '@vigil/events';
import { Fatal, Refused, Retry } from '../errors.ts';
import { type DeadLetterCounts, NO_DEAD_LETTERS } from '../log/dead-letter-quota.ts';
import type { Batch, Bounds, Log, LogRecord, OutRecord } from '../log/log.ts';
import { type ClockState, restored } from '../time/clock.ts';
import { attributesOf, type BatchSpans, continueTraces } from '../tracing/spans.ts';
import { foldAll } from './batch-fold.ts';
import { Fold } from './fold.ts';
import { claim, OWNER_KEY, released } from './ownership.ts';
import type { FoldDeps } from './processor-logic.ts';
import { RULES_KEY, RuleSwitch } from './rule-switch.ts';
import type { SharedWriter } from './shared-writer.ts';
import { type AnyProcessor, snapshotTopic } from './topology.ts';

export const POSITION_KEY = '@position/';
/** How long another instance may take to give a partition up before it is fenced, milliseconds. */
const RELEASE_MS = 2000;

/** `version`: of the code that decides. */
export type TaskDeps = FoldDeps & {
  readonly version: string;
  /** receives the decided events once they are committed */
  readonly onCommitted?: ((drafts: readonly Draft[]) => void) | undefined;
};

/** A position in the snapshot. `partitions`: of the topic when it was written; an older snapshot has none. */
type StoredPosition = {
  readonly next: number;
  readonly clock: ClockState;
  readonly partitions?: number;
  /** of the present minute; missing if there are none */
  readonly deadLetters?: DeadLetterCounts;
};

/** A batch, and the promise of its caller. */
type Taken = { readonly batch: Batch; readonly done: PromiseWithResolvers<void> };

/**
 * A batch, or a part of it. `next`: the offset to continue at; `trouble`: the reason why the registry gave no schema for
 * it. `isLast`: whether the rest of the batch is not read now.
 */
type FoldedBatch = {
  readonly topic: string;
  readonly next: number;
  readonly isLast: boolean;
  readonly trouble: RegistryTrouble | null;
  readonly spans: BatchSpans;
};

/** Throws Fatal if the client has lost the position, or the log its end. */
const checkPosition = ({ topic, partition, fetched, end }: Batch, position: number): void => {
  if (fetched > position) throw new Fatal(`${topic}/${partition} jumped: at ${position}, got ${fetched}`);
  if (end < position) throw new Fatal(`${topic}/${partition} ends at ${end}, before our position ${position}`);
};

const RENUMBERED =
  'keys are in other partitions now, so their states would judge agents that report elsewhere. Partitions cannot be added; use a cluster with the old count, or make all topics again with `vigil topics apply`';

/** restoring (states and positions, and claiming the partition) → running → lost. A lost task is replaced by a new one. */
export type Phase = 'restoring' | 'running' | 'lost';

/**
 * One partition of a processor. It owns the state and the positions, and commits through the writer of its instance; on
 * any doubt it drops all three.
 */
export class PartitionTask {
  readonly partition: number;
  readonly positions = new Map<string, number>();
  /** inputs whose positions have moved without any output or changed state; these positions are not written yet */
  readonly #unwritten = new Set<string>();
  /** inputs whose next record waits for the registry, with its error */
  readonly #waiting = new Map<string, RegistryTrouble>();
  /** the last seen end of each input */
  readonly ends = new Map<string, number>();
  phase: Phase = 'restoring';
  /** counts finished work, for the watchdog */
  progress = 0;
  /** the part of the snapshot that has been read, from 0 to 1 */
  restored = 0;
  readonly #log: Log;
  readonly #processor: AnyProcessor;
  readonly #deps: TaskDeps;
  /** the batches that wait for the next transaction */
  readonly #taken: Taken[] = [];
  /** the decided events since the last commit */
  readonly #decided: Draft[] = [];
  readonly #fold: Fold;
  readonly #given = new AbortController();
  #writer: SharedWriter | undefined;
  #opening: Promise<void> = Promise.resolve();
  #closed: Promise<void> | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  readonly #ruleSwitch: RuleSwitch;

  constructor(log: Log, processor: AnyProcessor, deps: TaskDeps) {
    this.#log = log;
    this.#processor = processor;
    this.#deps = deps;
    this.partition = deps.partition;
    const onDecided = deps.onCommitted && ((drafts: readonly Draft[]) => this.#decided.push(...drafts));
    this.#fold = new Fold(processor, { ...deps, onDecided });
    this.#ruleSwitch = new RuleSwitch(processor, deps.version);
  }

  get clock(): ClockState {
    return this.#fold.clock;
  }

  /** watched time, milliseconds */
  get watched(): number {
    return this.#fold.time.watched;
  }

  /** whether a record waits for its schema, because the registry does not answer */
  get waits(): boolean {
    return this.#waiting.size > 0;
  }

  /** the number of keys with a state */
  get size(): number {
    return this.#fold.logic.store.size;
  }

  /** the unread records of all inputs */
  get lag(): number {
    let lag = 0;
    for (const [topic, end] of this.ends) lag += Math.max(0, end - (this.positions.get(topic) ?? 0));
    return lag;
  }

  /**
   * Restores the partition, and makes the writer its only one. Throws Refused if the snapshot does not fit the topics,
   * Retry if the task was lost in the meantime.
   */
  open(writer: SharedWriter): Promise<void> {
    this.#opening = this.#open(writer);
    return this.#opening;
  }

  /**
   * Folds a batch record by record. Outputs, changed states and positions are written together. Batches of several
   * topics that arrive together, or during a transaction, share the next one: a broker's cost is by transaction. A batch
   * without outputs and changes only moves the position, which a later transaction writes, `writePositions` at the latest.
   * A batch with more outputs or due deadlines than one transaction takes has several, in order.
   * Throws RegistryTrouble if the registry does not answer for a record. Then the records before it are written, and
   * the position is its offset.
   */
  take(batch: Batch): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#taken.push({ batch, done });
    this.#queue = this.#queue.then(() => nextTurn()).then(() => this.#takeAll());
    return done.promise;
  }

  /** Advances past a fetch of only control or aborted records. The next transaction writes the position. */
  skip({ topic, fetched, next }: Omit<Batch, 'records' | 'end'>): void {
    const position = this.positions.get(topic);
    if (position === undefined || fetched > position || next <= position) return;
    this.positions.set(topic, next);
    this.#unwritten.add(topic);
    this.progress += 1;
  }

  /** Writes the positions that no transaction has written yet. Throws Retry if the task was fenced. */
  writePositions(): Promise<void> {
    const job = this.#queue.then(async () => {
      if (this.phase !== 'running' || this.#unwritten.size === 0) return;
      await this.#commit(this.#unwrittenPositions((topic) => this.positions.get(topic) as number));
    });
    this.#queue = job.catch(() => {});
    return job;
  }

  lose(): void {
    void this.close();
  }

  /** Closes the task after its present batch, and gives the partition up. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.phase = 'lost';
    this.#given.abort();
    await this.#opening.catch(() => {});
    await this.#queue;
    if (this.#writer === undefined) return;
    // A writer that was fenced has nothing to give up.
    await this.#writer.commit([released(this.#snapshot.topic, this.partition, this.#writer.id)]).catch(() => {});
  }

  async #open(writer: SharedWriter): Promise<void> {
    this.#checkOpen();
    await this.#restore(writer);
    await this.#placePositions();
    this.#checkOpen();
    this.#fold.logic.restored(this.#fold.time);
    this.phase = 'running';
  }

  async #restore(writer: SharedWriter): Promise<void> {
    const { topic, partition } = this.#snapshot;
    const { low } = await this.#boundsOf(topic);
    this.#checkOpen();
    this.#writer = writer;
    const restore = (record: LogRecord, part: Bounds) => {
      this.restored = (record.offset - part.low) / (part.high - part.low);
      this.#restoreRecord(record);
    };
    const options = { log: this.#log, topic, partition, low, writer, releaseMs: RELEASE_MS };
    await claim(options, restore, this.#given.signal);
    this.#checkOpen();
    this.restored = 1;
    if (this.#fold.logic.store.size > 0 && this.positions.size === 0)
      throw new Refused(
        `${topic}/${this.partition} has states but no position, so another program wrote it. Delete the topic to read again from the beginning, or restore it completely`,
      );
  }

  async #boundsOf(topic: string): Promise<Bounds> {
    const bounds = await this.#log.bounds(topic);
    const count = this.#deps.partitions(topic);
    const own = bounds[this.partition];
    if (own !== undefined && bounds.length === count) return own;
    throw new Refused(
      `${topic} has ${bounds.length} partitions and had ${count} at the start of ${this.#processor.processor}: ${RENUMBERED}`,
    );
  }

  #restoreRecord({ key, value }: LogRecord): void {
    this.progress += 1;
    if (key === null || key.startsWith(OWNER_KEY)) return;
    if (key === RULES_KEY) this.#ruleSwitch.restore(value);
    else if (!key.startsWith(POSITION_KEY)) this.#fold.logic.store.restore(key, value);
    if (value === null || !key.startsWith(POSITION_KEY)) return;
    const { next, clock, partitions, deadLetters } = JSON.parse(value.toString()) as StoredPosition;
    const topic = snapshotTopic(this.#processor.processor);
    const count = this.#deps.partitions(topic);
    if (partitions !== undefined && partitions !== count)
      throw new Refused(
        `${topic}/${this.partition} was written under ${partitions} partitions, and now there are ${count}: ${RENUMBERED}`,
      );
    this.positions.set(key.slice(POSITION_KEY.length), next);
    this.#fold.clock = restored(clock);
    this.#fold.deadLetters = deadLetters ?? NO_DEAD_LETTERS;
  }

  /**
   * Every position must be within its topic: a deleted record cannot be read, and an offset after the end belongs to
   * another log.
   */
  async #placePositions(): Promise<void> {
    for (const topic of this.#processor.reads) {
      const { low, high } = await this.#boundsOf(topic);
      const at = this.positions.get(topic) ?? low;
      if (at < low || at > high)
        throw new Refused(
          `${this.#processor.processor}: the position ${at} of ${topic}/${this.partition} is outside [${low}, ${high}]. ` +
            `${at < low ? 'Records were deleted before they were read' : 'The topic was truncated or created again'}: move the position with \`vigil topics reset\``,
        );
      this.positions.set(topic, at);
      this.ends.set(topic, high);
    }
  }

  async #takeAll(): Promise<void> {
    const taken = this.#taken.splice(0);
    if (taken.length === 0) return;
    try {
      await this.#process(taken);
    } catch (error) {
      for (const { done } of taken) done.reject(error);
    }
  }

  async #process(taken: readonly Taken[]): Promise<void> {
    if (this.phase !== 'running') throw new Retry('the task is lost');
    const marks: OutRecord[] = [];
    const folded: FoldedBatch[] = [];
    const at = new Map(this.positions);
    const finish = () => this.#finish(marks.splice(0), folded.splice(0));
    for (const { batch } of taken) {
      checkPosition(batch, at.get(batch.topic) as number);
      this.ends.set(batch.topic, batch.end);
      let isLast = batch.next <= (at.get(batch.topic) as number);
      while (!isLast) {
        // A successor waits for this task, and not for the rest of a long tick.
        if (this.phase !== 'running') throw new Retry('the task is lost');
        if (folded.length === 0 && !this.#fold.isUnfinished) marks.push(...this.#switchRules());
        const part = await this.#foldBatch(batch, at.get(batch.topic) as number);
        folded.push(part);
        at.set(part.topic, part.next);
        isLast = part.isLast;
        if (!isLast) await finish();
      }
    }
    if (folded.length > 0) await finish();
    for (const { batch, done } of taken) {
      const trouble = this.#waiting.get(batch.topic);
      if (trouble === undefined) done.resolve();
      else done.reject(trouble);
    }
  }

  #switchRules(): readonly OutRecord[] {
    const at = { partition: this.partition, positions: this.positions, now: this.clock.now };
    return this.#ruleSwitch.switchRules(this.#fold, at);
  }

  async #foldBatch(batch: Batch, position: number): Promise<FoldedBatch> {
    const begun = performance.now();
    const unread = batch.records.filter(({ offset }) => offset >= position);
    const { outs, stop } = await foldAll(this.#fold, this.#deps.codec, unread);
    const attributes = { ...attributesOf(batch), 'messaging.batch.message_count': unread.length };
    const spans = continueTraces({ name: `${this.#processor.processor} process`, attributes, begun }, outs);
    const trouble = stop?.trouble ?? null;
    return {
      topic: batch.topic,
      next: stop?.at ?? batch.next,
      isLast: stop === null || trouble !== null,
      trouble,
      spans,
    };
  }

  /** One transaction for all batches. */
  async #finish(marks: readonly OutRecord[], folded: readonly FoldedBatch[]): Promise<void> {
    const next = new Map(folded.map((each) => [each.topic, each.next]));
    try {
      await this.#write([...marks, ...folded.flatMap(({ spans }) => spans.outs)], next);
      for (const { spans } of folded) spans.end();
    } catch (error) {
      for (const { spans } of folded) spans.end({ error });
      throw error;
    }
    for (const { topic, trouble } of folded) {
      this.positions.set(topic, next.get(topic) as number);
      if (trouble === null) this.#waiting.delete(topic);
      else this.#waiting.set(topic, trouble);
    }
    this.progress += 1;
    const { exceeded } = this.#fold.limits;
    if (exceeded === null) return;
    const last = folded.at(-1) as FoldedBatch;
    throw new Fatal(
      `${this.#processor.processor}: ${exceeded}; the last is of ${last.topic}/${this.partition}/${last.next - 1}`,
    );
  }

  /** Without outputs and changes the positions wait for a later transaction. A crash before it repeats only reading. */
  async #write(outs: readonly OutRecord[], moved: ReadonlyMap<string, number>): Promise<void> {
    for (const topic of moved.keys()) this.#unwritten.add(topic);
    const changes = this.#changes();
    if (outs.length + changes.length === 0) return;
    const next = (topic: string) => moved.get(topic) ?? (this.positions.get(topic) as number);
    await this.#commit([...outs, ...changes, ...this.#unwrittenPositions(next)]);
  }

  async #commit(records: readonly OutRecord[]): Promise<void> {
    await (this.#writer as SharedWriter).commit(records);
    this.#unwritten.clear();
    if (this.#decided.length > 0) this.#deps.onCommitted?.(this.#decided.splice(0));
  }

  get #snapshot(): { readonly topic: string; readonly partition: number } {
    return { topic: snapshotTopic(this.#processor.processor), partition: this.partition };
  }

  /** The changed states, and the basis of their deadlines if it has changed. */
  #changes(): readonly OutRecord[] {
    const rules = this.#ruleSwitch.toWrite(this.#fold);
    return [
      ...this.#fold.logic.store.changes().map(([key, value]) => ({ ...this.#snapshot, key, value })),
      ...(rules === undefined ? [] : [{ ...this.#snapshot, key: RULES_KEY, value: rules }]),
    ];
  }

  #unwrittenPositions(nextOf: (topic: string) => number): readonly OutRecord[] {
    const { deadLetters } = this.#fold;
    const counted = deadLetters === NO_DEAD_LETTERS ? {} : { deadLetters };
    const partitions = this.#deps.partitions(this.#snapshot.topic);
    return [...this.#unwritten].map((topic) => {
      const stored: StoredPosition = { next: nextOf(topic), clock: this.clock, partitions, ...counted };
      return { ...this.#snapshot, key: `${POSITION_KEY}${topic}`, value: Buffer.from(JSON.stringify(stored)) };
    });
  }

  #checkOpen(): void {
    if (this.phase === 'lost') throw new Retry('the task was lost while it opened');
  }
}
