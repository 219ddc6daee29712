import type { Sql } from '../apply.ts';
import { KNOWN_AGENTS } from './agents.ts';
import { select } from './select.ts';

/** How long it took from the onset of a finding, milliseconds. `count`: of what; the others are null without any. */
export type Delay = {
  readonly count: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly maxMs: number | null;
};
/** `rate`: part / all; null without any. */
export type Rate = { readonly part: number; readonly all: number; readonly rate: number | null };

/** How long something takes in a service, since the service started. `p95AtMostMs`: null without any, or if it takes longer than is measured. */
export type Speed = { readonly count: number; readonly p95AtMostMs: number | null };

/** How fast the services work, by their own metrics. */
export type Speeds = {
  /** the check of a batch of heartbeats, until its decisions are written */
  readonly check: Speed;
  /** a batch of heartbeats, until it is recorded */
  readonly heartbeat: Speed;
  /** from the moment at which a limit is reached until the state changes */
  readonly transition: Speed;
};

/** How well Vigil detects, intervenes and recovers, since a time. */
export type Targets = {
  /** epoch milliseconds */
  readonly since: number;
  /** until an agent is called STUCK or FAILING */
  readonly detection: Delay;
  /** until the first nudge or alert of a case */
  readonly intervention: Delay;
  /** recoveries whose agent passed its probation or finished the task, of those that are decided */
  readonly recovery: Rate;
  /** cases that were pardoned, or recovered before any step, of all closed cases */
  readonly falsePositives: Rate;
  /** agents that have not ended, now */
  readonly watched: number;
  readonly speeds: Speeds;
};

const DELAYS = `
  count(*)::int AS count,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS "p50Ms",
  percentile_cont(0.95) WITHIN GROUP (ORDER BY ms) AS "p95Ms",
  max(ms) AS "maxMs"`;

const DETECTION = `
SELECT ${DELAYS} FROM (
  SELECT extract(epoch FROM occurred_at - onset_at)::double precision * 1000 AS ms FROM transitions
  WHERE occurred_at >= $1 AND state_to IN ('STUCK', 'FAILING') AND onset_at IS NOT NULL
) found`;

// A case has no onset of its own: it is that of the agent's last change of state before the case.
const INTERVENTION = `
SELECT ${DELAYS} FROM (
  SELECT extract(epoch FROM first.at - onset.onset_at)::double precision * 1000 AS ms
  FROM (
    SELECT case_id, agent_id, min(occurred_at) AS at FROM journal
    WHERE type IN ('NUDGE_SENT', 'ALERT_REQUESTED') AND occurred_at >= $1 AND case_id IS NOT NULL
    GROUP BY case_id, agent_id
  ) first
  JOIN LATERAL (
    SELECT onset_at FROM transitions t
    WHERE t.agent_id = first.agent_id AND t.occurred_at <= first.at AND t.onset_at IS NOT NULL
    ORDER BY t.occurred_at DESC LIMIT 1
  ) onset ON true
) acted`;

// A replacement that finishes its task may do so before its probation is over. An attempt that another attempt follows has failed,
// unless it is the same attempt again from an older checkpoint.
const RECOVERY = `
SELECT count(*) FILTER (WHERE succeeded)::int AS part,
       count(*) FILTER (WHERE succeeded OR failed_at IS NOT NULL OR review_at IS NOT NULL OR followed)::int AS all
FROM (
  SELECT r.*, probation_passed_at IS NOT NULL OR coalesce(released_why = 'finished', false) AS succeeded,
    EXISTS (SELECT 1 FROM journal n WHERE n.task_id = r.task_id AND n.type = 'RECOVERY_INITIATED'
      AND n.event_order > r.event_order) AS followed
  FROM recoveries r WHERE initiated_at >= $1 AND NOT EXISTS (
    SELECT 1 FROM journal again WHERE again.task_id = r.task_id AND again.type = 'RECOVERY_INITIATED'
      AND again.event_order > r.event_order AND (again.payload ->> 'attempt')::integer = r.attempt
      AND again.payload ->> 'newAgentId' = r.new_agent_id)
) attempts`;

const FALSE_POSITIVES = `
SELECT count(*) FILTER (WHERE ending = 'pardoned' OR (ending = 'recovered' AND NOT acted))::int AS part, count(*)::int AS all
FROM (
  SELECT ending, EXISTS (
    SELECT 1 FROM journal j WHERE j.case_id = cases.case_id
      AND j.type IN ('NUDGE_SENT', 'HANDOFF_REQUESTED', 'AGENT_PAUSED', 'AGENT_TERMINATED', 'ESCALATION_TRIGGERED', 'TASK_BLOCKED')
  ) AS acted
  FROM cases WHERE closed_at >= $1
) closed`;

const WATCHED = `${KNOWN_AGENTS} SELECT count(*)::int AS count FROM judged WHERE current_state <> 'TERMINATED'`;

const rateOf = ({ part, all }: Omit<Rate, 'rate'>): Rate => ({ part, all, rate: all === 0 ? null : part / all });

/** All but the speeds, which no row has. `since`: epoch milliseconds */
export const targets = async (sql: Sql, since: number): Promise<Omit<Targets, 'speeds'>> => {
  const one = async <Row>(text: string): Promise<Row> => {
    const [row] = await select<Row>(sql, text, [new Date(since).toISOString()]);
    return row as Row;
  };
  const [detection, intervention, recovery, falsePositives, [watched]] = await Promise.all([
    one<Delay>(DETECTION),
    one<Delay>(INTERVENTION),
    one<Omit<Rate, 'rate'>>(RECOVERY),
    one<Omit<Rate, 'rate'>>(FALSE_POSITIVES),
    select<{ readonly count: number }>(sql, WATCHED, []),
  ]);
  return {
    ...{ since, detection, intervention, recovery: rateOf(recovery), falsePositives: rateOf(falsePositives) },
    watched: watched?.count ?? 0,
  };
};
