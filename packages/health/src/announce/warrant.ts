import { type Evidence, type LapseReason, type PayloadOf, Topic } from '@vigil/events';
import { type CompiledPlan, spell, stepRecord } from '@vigil/policy';
import { shownOf } from '../evaluator/shown.ts';
import type { Warrant } from '../evaluator/state.ts';
import type { History } from '../history/history.ts';
import { contextPct } from '../history/usage/context.ts';
import { awaitedBy, groupsInWords } from '../judgement/plans.ts';
import {
  type Announcement,
  type AnnouncementContext,
  about,
  chain,
  evidenceOf,
  idleMinutes,
  idOf,
  workedMinutes,
} from './events.ts';
import { forAgent } from './for-agent.ts';
import { leaseOf, quietFrom, renewalOf } from './lease.ts';

type Finding = Omit<PayloadOf<typeof Topic.agentHealth, 'WARRANT_RENEWED'>, 'warrantId' | 'episodeId'>;

/** The lease lapses when the last plan ends, or for another instance. It is renewed while a plan holds, and at once for another finding. */
export function warrantKept(context: AnnouncementContext): Announcement[] {
  const { state, rules, verdict } = context;
  const { warrant } = state.announced;
  if (warrant === null) return [];
  const why = lapseOf(context, warrant);
  if (why) return [lapsed(context, warrant, why)];
  const plan = verdict.plan;
  const { now } = verdict.at;
  const quietAt = quietFrom(state.history);
  const { warrant: terms } = rules.policy;
  // A lease from a long silence is longer than one of now: heartbeats arrive again.
  const isTooLong = warrant.voidAt > leaseOf(now, quietAt, terms);
  const due = isTooLong || now >= renewalOf(warrant.voidAt, quietAt, terms);
  if (plan === null || (!due && isSame(warrant, plan, context))) return [];
  return [
    {
      topic: Topic.agentHealth,
      type: 'WARRANT_RENEWED',
      key: state.agentId,
      ...chain(state, rules),
      payload: { ...finding(context, plan), episodeId: warrant.episodeId, warrantId: warrant.id },
    },
  ];
}

/** Runtimes act on what a warrant awaits. What it no longer awaits must not withdraw an order; what it awaits since then must. */
function isSame(warrant: Warrant, plan: CompiledPlan, { state, rules, verdict }: AnnouncementContext): boolean {
  const { state: found, awaits } = warrant;
  return (
    warrant.plan === plan.name &&
    found === verdict.state &&
    awaits === groupsInWords(awaitedBy(rules, state.history, verdict))
  );
}

/** At most one an agent: filed when some plan's `when` holds. */
export function warrantFiled(context: AnnouncementContext): Announcement[] {
  const { state, rules, verdict } = context;
  const { plan } = verdict;
  if (plan === null || state.announced.warrant !== null) return [];
  const { now } = verdict.at;
  const found = finding(context, plan);
  return [
    {
      topic: Topic.agentHealth,
      type: 'WARRANT_FILED',
      key: state.agentId,
      ...chain(state, rules),
      payload: {
        ...found,
        episodeId: state.announced.episode?.id ?? idOf('episode', state, now),
        warrantId: idOf('warrant', state, now),
        title: `stuck:${state.agentId}`,
        label: rules.policy.warrant.label,
        metadata: metadata(context, found.evidence),
      },
    },
  ];
}

function lapseOf({ state, rules, verdict }: AnnouncementContext, warrant: Warrant): LapseReason | null {
  const { history } = state;
  if (warrant.instanceId !== history.identity.instanceId) return 'new_instance';
  if (history.end && warrant.state !== 'TERMINATED') return 'ended';
  if (verdict.plan) return null;
  if (history.end) return 'ended';
  if (state.excluded || !rules.policy.enabled) return 'excluded';
  return shownOf(rules, verdict)?.name === 'held' ? 'held' : 'progress';
}

function lapsed({ state, rules }: AnnouncementContext, warrant: Warrant, why: LapseReason): Announcement {
  return {
    topic: Topic.agentHealth,
    type: 'WARRANT_LAPSED',
    key: state.agentId,
    ...chain(state, rules),
    payload: { ...about(state, warrant.episodeId), instanceId: warrant.instanceId, warrantId: warrant.id, why },
  };
}

function finding({ state, rules, verdict }: AnnouncementContext, plan: CompiledPlan): Finding {
  const { history } = state;
  const { runtimeId, attempt, maxAttempts, ...who } = { ...history.identity };
  const evidence = evidenceOf(rules, history, verdict);
  return {
    agentId: state.agentId,
    instanceId: who.instanceId,
    taskId: who.taskId,
    labels: who.labels,
    state: verdict.state,
    axes: [...new Set(evidence.map(({ axis }) => axis))],
    awaits: awaitedBy(rules, history, verdict),
    hard: evidence.some(({ hard }) => hard),
    planName: plan.name,
    plan: plan.steps.map(stepRecord),
    recovery: rules.policy.recovery,
    foldedSequence: history.lastReceipt.sequence,
    runtimeId,
    attempt,
    maxAttempts,
    onsetAt: verdict.onsetAt ?? firstOf(evidence),
    voidAt: leaseOf(verdict.at.now, quietFrom(history), rules.policy.warrant),
    evidence,
    checkpoint: history.checkpoint.newest,
    activity: history.activity.value,
    client: history.identity.client,
    endReason: history.end?.reason ?? null,
    limitedUntil: limitedUntil(history, verdict.at.now),
    idleMinutes: idleMinutes(history, verdict.at),
    contextUsagePct: contextPct(history.context),
    workedMinutes: workedMinutes(history, verdict.at),
    parentAgentId: history.identity.parentId,
    ...forAgent(rules, history, verdict),
  };
}

/** A client that works on has passed its limit, whichever reset it named; one that only ends its session has not. */
const isAtLimit = ({ activity, rateLimit, progress }: History): boolean =>
  activity.value === 'rate_limited' ||
  (activity.value === 'exiting' && rateLimit !== null && progress.at <= rateLimit.at);

const limitedUntil = (history: History, now: number): number | null => {
  const retryAt = isAtLimit(history) ? (history.rateLimit?.retryAt ?? null) : null;
  return retryAt !== null && retryAt > now ? retryAt : null;
};

const firstOf = (evidence: readonly Evidence[]): number | null => {
  const onsets = evidence.flatMap(({ onsetAt }) => (onsetAt === null ? [] : [onsetAt]));
  return onsets.length === 0 ? null : Math.min(...onsets);
};

/**
 * gascity's six fields. gascity's `wisp` is the work item; its age counts from its last update. Without a work item, the task is used,
 * and the time since progress.
 */
function metadata({ state, rules, verdict }: AnnouncementContext, evidence: readonly Evidence[]) {
  const { identity, work, progress } = state.history;
  const { now, watched } = verdict.at;
  const age = work?.dated ? watched - work.dated : now - progress.at;
  return {
    target: state.agentId,
    reason: evidence.map(({ words }) => words).join('; '),
    requester: rules.policy.warrant.requester,
    matched_pattern: evidence.flatMap(({ matched }) => matched ?? []).join(','),
    wisp_id: work?.id ?? identity.taskId ?? '',
    wisp_age: spell(Math.max(0, age)),
  };
}
