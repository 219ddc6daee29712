import { StepLog, type StepMark } from '../adapters/hive-step-log.ts';
import type { Logger } from '../clock.ts';
import type { ReportedFields } from '../messages/agent-report.ts';

/** Reads the step log of an agent that has one, until it is closed. */
export class StepReader {
  readonly #path: string | null;
  readonly #logger: Logger;
  #log: StepLog | null;
  /** why the log could not be read the last time; null: it could */
  #unread: string | null = null;

  /** `mark`: how far another supervisor has read; null: none has */
  constructor(path: string | null, mark: StepMark | null, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
    this.#log = path === null ? null : new StepLog(path, mark);
  }

  get mark(): StepMark | null {
    return this.#log?.mark ?? null;
  }

  /** The steps since the last call; null: there are none. A log that cannot be read now may be readable later. */
  read(): ReportedFields['steps'] | null {
    try {
      const steps = this.#log?.read() ?? null;
      this.#unread = null;
      return steps;
    } catch (error) {
      const why = String(error);
      if (why !== this.#unread) this.#logger('the step log cannot be read', { path: this.#path, error: why });
      this.#unread = why;
      return null;
    }
  }

  close(): void {
    this.#log?.close();
    this.#log = null;
  }
}
