import {
  apply,
  claimCluster,
  createDays,
  type Database,
  isAway,
  isDataError,
  keptRows,
  notify,
  positions,
  prepareDays,
  type Statement,
  savePosition,
} from '@vigil/read-model';
import { DeadLetter, type ProjectionBatch, type ProjectionOptions, Retry } from '@vigil/stream';
import { compactions } from './compactions.ts';
import { type ProjectedTopic, project } from './project.ts';

type Sink = Pick<ProjectionOptions<ProjectedTopic>, 'open' | 'apply'>;

/** The read model as the sink of a projection: it writes the rows of events, and their positions. */
export const rowsIn = (database: Database): Sink => {
  const days = createDays();
  return {
    open: async (clusterId) => {
      const at = await unlessAway(async () => {
        await claimCluster(database, clusterId);
        return positions(database);
      });
      return new Map(at.map(({ topic, partition, offset }) => [`${topic}/${partition}`, offset]));
    },
    apply: (batch) => unlessAway(() => write(database, (statements) => prepareDays(database, days, statements), batch)),
  };
};

/** Throws Retry where Postgres is away. */
const unlessAway = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!isAway(error)) throw error;
    throw new Retry(`Postgres is away: ${(error as Error).message}`, { cause: error });
  }
};

/**
 * Writes events and the position after them in one transaction. Throws Retry if another projector has moved the
 * position, DeadLetter if Postgres rejects the values.
 */
const write = async (
  database: Database,
  prepare: (statements: readonly Statement[]) => Promise<void>,
  batch: ProjectionBatch<ProjectedTopic>,
): Promise<void> => {
  const { topic, partition, from, next, events } = batch;
  const statements = events.flatMap(project);
  try {
    await prepare(statements);
    await database.transaction(async (sql) => {
      const moved = await savePosition(sql, { topic, partition, from, next });
      if (!moved)
        throw new Retry(`the position of ${topic}/${partition} is not ${from}: another projector has moved it`);
      const kept = await keptRows(sql, [...statements, ...(await compactions(sql, events))]);
      await apply(sql, kept);
      await notify(sql, kept);
    });
  } catch (error) {
    if (!isDataError(error)) throw error;
    throw new DeadLetter('unwritable', (error as Error).message, { cause: error });
  }
};
