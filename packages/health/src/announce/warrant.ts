import { type Evidence, type LapseReason, type PayloadOf, Topic } from '@vigil/events';
import { type CompiledPlan, stepRecord } from '@vigil/policy';
import { gascityMetadata } from '../adapters/gascity-metadata.ts';
import type { Warrant } from '../evaluator/state.ts';
import { type History, newestCheckpoint } from '../history/history.ts';
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
  findingMinutes,
  idleMinutes,
  idOf,
  unsavedMinutes,
} from './events.ts';

type Finding = Omit<PayloadOf<typeof Topic.agentHealth, 'WARRANT_RENEWED'>, 'warrantId' | 'episodeId' | 'suspendedBy'>;

/** The lease lapses when the last plan ends, or for another instance. It is renewed while a plan holds, and at once for another finding. */
export const warrantKept = (context: AnnouncementContext): Announcement[] => {
  const { state, rules, judgement } = context;
  const { warrant } = state.announced;
  if (warrant === null) return [];
  const why = lapseOf(context, warrant);
  if (why) return [lapsed(context, warrant, why)];
  const plan = judgement.plan ?? judgement.suspended?.plan ?? null;
  const { now } = judgement.at;
  const quietAt = quietFrom(state.history);
  const { warrant: terms } = rules.policy;
  // The lease of a long silence is longer than the present one, because heartbeats arrive again.
  const isTooLong = warrant.voidAt > leaseOf(now, quietAt, terms);
  const due = isTooLong || now >= renewalOf(warrant.voidAt, quietAt, terms);
  if (plan === null || (!due && isSame(warrant, plan, context))) return [];
  const payload = {
    ...finding(context, plan),
    episodeId: warrant.episodeId,
    warrantId: warrant.id,
    suspendedBy: judgement.suspended?.by ?? null,
  };
  return [{ topic: Topic.agentHealth, type: 'WARRANT_RENEWED', key: state.agentId, ...chain(context), payload }];
};

/**
 * Whether plan, state, awaited progress and the wait that suspends the plan are the same. Runtimes withdraw orders by the awaited progress, so a renewal
 * must carry a change at once.
 */
const isSame = (warrant: Warrant, plan: CompiledPlan, { state, rules, judgement }: AnnouncementContext): boolean => {
  const { state: found, awaits, suspendedBy = null } = warrant;
  return (
    warrant.plan === plan.name &&
    suspendedBy === (judgement.suspended?.by ?? null) &&
    found === judgement.state &&
    awaits === describeGroups(awaitedBy(rules, state.history, judgement))
  );
};

/** Files a warrant when a plan's `when` holds; an agent has at most one. */
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
        metadata: gascityMetadata(context, found.evidence),
      },
    },
  ];
};

const lapseOf = ({ state, rules, judgement }: AnnouncementContext, warrant: Warrant): LapseReason | null => {
  const { history } = state;
  if (warrant.instanceId !== history.identity.instanceId) return 'new_instance';
  if (history.end && warrant.state !== 'TERMINATED') return 'ended';
  if (judgement.plan ?? judgement.suspended) return null;
  if (history.end) return 'ended';
  if (state.excluded || !rules.policy.enabled) return 'excluded';
  return shownOf(rules, history, judgement)?.name === 'held' ? 'held' : 'progress';
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
    checkpoint: newestCheckpoint(history),
    activity: history.activity.value,
    client,
    endReason: history.end?.reason ?? null,
    lastOutput: history.end?.exit?.lastOutput ?? [],
    limitedUntil: limitedUntil(history, judgement.at.now),
    idleMinutes: idleMinutes(history, judgement.at),
    contextUsagePct: contextPct(history.context),
    workedMinutes: minutesOf(rules, history, judgement),
    parentAgentId: parentId,
    ...forAgent(rules, history, judgement),
  };
};

/**
 * A client that continues to work is past its limit, independent of the reset that it named. One that only ends its
 * session is not.
 */
