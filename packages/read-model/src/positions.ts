import type { Sql } from './apply.ts';
import { OtherCluster } from './database.ts';

/** A position in a partition: `offset` is the next offset to read. */
export type Position = { readonly topic: string; readonly partition: number; readonly offset: number };

/** Stores the cluster from which the rows are built. Throws OtherCluster if another one is stored. */
export const claimCluster = async (sql: Sql, clusterId: string): Promise<void> => {
  await sql.query('INSERT INTO cluster (cluster_id) VALUES ($1) ON CONFLICT DO NOTHING', [clusterId]);
  const { rows } = await sql.query('SELECT cluster_id FROM cluster');
  const remembered = String(rows[0]?.cluster_id);
  if (remembered !== clusterId) throw new OtherCluster(remembered, clusterId);
};

export const positions = async (sql: Sql): Promise<readonly Position[]> => {
  const { rows } = await sql.query(
    'SELECT topic, partition, next_offset AS "offset" FROM positions ORDER BY topic, partition',
  );
  return rows as Position[];
};

/** `upTo`: the time of the last record of this partition whose rows are written, epoch milliseconds. */
export const saveProjected = async (sql: Sql, partition: number, upTo: number): Promise<void> => {
  await sql.query(
    `INSERT INTO projected (partition, up_to) VALUES ($1, $2)
     ON CONFLICT (partition) DO UPDATE SET up_to = EXCLUDED.up_to WHERE projected.up_to < EXCLUDED.up_to`,
    [partition, upTo],
  );
};

/** The time up to which the rows of all partitions are complete, epoch milliseconds; null: nothing is projected yet. */
export const projectedUpTo = async (sql: Sql): Promise<number | null> => {
  const { rows } = await sql.query('SELECT min(up_to) AS "upTo" FROM projected');
  return (rows[0]?.upTo as number | null | undefined) ?? null;
};

/**
 * Moves a position from the offset that the writer expects, within the transaction of the rows. Returns false if
 * another writer has moved it; then no row may be written.
 */
export const savePosition = async (
  sql: Sql,
  { topic, partition, from, next }: { topic: string; partition: number; from: number; next: number },
): Promise<boolean> => {
  const { rows } = await sql.query(
    `INSERT INTO positions (topic, partition, next_offset) VALUES ($1, $2, $3)
     ON CONFLICT (topic, partition) DO UPDATE SET next_offset = EXCLUDED.next_offset WHERE positions.next_offset = $4
     RETURNING topic`,
    [topic, partition, next, from],
  );
  return rows.length === 1;
};
