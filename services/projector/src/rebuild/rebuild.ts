import {
  copyFirstDay,
  dropSchema,
  migrate,
  openDatabase,
  positions,
  REBUILT,
  switchSchemas,
  urlOfSchema,
} from '@vigil/read-model';
import { type Log, type Logger, runProjection, within } from '@vigil/stream';
import { tidy } from '../history.ts';
import { reads } from '../project.ts';
import { storeProjected } from '../projected.ts';
import { rowsIn } from '../rows.ts';

type RebuildDeps = {
  readonly logger: Logger;
  readonly historyDays: number;
  /** reports how many of the partitions are complete */
  readonly onProgress: (complete: number, all: number) => void;
  readonly wait: () => Promise<void>;
};

/** How long a rebuild may take to store the last rows and switch, milliseconds. */
const SWITCH_MS = 60_000;

/**
 * Builds the rows again from the topics, in a schema beside the present one, while the projector and readers use the
 * present one. When they are as complete, the schemas are switched in one transaction. A rebuild that was interrupted
 * begins again, and changes nothing before the switch.
 */
export const rebuild = async (log: Log, databaseUrl: string, deps: RebuildDeps): Promise<void> => {
  const { logger, historyDays, onProgress, wait } = deps;
  const onTrouble = (err: Error) => logger.warn({ err }, 'a connection to Postgres broke');
  await using present = await openDatabase(databaseUrl, onTrouble, 0);
  await dropSchema(present, REBUILT);
  const rebuiltUrl = urlOfSchema(databaseUrl, REBUILT);
  await migrate(rebuiltUrl, () => {}, REBUILT);
  await copyFirstDay(present, REBUILT);
  await using rebuilt = await openDatabase(rebuiltUrl, onTrouble, 0);
  {
    using projected = storeProjected(rebuilt, logger);
    const service = { group: 'projector-rebuild', service: 'projector', reads, logger, count: () => {} };
    await using projection = await runProjection(log, { ...service, onTime: projected.onTime, ...rowsIn(rebuilt) });
    const wanted = await positions(present);
    const isOver = async (): Promise<boolean> => {
      const found = new Map((await positions(rebuilt)).map((at) => [`${at.topic}/${at.partition}`, at.offset]));
      const complete = wanted.filter((at) => (found.get(`${at.topic}/${at.partition}`) ?? 0) >= at.offset);
      onProgress(complete.length, wanted.length);
      return complete.length === wanted.length;
    };
    while (!(await isOver())) await Promise.race([wait(), projection.finished]);
    await projected.save();
  }
  await within(SWITCH_MS, tidy(rebuilt, historyDays), 'dropping the old days of the rebuilt rows');
  await switchSchemas(present);
};
