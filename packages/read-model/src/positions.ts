import type { Sql } from './apply.ts';
import { OtherCluster } from './errors.ts';

/** Where to go on reading a partition: `offset` is the next one. */
export type Position = { readonly topic: string; readonly partition: number; readonly offset: number };

/** Remembers the cluster that the rows are built from. Throws OtherCluster where it is another. */
export async function claimCluster(sql: Sql, clusterId: string): Promise<void> {
  await sql.query('INSERT INTO cluster (cluster_id) VALUES ($1) ON CONFLICT DO NOTHING', [clusterId]);
  const { rows } = await sql.query('SELECT cluster_id FROM cluster');
  const remembered = String(rows[0]?.cluster_id);
  if (remembered !== clusterId) throw new OtherCluster(remembered, clusterId);
}

export async function positions(sql: Sql): Promise<readonly Position[]> {
  const { rows } = await sql.query(
    'SELECT topic, partition, next_offset AS "offset" FROM positions ORDER BY topic, partition',
  );
  return rows as Position[];
}

/** Within the transaction that writes the rows. A projector that lost its partition cannot move a position backwards. */
export async function savePositions(sql: Sql, moved: readonly Position[]): Promise<void> {
  await sql.query(
    `INSERT INTO positions (topic, partition, next_offset)
     SELECT topic, partition, "offset" FROM jsonb_to_recordset($1::jsonb) AS p(topic text, partition integer, "offset" bigint)
     ORDER BY topic, partition
     ON CONFLICT (topic, partition) DO UPDATE SET next_offset = greatest(positions.next_offset, EXCLUDED.next_offset)`,
    [JSON.stringify(moved)],
  );
}
