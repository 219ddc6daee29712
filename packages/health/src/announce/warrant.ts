import { type Evidence, type LapseReason, type PayloadOf, Topic } from '@vigil/events';
import { type CompiledPlan, spell, stepRecord } from '@vigil/policy';
import type { Warrant } from '../evaluator/state.ts';
import type { History } from '../history/history.ts';
import { contextPct } from '../history/usage/context.ts';
import { type Judgement, judgingOf, shownOf } from '../judgement/judge.ts';
import { awaitedBy, describeGroups } from '../judgement/plans.ts';
import type { Rule, Rules } from '../judgement/rules.ts';
import {
  type Announcement,
  type AnnouncementContext,
  announcement,
  chain,
  evidenceOf,
  idleMinutes,
  idOf,
  workedMinutes,
} from './events.ts';

type Finding = Omit<PayloadOf<typeof Topic.agentHealth, 'WARRANT_RENEWED'>, 'warrantId' | 'episodeId'>;

/** The lease lapses when the last plan ends, or for another instance. It is renewed while a plan holds, and at once for another finding. */
export const warrantKept = (context: AnnouncementContext): Announcement[] => {
  const { state, rules, judgement } = context;
  const { warrant } = state.announced;
  if (warrant === null) return [];
  const why = lapseOf(context, warrant);
  if (why) return [lapsed(context, warrant, why)];
  const plan = judgement.plan;
  const { now } = judgement.at;
  const quietAt = quietFrom(state.history);
  const { warrant: terms } = rules.policy;
  // A lease from a long silence is longer than one of now: heartbeats arrive again.
  const isTooLong = warrant.voidAt > leaseOf(now, quietAt, terms);
  const due = isTooLong || now >= renewalOf(warrant.voidAt, quietAt, terms);
  if (plan === null || (!due && isSame(warrant, plan, context))) return [];
  const payload = { ...finding(context, plan), episodeId: warrant.episodeId, warrantId: warrant.id };
  return [{ topic: Topic.agentHealth, type: 'WARRANT_RENEWED', key: state.agentId, ...chain(context), payload }];
};

/** Runtimes act on what a warrant awaits. What it no longer awaits must not withdraw an order; what it awaits since then must. */
const isSame = (warrant: Warrant, plan: CompiledPlan, { state, rules, judgement }: AnnouncementContext): boolean => {
  const { state: found, awaits } = warrant;
  return (
    warrant.plan === plan.name &&
    found === judgement.state &&
    awaits === describeGroups(awaitedBy(rules, state.history, judgement))
  );
};

