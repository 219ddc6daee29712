import type { Away, Knowledge, ReadModel, Sql } from '@vigil/read-model';
import { within } from '@vigil/stream';
import { ReadModelAway } from '../problem.ts';
import {
  beginning,
  hasToConnect,
  type Instant,
  knowledgeOf,
  type LookOut,
  POSTGRES,
  probed,
  projected,
} from './knowledge.ts';

export const PARTS_EVERY_MS = 1000;
/** As often as the projector stores its time. The sum of all limits is in knowledge.ts. */
export const ROWS_EVERY_MS = 250;
export const ANSWER_MS = 2000;

/** Resolves if the part is well; rejects with what is wrong. */
export type Probe = () => Promise<void>;

/** How often a query that waits looks whether Postgres is away, milliseconds. */
const WAITING_MS = 100;

/**
 * Queries of callers. While Postgres is away they fail at once, also those that wait for it, so that the answer names it
 * before a caller gives up.
 */
export const failingWhileAway = (sql: Sql, away: () => readonly Away[]): Sql => {
  const absence = (): ReadModelAway | null => {
    const gone = away().find(({ part }) => part === POSTGRES);
    return gone === undefined ? null : new ReadModelAway(gone.since, gone.detail);
  };
  return {
    query: async (text, values) => {
      const known = absence();
      if (known !== null) throw known;
      let timer: NodeJS.Timeout | undefined;
      const lost = new Promise<never>((_, reject) => {
        timer = setInterval(() => {
          const found = absence();
          if (found !== null) reject(found);
        }, WAITING_MS);
      });
      return await Promise.race([sql.query(text, values), lost]).finally(() => clearInterval(timer));
    },
  };
};

export type LookOutDeps = {
  readonly model: Pick<ReadModel, 'projectedUpTo'>;
  /** opens a new connection to Postgres, and closes it */
  readonly connect: Probe;
  /** of each part of Vigil but Postgres, by its name; an answer counts for two seconds */
  readonly probes: ReadonlyMap<string, Probe>;
  readonly instant: () => Instant;
  readonly signal: AbortSignal;
};

/** Looks how old the read model is, and which parts answer, until the signal is aborted. */
export const lookOut = ({ model, connect, probes, instant, signal }: LookOutDeps): (() => Knowledge) => {
  let seen: LookOut = beginning(instant());
  const busy = new Set<string>();
  /** One question to a part at a time: the next one waits for its answer, also for a late one, so that none pile up. */
  const look = async (part: string, ask: Probe): Promise<void> => {
    if (busy.has(part)) return;
    busy.add(part);
    const asked = ask();
    const settled = (): void => void busy.delete(part);
    asked.then(settled, settled);
    const detail = await within(ANSWER_MS, asked, part).then(
      () => null,
      (error: unknown) => (error as Error).message,
    );
    seen = probed(seen, part, detail, instant());
  };
  const readModelAge = async (): Promise<void> => {
    const upTo = await model.projectedUpTo();
    seen = projected(seen, upTo, instant());
  };
  const postgres = async (): Promise<void> => {
    const connected = hasToConnect(seen, instant()) ? connect() : Promise.resolve();
    await Promise.all([readModelAge(), connected]);
  };
  const rows = (): void => void look(POSTGRES, postgres);
  const parts = (): void => {
    for (const [part, ask] of probes) void look(part, ask);
  };
  rows();
  parts();
  const timers = [setInterval(rows, ROWS_EVERY_MS), setInterval(parts, PARTS_EVERY_MS)];
  signal.addEventListener('abort', () => timers.forEach(clearInterval), { once: true });
  return () => knowledgeOf(seen, instant());
};
