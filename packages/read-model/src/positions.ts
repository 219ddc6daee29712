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
