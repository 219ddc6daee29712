import type { Sql } from '../apply.ts';
import type { PolicyRefusalRow, PolicyRow } from '../rows/fleet-rows.ts';
import { select } from './select.ts';

/** A policy as canonical JSON, by its hash. null: never published. */
export async function policyDocument(sql: Sql, hash: string): Promise<string | null> {
  const [row] = await select<{ document: string }>(sql, 'SELECT document FROM policies WHERE hash = $1 LIMIT 1', [
    hash,
  ]);
  return row?.document ?? null;
}

/** Policies in force, by name: the last published version of each. */
export function policies(sql: Sql): Promise<readonly PolicyRow[]> {
  return select<PolicyRow>(
    sql,
    `SELECT name, hash, origin, published_by, published_at, why, coalesce(judged, 0)::int AS agents
     FROM (SELECT DISTINCT ON (name) * FROM policies ORDER BY name, published_at DESC, hash) newest
     LEFT JOIN (
       SELECT coalesce(policy_name, instance_policy_name) AS policy, count(*) AS judged FROM agents
       WHERE state IS DISTINCT FROM 'TERMINATED' GROUP BY 1
     ) by_policy ON policy = name
     WHERE NOT withdrawn ORDER BY name`,
  );
}

/** Refused policies, newest first. */
export function policyRefusals(sql: Sql): Promise<readonly PolicyRefusalRow[]> {
  return select<PolicyRefusalRow>(
    sql,
    `SELECT refusal_id, command_id, name, hash, refused_by, why, mistakes, refused_at
     FROM (SELECT DISTINCT ON (refusal_id) * FROM policy_refusals ORDER BY refusal_id, refused_at) first
     ORDER BY refused_at DESC, refusal_id LIMIT 20`,
  );
}