const isAtLimit = ({ activity, rateLimit, progress }: History): boolean => {
  if (rateLimit === null || rateLimit.overAt !== undefined) return false;
  return activity.value === 'rate_limited' || (activity.value === 'exiting' && progress.at <= rateLimit.at);
};

const limitedUntil = (history: History, now: number): number | null => {
  const retryAt = isAtLimit(history) ? (history.rateLimit?.retryAt ?? null) : null;
  return retryAt !== null && retryAt > now ? retryAt : null;
};

const firstOf = (evidence: readonly Evidence[]): number | null => {
  const onsets = evidence.flatMap(({ onsetAt }) => (onsetAt === null ? [] : [onsetAt]));
  return onsets.length === 0 ? null : Math.min(...onsets);
};

/** The finding in sentences for the agent. */
export type ForAgent = { readonly finding: string; readonly advice: string };

const LONGEST = 400;

/** Names of tools and files come from the agent, so they are cut to one line without control characters. */
const oneLine = (text: string): string =>
  text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, LONGEST);

/**
 * The rules of the first item of the state that holds, in the policy's order (the most important one first). If there
 * is none, all rules that fire.
 */
const foundBy = ({ rules, states }: Rules, { state, from, at }: Judgement): readonly Rule[] => {
  const fires = (i: number) => (from[i] ?? 0) <= at.now;
  const those = states.find((one) => one.state === state)?.anyOf.find((together) => together.every(fires));
  if (those) return those.flatMap((i) => rules[i] ?? []);
  return rules.filter(({ signal }, i) => fires(i) && !signal.mitigating);
};

/** Of several rules, the first is the most important one. */
const minutesOf = (rules: Rules, history: History, judgement: Judgement): number => {
  const [first] = foundBy(rules, judgement);
  return first === undefined
    ? unsavedMinutes(history, judgement.at)
    : findingMinutes(first, history, judgingOf(judgement, first));
};

export const forAgent = (rules: Rules, history: History, judgement: Judgement): ForAgent => {
  const found = foundBy(rules, judgement);
  const findings = found.map((rule) => rule.signal.finding(history, rule.limits, judgingOf(judgement, rule)));
  return {
    finding: oneLine(findings.join(' ')),
    advice: oneLine([...new Set(found.map(({ signal }) => signal.advice))].join(' ')),
  };
};

/** The policy's `warrant`: how long a warrant is valid, and how often it is renewed, milliseconds. */
type Terms = { readonly renewMs: number; readonly voidMs: number };

/** A silence of this duration seldom ends, milliseconds. */
const SILENCE_MS = 3_600_000;

/**
 * When renewals begin to become rarer: at the end of the agent, or after an hour of silence. It is in the future while
 * heartbeats arrive.
 */
export const quietFrom = ({ lastReceipt, end }: Pick<History, 'lastReceipt' | 'end'>): number =>
  end?.at ?? lastReceipt.now + SILENCE_MS;

/**
 * An end does not change, so its warrant is renewed less and less often: after half of the end's age. A dead agent that
 * is not recovered costs some twenty renewals until it is forgotten, instead of one every `renewMs`. A silent one that
 * sends a heartbeat renews at once.
 */
const intervalAt = (now: number, quietAt: number, { renewMs }: Terms): number => Math.max(renewMs, (now - quietAt) / 2);

/** The expiry of a warrant that is filed or renewed now. */
export const leaseOf = (now: number, quietAt: number, terms: Terms): number =>
  now + Math.round((intervalAt(now, quietAt, terms) * terms.voidMs) / terms.renewMs);

/** The next renewal, computed from the expiry, so that the state stores only one time. */
export const renewalOf = (voidAt: number, quietAt: number, terms: Terms): number => {
  const plain = voidAt - terms.voidMs;
  if (plain - quietAt <= 2 * terms.renewMs) return plain + terms.renewMs;
  const leases = terms.voidMs / terms.renewMs / 2;
  const issued = (voidAt + leases * quietAt) / (1 + leases);
  return Math.floor(issued + (issued - quietAt) / 2);
};
