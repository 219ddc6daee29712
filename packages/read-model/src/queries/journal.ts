import type { Sql } from '../apply.ts';
import type { Entry, TransitionRow } from '../rows/rows.ts';
import { select, when, where } from './select.ts';

export type StoryFilter = {
  readonly agentId?: string | undefined;
  readonly taskId?: string | undefined;
  /** the newest so many */
  readonly limit: number;
};

/** What happened, oldest first. */
export async function story(sql: Sql, filter: StoryFilter): Promise<readonly Entry[]> {
  const { text, values } = where([when('agent_id = $?', filter.agentId), when('task_id = $?', filter.taskId)]);
  const newest = await select<Entry>(
    sql,
    `SELECT event_id, occurred_at AS at, type, agent_id, task_id, case_id, payload FROM journal ${text}
     ORDER BY occurred_at DESC, event_order DESC, event_id DESC LIMIT $${values.length + 1}`,
    [...values, filter.limit],
  );
  return newest.toReversed();
}

export type TransitionFilter = { readonly agentId?: string | undefined; readonly limit: number };

/** Changes of state, newest first. */
export function transitions(sql: Sql, filter: TransitionFilter): Promise<readonly TransitionRow[]> {
  const { text, values } = where([when('agent_id = $?', filter.agentId)]);
  return select<TransitionRow>(
    sql,
    `SELECT event_id, agent_id, instance_id, task_id, episode_id, occurred_at, state_from, state_to, reason, exemption,
       end_reason, onset_at, evidence, policy_name, policy_hash
     FROM transitions ${text} ORDER BY occurred_at DESC, event_order DESC LIMIT $${values.length + 1}`,
    [...values, filter.limit],
  );
}