/** At most one an agent: filed when some plan's `when` holds. */
export const warrantFiled = (context: AnnouncementContext): Announcement[] => {
  const { state, rules, judgement } = context;
  const { plan } = judgement;
  if (plan === null || state.announced.warrant !== null) return [];
  const { now } = judgement.at;
  const found = finding(context, plan);
  return [
    {
      topic: Topic.agentHealth,
      type: 'WARRANT_FILED',
      key: state.agentId,
      ...chain(context),
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
};

const lapseOf = ({ state, rules, judgement }: AnnouncementContext, warrant: Warrant): LapseReason | null => {
  const { history } = state;
  if (warrant.instanceId !== history.identity.instanceId) return 'new_instance';
  if (history.end && warrant.state !== 'TERMINATED') return 'ended';
  if (judgement.plan) return null;
  if (history.end) return 'ended';
  if (state.excluded || !rules.policy.enabled) return 'excluded';
  return shownOf(rules, judgement)?.name === 'held' ? 'held' : 'progress';
};

const lapsed = (context: AnnouncementContext, warrant: Warrant, why: LapseReason): Announcement => {
  const { episodeId, instanceId, id: warrantId } = warrant;
  return announcement(context, 'WARRANT_LAPSED', { episodeId, instanceId, warrantId, why });
};

const finding = ({ state, rules, judgement }: AnnouncementContext, plan: CompiledPlan): Finding => {
  const { history } = state;
  const { instanceId, taskId, labels, runtimeId, attempt, maxAttempts, client, parentId } = history.identity;
  const evidence = evidenceOf(rules, history, judgement);
  return {
    agentId: state.agentId,
    instanceId,
    taskId,
    labels,
    state: judgement.state,
    axes: [...new Set(evidence.map(({ axis }) => axis))],
    awaits: awaitedBy(rules, history, judgement),
    hard: evidence.some(({ hard }) => hard),
    planName: plan.name,
    plan: plan.steps.map(stepRecord),
    recovery: rules.policy.recovery,
    foldedSequence: history.lastReceipt.sequence,
    runtimeId,
    attempt,
    maxAttempts,
    onsetAt: judgement.onsetAt ?? firstOf(evidence),
    voidAt: leaseOf(judgement.at.now, quietFrom(history), rules.policy.warrant),
    evidence,
    checkpoint: history.checkpoint.newest,
    activity: history.activity.value,
    client,
    endReason: history.end?.reason ?? null,
    limitedUntil: limitedUntil(history, judgement.at.now),
    idleMinutes: idleMinutes(history, judgement.at),
    contextUsagePct: contextPct(history.context),
    workedMinutes: workedMinutes(history, judgement.at),
    parentAgentId: parentId,
    ...forAgent(rules, history, judgement),
  };
};

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
const metadata = ({ state, rules, judgement }: AnnouncementContext, evidence: readonly Evidence[]) => {
  const { identity, work, progress } = state.history;
  const { now, watched } = judgement.at;
  const age = work?.dated ? watched - work.dated : now - progress.at;
  return {
    target: state.agentId,
    reason: evidence.map(({ words }) => words).join('; '),
    requester: rules.policy.warrant.requester,
    matched_pattern: evidence.flatMap(({ matched }) => matched ?? []).join(','),
    wisp_id: work?.id ?? identity.taskId ?? '',
    wisp_age: spell(Math.max(0, age)),
  };
};

/** A finding in sentences for the agent itself. */
export type ForAgent = { readonly finding: string; readonly advice: string };

const LONGEST = 400;

/** Names of tools and files come from the agent: one line, without control characters. */
const oneLine = (text: string): string =>
  text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, LONGEST);

/** The first line of the state that holds, in the order of the policy: policies write the most important one first. Else all that fires. */
const foundBy = ({ rules, states }: Rules, { state, from, at }: Judgement): readonly Rule[] => {
  const fires = (i: number) => (from[i] ?? 0) <= at.now;
  const those = states.find((one) => one.state === state)?.anyOf.find((together) => together.every(fires));
  if (those) return those.flatMap((i) => rules[i] ?? []);
  return rules.filter(({ signal }, i) => fires(i) && !signal.mitigating);
};

export const forAgent = (rules: Rules, history: History, judgement: Judgement): ForAgent => {
  const found = foundBy(rules, judgement);
  const findings = found.map((rule) => rule.signal.finding(history, rule.limits, judgingOf(judgement, rule)));
  return {
    finding: oneLine(findings.join(' ')),
    advice: oneLine([...new Set(found.map(({ signal }) => signal.advice))].join(' ')),
  };
};

/** How long a warrant holds, and how often it is renewed, milliseconds (the policy's `warrant`). */
type Terms = { readonly renewMs: number; readonly voidMs: number };

/** A silence that has lasted so long seldom ends, milliseconds. */
const SILENCE_MS = 3_600_000;

/**
 * From when a warrant is renewed less and less often: from the end, or when the agent has been silent for an hour. In the future while
 * heartbeats arrive.
 */
export const quietFrom = ({ lastReceipt, end }: Pick<History, 'lastReceipt' | 'end'>): number =>
  end?.at ?? lastReceipt.now + SILENCE_MS;

/**
 * An end does not change, so its warrant is renewed ever less often: after half of the end's age. A dead agent that is not recovered costs
 * some twenty renewals until it is forgotten, instead of one every `renewMs`. A silent one that sends a heartbeat renews at once.
 */
const intervalAt = (now: number, quietAt: number, { renewMs }: Terms): number => Math.max(renewMs, (now - quietAt) / 2);

/** Until when a warrant holds that is filed or renewed now. */
export const leaseOf = (now: number, quietAt: number, terms: Terms): number =>
  now + Math.round((intervalAt(now, quietAt, terms) * terms.voidMs) / terms.renewMs);

/** When it is renewed next: found from its end, so that the state remembers one moment and not two. */
export const renewalOf = (voidAt: number, quietAt: number, terms: Terms): number => {
  const plain = voidAt - terms.voidMs;
  if (plain - quietAt <= 2 * terms.renewMs) return plain + terms.renewMs;
  const leases = terms.voidMs / terms.renewMs / 2;
  const issued = (voidAt + leases * quietAt) / (1 + leases);
  return Math.floor(issued + (issued - quietAt) / 2);
};
