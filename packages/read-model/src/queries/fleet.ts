import type { Sql } from '../apply.ts';
import type { AlertRow, DeadLetterRow, FleetRow, RuntimeRow } from '../rows/fleet-rows.ts';
import { select, when, where } from './select.ts';

export type AlertFilter = {
  readonly agentId?: string | undefined;
  readonly taskId?: string | undefined;
  readonly open?: boolean | undefined;
};

/** Alerts, the unresolved first, then the newest. */
export function alerts(sql: Sql, filter: AlertFilter): Promise<readonly AlertRow[]> {
  const { text, values } = where([
    when('agent_id = $?', filter.agentId),
    when('task_id = $?', filter.taskId),
    when('(resolved_order IS NULL) = $?', filter.open),
  ]);
  return select<AlertRow>(
    sql,
    `SELECT alert_id, alert_key, route, severity, title, text, agent_id, task_id, case_id,
       coalesce(options, '[]') AS options, deadline_at, updated_at, raised_at, acknowledged_at, acknowledged_by, resolved_at,
       coalesce((SELECT jsonb_agg(jsonb_build_object('sink', sink, 'ok', ok, 'detail', detail) ORDER BY occurred_at, event_id)
                 FROM deliveries d WHERE d.alert_id = a.alert_id), '[]') AS deliveries
     FROM alerts a ${text} ORDER BY resolved_order IS NULL DESC, raised_at DESC, alert_id LIMIT 1000`,
    values,
  );
}

/** Halt, brake and dry run. */
export async function fleet(sql: Sql): Promise<FleetRow> {
  const [row] = await select<FleetRow>(
    sql,
    `SELECT coalesce(f.halted, false) AS halted, f.halt_by, f.halt_why, f.halt_at,
       coalesce(f.braked, false) AS braked, f.brake_scope, coalesce(f.brake_agents, '[]') AS brake_agents, f.brake_why, f.brake_at,
       coalesce(f.dry_run, false) AS dry_run, f.dry_run_by, f.dry_run_why
     FROM (SELECT 1) one LEFT JOIN fleet f ON true LIMIT 1`,
  );
  return row as FleetRow;
}

export function runtimes(sql: Sql): Promise<readonly RuntimeRow[]> {
  return select<RuntimeRow>(
    sql,
    'SELECT runtime_id, host, capacity, agents, labels, announced_at FROM runtimes ORDER BY runtime_id',
  );
}

export type DeadLetterFilter = { readonly service?: string | undefined; readonly limit: number };

/** Dead letters, newest first. */
export function deadLetters(sql: Sql, filter: DeadLetterFilter): Promise<readonly DeadLetterRow[]> {
  const { text, values } = where([when('service = $?', filter.service)]);
  return select<DeadLetterRow>(
    sql,
    `SELECT event_id, service, original_topic, original_partition, original_offset, original_key,
       encode(substring(original_value FOR 2048), 'escape') AS preview, truncated, reason, error_type, failed_at
     FROM dead_letters ${text} ORDER BY failed_at DESC NULLS LAST, event_id LIMIT $${values.length + 1}`,
    [...values, filter.limit],
  );
}
