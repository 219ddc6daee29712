import {
  claimCluster,
  copyFirstDay,
  type Database,
  dropSchema,
  hasTables,
  migrate,
  openDatabase,
  type Position,
  positions,
  REBUILT,
  switchSchemas,
  urlOfSchema,
} from '@vigil/read-model';
import { type Log, type Logger, runProjection, within } from '@vigil/stream';
import { tidy } from './history.ts';
import { reads } from './project.ts';
import { storeProjected } from './projected.ts';
import { rowsIn } from './rows.ts';

/** How far a rebuild is. A partition is complete when it is as far as the rows in use were at the beginning. */
export type Progress = { readonly complete: number; readonly partitions: number };

type RebuildDeps = {
  readonly logger: Logger;
  readonly historyDays: number;
  readonly onProgress: (progress: Progress) => void;
  /** waits until the positions are compared again; if it throws, the rebuild ends and changes nothing */
  readonly wait: () => Promise<void>;
};

/** How long a rebuild may take to store the last rows and switch, milliseconds. */
const SWITCH_MS = 60_000;

/** The database has no rows to rebuild. Correct DATABASE_URL, or start Vigil, which creates the tables. */
export class NoReadModel extends Error {
  override readonly name = 'NoReadModel';
}

/** The log ends before the rows, as a copy from an earlier time does. Rows from it would never be as complete. */
export class OlderLog extends Error {
  override readonly name = 'OlderLog';
}

type Source = Pick<Log, 'clusterId' | 'stableEnds'>;

/** Throws OlderLog where the rows have more of a partition than the log. */
const checkEnds = async (log: Source, stored: readonly Position[]): Promise<void> => {
  for (const [topic, of] of Map.groupBy(stored, (at) => at.topic)) {
    const ends = await log.stableEnds(topic);
    const ahead = of.find(({ partition, offset }) => offset > (ends[partition] ?? 0));
    if (ahead !== undefined)
      throw new OlderLog(
        `the rows have ${topic}/${ahead.partition} up to offset ${ahead.offset}, and this log ends at ${ends[ahead.partition] ?? 0}: give the log that the projector reads, not a copy from before`,
      );
  }
};

/** Throws NoReadModel, OtherCluster if the rows were built from another one, or OlderLog. */
const checkSource = async (log: Source, present: Database): Promise<void> => {
  if (!(await hasTables(present)))
    throw new NoReadModel(
      'the database of DATABASE_URL has no read model: correct DATABASE_URL, or start Vigil, which creates its tables',
    );
  await claimCluster(present, await log.clusterId());
  await checkEnds(log, await positions(present));
};

/** Compares the log with the rows, and changes neither. Returns how many partitions a rebuild reads. */
export const planRebuild = async (log: Source, databaseUrl: string): Promise<Pick<Progress, 'partitions'>> => {
  await using present = await openDatabase(databaseUrl, () => {}, 0);
  await checkSource(log, present);
  return { partitions: (await positions(present)).length };
};

const progressOf = (wanted: readonly Position[], reached: readonly Position[]): Progress => {
  const found = new Map(reached.map((at) => [`${at.topic}/${at.partition}`, at.offset]));
  const complete = wanted.filter((at) => (found.get(`${at.topic}/${at.partition}`) ?? 0) >= at.offset);
  return { complete: complete.length, partitions: wanted.length };
};

/**
 * Builds the rows again from the topics, in a schema beside the present one, while the projector and readers use the
 * present one. When they are as complete, the schemas are switched in one transaction. A rebuild that was interrupted
 * begins again, and changes nothing before the switch. Throws DatabaseUnreachable, NoReadModel, OtherCluster,
 * OlderLog, and what the log throws.
 */
export const rebuild = async (log: Log, databaseUrl: string, deps: RebuildDeps): Promise<Progress> => {
  const { logger, historyDays, onProgress, wait } = deps;
  const onTrouble = (err: Error) => logger.warn({ err }, 'a connection to Postgres broke');
  await using present = await openDatabase(databaseUrl, onTrouble, 0);
  await checkSource(log, present);
  await dropSchema(present, REBUILT);
  const rebuiltUrl = urlOfSchema(databaseUrl, REBUILT);
  await migrate(rebuiltUrl, () => {}, REBUILT);
  await copyFirstDay(present, REBUILT);
  await using rebuilt = await openDatabase(rebuiltUrl, onTrouble, 0);
  const wanted = await positions(present);
  {
    using projected = storeProjected(rebuilt, logger);
    const service = { group: 'projector-rebuild', service: 'projector', reads, logger, count: () => {} };
    await using projection = await runProjection(log, { ...service, onTime: projected.onTime, ...rowsIn(rebuilt) });
    for (;;) {
      const progress = progressOf(wanted, await positions(rebuilt));
      onProgress(progress);
      if (progress.complete === progress.partitions) break;
      await Promise.race([wait(), projection.finished]);
    }
    await projected.save();
  }
  await within(SWITCH_MS, tidy(rebuilt, historyDays, null), 'dropping the old days of the rebuilt rows');
  await switchSchemas(present);
  return { complete: wanted.length, partitions: wanted.length };
};
