import type { WorkItem } from '@vigil/events';
import { z } from 'zod';
import { type Logger, pause } from '../clock.ts';
import { type ConfiguredCommand, runCommand } from '../process/command-runner.ts';

const time = z
  .union([z.int().min(0).max(8.64e15), z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))])
  .nullable()
  .default(null)
  .catch(null);
const count = z
  .union([z.int().min(0), z.array(z.unknown()).transform(({ length }) => length)])
  .nullable()
  .default(null)
  .catch(null);

/** The output of `br list --json` and `bd list --json`. A value that is not a number is unknown; an entry without an id is not a work item. */
const item = z
  .object({
    id: z.string().min(1).max(512),
    status: z.string().max(4096).nullable().default(null).catch(null),
    updated_at: time,
    claim_refreshed_at: time,
    comment_count: count,
    comments: count,
  })
  .transform(({ comments, ...one }): WorkItem => ({ ...one, comment_count: one.comment_count ?? comments }));
const list = z.array(z.unknown());
const printed = z.union([list, z.object({ issues: list }).transform(({ issues }) => issues)]);

export type WorkItems = ReadonlyMap<string, WorkItem>;
const none: WorkItems = new Map();

/** What a tracker has printed, by id. Of several by one id the newest; anything but a list has no items. */
export const workItemsIn = (text: string): WorkItems => {
  try {
    const items = printed.parse(JSON.parse(text)).flatMap((one) => item.safeParse(one).data ?? []);
    return new Map(items.sort((a, b) => (a.updated_at ?? 0) - (b.updated_at ?? 0)).map((one) => [one.id, one]));
  } catch {
    return none;
  }
};

/** Of two reports the newer; of two of one time the one that comes last by id. */
export const newerWork = (one: WorkItem | null, other: WorkItem | null): WorkItem | null => {
  if (one === null || other === null) return one ?? other;
  const [at, otherAt] = [one.updated_at ?? 0, other.updated_at ?? 0];
  if (at === otherAt) return other.id >= one.id ? other : one;
  return otherAt > at ? other : one;
};

export type WorkSourceSettings = {
  readonly command: ConfiguredCommand;
  readonly cwd: string;
  readonly everyMs: number;
  readonly env: Readonly<Record<string, string>>;
};

/** Asks the host's tracker once an interval, for all agents of the host. */
export class WorkSource {
  readonly #settings: WorkSourceSettings;
  readonly #logger: Logger;
  #items = none;
  #isAsked = false;
  readonly #waiting = new Map<string, () => void>();

  constructor(settings: WorkSourceSettings, logger: Logger) {
    this.#settings = settings;
    this.#logger = logger;
  }

  /** Null: the tracker has failed, or does not have it. */
  of = (taskId: string | null): WorkItem | null => (taskId === null ? null : (this.#items.get(taskId) ?? null));

  /** Not before the tracker has answered, or failed, for the first time. Of what waits by one name only the first is done. */
  onceAsked(name: string, act: () => void): void {
    if (this.#isAsked) act();
    else if (!this.#waiting.has(name)) this.#waiting.set(name, act);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { everyMs } = this.#settings;
    while (!signal.aborted) {
      await this.#ask();
      await pause(everyMs, signal);
    }
  }

  async #ask(): Promise<void> {
    const { command, cwd, env, everyMs } = this.#settings;
    const text = await runCommand(command, { cwd, env, user: null, withinMs: everyMs }, this.#logger);
    this.#items = text === null ? none : workItemsIn(text);
    this.#isAsked = true;
    for (const act of this.#waiting.values()) act();
    this.#waiting.clear();
  }
}
