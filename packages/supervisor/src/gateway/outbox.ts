import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { backOff, delayAfter, type Logger, pause } from '../clock.ts';
import { GatewayForbids, GatewayRefused } from '../errors.ts';
import type { Report } from '../orders/order.ts';
import { isAlive, type Pid } from '../process/proc.ts';
import type { Gateway } from './gateway-client.ts';

/** Where the reports for the gateway at this address wait: one for another gateway waits for a supervisor that uses that one. */
export const outboxFolder = (dir: string, url: string): string => {
  const origin = URL.canParse(url) ? new URL(url).origin : url;
  return join(dir, 'outbox', origin.replace(/[^A-Za-z0-9.-]+/g, '_'));
};

/** `isSaved`: on the disk. `timesForbidden`: how often the gateway has refused the token for it. */
type QueuedReport = { readonly path: string; readonly report: Report; isSaved: boolean; timesForbidden: number };

const nameOf = ({ pid, startTime }: Pid, number: number): string =>
  `${pid}-${startTime ?? 'x'}-${String(number).padStart(8, '0')}.json`;

const writerOf = (name: string): Pid => {
  const [pid, startTime] = name.split('-');
  return { pid: Number(pid), startTime: startTime === 'x' ? null : (startTime ?? null) };
};

/** Reports on their way to the gateway, one file each: none is lost with the supervisor or while the gateway is away. */
export class Outbox {
  readonly #folder: string;
  readonly #self: Pid;
  readonly #gateway: Gateway;
  readonly #logger: Logger;
  readonly #onSent: (report: Report) => void;
  readonly #closed = new AbortController();
  #queue: QueuedReport[] = [];
  /** the reports that the token does not allow, until their next try */
  readonly #forbidden = new Set<QueuedReport>();
  /** the reports of an earlier supervisor that cannot be sent, as far as they are logged */
  readonly #logged = new Set<string>();
  #written = 0;
  #sending: Promise<void> | null = null;

  /** `onSent`: the gateway has the report, or will never accept it. */
  constructor(folder: string, self: Pid, gateway: Gateway, logger: Logger, onSent: (report: Report) => void) {
    this.#onSent = onSent;
    this.#folder = folder;
    this.#self = self;
    this.#gateway = gateway;
    this.#logger = logger;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    void this.#adoptAll();
  }

  /** Tries again while a report of an earlier supervisor cannot be read, or the folder cannot be listed. */
  async #adoptAll(): Promise<void> {
    for (let failures = 1; !this.#adopt(); failures++) {
      await pause(backOff(failures), this.#closed.signal);
      if (this.#closed.signal.aborted) return;
    }
  }

  /** false: something is left that can be sent later */
  #adopt(): boolean {
    try {
      const left = readdirSync(this.#folder).filter((name) => name.endsWith('.json') && !isAlive(writerOf(name)));
      const before = this.#queue.length;
      const isTaken = left.sort().map((name) => this.#adoptOne(name));
      if (this.#queue.length > before) this.#send();
      return isTaken.every(Boolean);
    } catch (error) {
      this.#logOnce('letters', String(error));
      return false;
    }
  }

  /** Renaming succeeds once, so of two supervisors that find a report only one sends it. It keeps its name until it is read. */
  #adoptOne(name: string): boolean {
    try {
      const report = JSON.parse(readFileSync(join(this.#folder, name), 'utf8')) as Report;
      const path = this.#newPath();
      renameSync(join(this.#folder, name), path);
      this.#queue.push({ path, report, isSaved: true, timesForbidden: 0 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
      this.#logOnce(name, String(error));
      return error instanceof SyntaxError;
    }
  }

  #logOnce(name: string, error: string): void {
    if (!this.#logged.has(name))
      this.#logger('a report that an earlier supervisor left cannot be sent', { name, error });
    this.#logged.add(name);
  }

  #newPath(): string {
    this.#written += 1;
    return join(this.#folder, nameOf(this.#self, this.#written));
  }

  /** on the disk when it returns, or in memory while the disk does not take it; sent until the gateway has it, by this supervisor or the next */
  put(report: Report): void {
    if (this.#unsent().some((queued) => isDeepStrictEqual(queued.report, report))) return;
    const queued = { path: this.#newPath(), report, isSaved: false, timesForbidden: 0 };
    this.#queue.push(queued);
    const why = this.#save(queued);
    if (why !== null) this.#logger('a report is not on the disk yet', { type: report.type, error: why });
    this.#send();
  }

  #unsent(): readonly QueuedReport[] {
    return [...this.#queue, ...this.#forbidden];
  }

  /** Why the disk does not take it; null: it is saved. */
  #save(queued: QueuedReport): string | null {
    if (queued.isSaved) return null;
    try {
      writeFileSync(`${queued.path}.new`, JSON.stringify(queued.report), { flush: true });
      renameSync(`${queued.path}.new`, queued.path);
      queued.isSaved = true;
      return null;
    } catch (error) {
      return String(error);
    }
  }

  #send(): void {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
      if (this.#queue.length > 0 && !this.#closed.signal.aborted) this.#send();
    });
  }

  async #sendAll(): Promise<void> {
    let failures = 0;
    while (!this.#closed.signal.aborted) {
      const queued = this.#queue[0];
      if (!queued) return;
      const error = await this.#sendOne(queued, failures === 0);
      failures = error === null ? 0 : failures + 1;
      for (const unsent of this.#unsent()) this.#save(unsent);
      if (error !== null) await pause(delayAfter(error, failures), this.#closed.signal);
    }
  }

  /** null: the next report can be sent */
  async #sendOne(queued: QueuedReport, isFirstTry: boolean): Promise<unknown> {
    try {
      await this.#gateway.report([queued.report]);
      rmSync(queued.path, { force: true });
    } catch (error) {
      if (!(error instanceof GatewayRefused)) {
        if (isFirstTry && queued.timesForbidden === 0)
          this.#logger('a report waits for the gateway', { type: queued.report.type, error: String(error) });
        if (!(error instanceof GatewayForbids)) return error;
        void this.#tryLater(queued);
        return null;
      }
      this.#logger('the gateway refused a report; it is kept beside the others', {
        path: `${queued.path}.refused`,
        error: String(error),
      });
      this.#putAside(queued);
    }
    this.#queue = this.#queue.filter((other) => other !== queued);
    this.#onSent(queued.report);
    return null;
  }

  #putAside(queued: QueuedReport): void {
    if (this.#save(queued) !== null) return;
    try {
      renameSync(queued.path, `${queued.path}.refused`);
    } catch (error) {
      this.#logger('a refused report is not kept', { path: queued.path, error: String(error) });
    }
  }

  /** The report may be of another runtime, and the token may be corrected later. No other report waits for that. */
  async #tryLater(queued: QueuedReport): Promise<void> {
    this.#queue = this.#queue.filter((other) => other !== queued);
    this.#forbidden.add(queued);
    queued.timesForbidden += 1;
    await pause(backOff(queued.timesForbidden), this.#closed.signal);
    if (this.#closed.signal.aborted) return;
    this.#forbidden.delete(queued);
    this.#queue.push(queued);
    this.#send();
  }

  /** false: a report is still unsent after this time */
  async settled(withinMs: number): Promise<boolean> {
    const enough = AbortSignal.timeout(withinMs);
    while (this.#unsent().length > 0 && !enough.aborted) await pause(25, enough);
    return this.#unsent().length === 0;
  }

  close(): void {
    this.#closed.abort();
  }
}
