import { setImmediate as nextTurn } from 'node:timers/promises';
import { Retry } from '../errors.ts';
import type { Log, OutRecord, Transactor } from '../log/log.ts';
import { within } from '../runner/within.ts';

/** Above the client's own retries, below the session timeout of the waiting consumer. Milliseconds. */
const COMMIT_MS = 20_000;
/** The records that commits share in one transaction; a single commit may have more. */
const MOST_TOGETHER = 20_000;

type Waiting = { readonly records: readonly OutRecord[]; readonly done: PromiseWithResolvers<void> };

/**
 * `id`: the transactional id, which no other writer has. `former`: the ids of failed writers of the same process, which
 * give nothing up. `onCommitted` gets the duration of a transaction, milliseconds.
 */
export type SharedWriterOptions = {
  readonly log: Pick<Log, 'fence'>;
  readonly id: string;
  readonly former: ReadonlySet<string>;
  readonly onCommitted: (ms: number) => void;
};

/**
 * The transactions of one instance of a processor. The commits that wait at the same time share a transaction, because
 * its cost hardly depends on its size. After a commit that failed, every later one throws Retry: the instance needs a
 * new writer, with a new id.
 */
export class SharedWriter {
  readonly id: string;
  readonly former: ReadonlySet<string>;
  readonly #log: Pick<Log, 'fence'>;
  readonly #onCommitted: (ms: number) => void;
  readonly #waiting: Waiting[] = [];
  readonly #fences = new Map<string, Promise<void>>();
  #transactor: Promise<Transactor> | undefined;
  #isCommitting = false;
  #failure: unknown;

  constructor({ log, id, former, onCommitted }: SharedWriterOptions) {
    this.#log = log;
    this.id = id;
    this.former = former;
    this.#onCommitted = onCommitted;
  }

  /** Whether no commit has failed. */
  get works(): boolean {
    return this.#failure === undefined;
  }

  /** All records become visible together, or none. Throws Retry if the writer was fenced, or an earlier commit failed. */
  commit(records: readonly OutRecord[]): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#waiting.push({ records, done });
    void this.#commitAll();
    return done.promise;
  }

  /** Ends another writer, once for all partitions of this one. Its transactions are visible or aborted afterwards. */
  fence(id: string): Promise<void> {
    const known = this.#fences.get(id);
    if (known !== undefined) return known;
    const fence = this.#log.fence(id).then((transactor) => transactor.close());
    this.#fences.set(id, fence);
    fence.catch(() => this.#fences.delete(id));
    return fence;
  }

  async close(): Promise<void> {
    await this.#transactor?.then((transactor) => transactor.close()).catch(() => {});
  }

  /** Partitions whose batches came with the same fetch fold in one turn of the event loop, and so commit together. */
  async #commitAll(): Promise<void> {
    if (this.#isCommitting) return;
    this.#isCommitting = true;
    for (await nextTurn(); this.#waiting.length > 0; await nextTurn()) await this.#commitOnce(this.#nextTogether());
    this.#isCommitting = false;
  }

  /** Removes and returns the first commits that fit one transaction. */
  #nextTogether(): readonly Waiting[] {
    let records = 0;
    const over = this.#waiting.findIndex((one, index) => {
      records += one.records.length;
      return index > 0 && records > MOST_TOGETHER;
    });
    return this.#waiting.splice(0, over === -1 ? this.#waiting.length : over);
  }

  async #commitOnce(together: readonly Waiting[]): Promise<void> {
    try {
      if (this.#failure !== undefined)
        throw new Retry(`${this.id}: an earlier commit failed: ${String(this.#failure)}`, { cause: this.#failure });
      this.#transactor ??= this.#log.fence(this.id);
      const transactor = await this.#transactor;
      const begun = performance.now();
      const records = together.flatMap((each) => each.records);
      await within(COMMIT_MS, transactor.commit(records), `${this.id}: the transaction`);
      this.#onCommitted(performance.now() - begun);
      for (const { done } of together) done.resolve();
    } catch (error) {
      this.#failure ??= error;
      for (const { done } of together) done.reject(error);
    }
  }
}
