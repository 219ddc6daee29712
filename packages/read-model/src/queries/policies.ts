import type { Sql } from '../apply.ts';
import { AGENT_POLICY, KNOWN_AGENTS } from './agents.ts';
import { column, listed, type RowOf, select } from './select.ts';

/** A policy as canonical JSON, by its hash; null if it was never published. */
export const policyDocument = async (sql: Sql, hash: string): Promise<string | null> => {
  const text = 'SELECT document FROM policies WHERE hash = $1 LIMIT 1';
  const [row] = await select<{ document: string }>(sql, text, [hash]);
  return row?.document ?? null;
};

const policy = {
  name: column<string>(),
  hash: column<string>(),
  /** null: not reported */
  origin: column<'preset' | 'file' | 'applied' | 'UNKNOWN' | null>(),
  publishedBy: column<string>(),
  publishedAt: column<number>(),
  /** of the command that applied it */
  why: column<string | null>(),
  /** the number of living agents that it judges now; agents of an older document with its name count too */
  agents: column<number>('coalesce(judged, 0)::int'),
};

/** A policy in force, or `assign.yaml`: which agent gets which. */
export type PolicyRow = RowOf<typeof policy>;

/** Policies in force, by name: the last published version of each. */
export const policies = (sql: Sql): Promise<readonly PolicyRow[]> =>
  select<PolicyRow>(
    sql,
    `${KNOWN_AGENTS} SELECT ${listed(policy)}
     FROM (SELECT DISTINCT ON (name) * FROM policies ORDER BY name, published_at DESC, hash) newest
     LEFT JOIN (
       SELECT ${AGENT_POLICY} AS policy, count(*) AS judged FROM judged
       WHERE current_state <> 'TERMINATED' GROUP BY 1
     ) by_policy ON policy = name
     WHERE NOT withdrawn ORDER BY name`,
  );

const refusal = {
  refusalId: column<string>(),
  /** the command that requested it */
  commandId: column<string | null>(),
  name: column<string>(),
  hash: column<string | null>(),
  refusedBy: column<string>(),
  why: column<string>(),
  mistakes: column<readonly string[]>(),
  refusedAt: column<number>(),
};

/** A document that was applied and refused. */
export type PolicyRefusalRow = RowOf<typeof refusal>;

/** Refused policies, newest first. Each instance of the evaluator refuses separately; the first refusal counts. */
export const policyRefusals = (sql: Sql): Promise<readonly PolicyRefusalRow[]> =>
  select<PolicyRefusalRow>(
    sql,
    `SELECT ${listed(refusal)}
     FROM (SELECT DISTINCT ON (refusal_id) * FROM policy_refusals ORDER BY refusal_id, refused_at) first
     ORDER BY refused_at DESC, refusal_id LIMIT 20`,
  );
