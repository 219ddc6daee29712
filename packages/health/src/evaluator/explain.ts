import type { HealthState, PolicyRef } from '@vigil/events';
import { type Axis, type JudgedState, spell, unknownCost } from '@vigil/policy';
import { type Clock, NEVER } from '@vigil/stream';
import { type Judgement, judgingOf, shownOf } from '../judgement/judge.ts';
import { type Upcoming, upcomingPlan } from '../judgement/plans.ts';
import type { Policies } from '../judgement/policies.ts';
import type { Rule, Rules } from '../judgement/rules.ts';
import { CONFIDENCE, type Confidence } from '../signals/confidence.ts';
import { type AgentFacts, factsOf } from './facts.ts';
import { judgementAt } from './health.ts';
import type { AgentState, KnownAgent } from './state.ts';

/** One signal and its present state. Times are on the broker's clock; null if none is expected. */
export type Explained = {
  readonly signal: string;
  readonly axis: Axis;
  readonly words: string;
  readonly value: number | null;
  readonly limit: number | null;
  /** whether `value` and `limit` are milliseconds */
  readonly isDuration: boolean;
  readonly hard: boolean;
  readonly confidence: Confidence;
  readonly fires: boolean;
  readonly firesFrom: number | null;
  /** why it does not count now */
  readonly suspendedBy: readonly string[];
  /** the states that name it */
  readonly states: readonly JudgedState[];
};

/** Explains the present decision about an agent, and why another has not been made yet. */
export type Explanation = {
  readonly agentId: string;
  readonly policy: PolicyRef;
  readonly excluded: boolean;
  readonly state: HealthState;
  readonly onsetAt: number | null;
  readonly exemption: {
    readonly name: string;
    readonly suspends: readonly Axis[];
    readonly until: number | null;
  } | null;
  readonly plan: string | null;
  /** the plan that holds, or the first that will hold if nothing more is received; null: none is expected */
  readonly upcoming: {
    readonly plan: string;
    readonly from: number;
    readonly steps: readonly string[];
    /** the decisions that it offers to people */
    readonly decisions: readonly string[];
  } | null;
  /** the exemption of the wait that suspends the plan; null: none does */
  readonly suspendedBy: string | null;
  readonly signals: readonly Explained[];
  /** when the decision may change next, if nothing more is received */
  readonly nextAt: number | null;
  /** how far the agent's clock is behind ours, milliseconds; named in `notes` beyond the policy's tolerance */
  readonly driftMs: number;
  readonly notes: readonly string[];
  readonly facts: AgentFacts;
};

/** Null if nothing has been received about the agent. */
export const explain = (policies: Policies, state: AgentState, clock: Clock): Explanation | null => {
  if (state.kind === 'unseen') return null;
  const rules = policies.rules(state.policy);
  const judgement = judgementAt(policies, state, clock);
  const shown = shownOf(rules, state.history, judgement);
  return {
    agentId: state.agentId,
    policy: state.policy,
    excluded: state.excluded,
    state: judgement.state,
    onsetAt: judgement.onsetAt,
    exemption: shown && { name: shown.name, suspends: shown.suspends, until: momentOrNull(shown.until) },
    plan: judgement.plan?.name ?? null,
    upcoming: described(upcomingPlan(rules, state.history, judgement)),
    suspendedBy: judgement.suspended?.by ?? null,
    signals: rules.rules.map((rule, i) => explained(rules, state, judgement, rule, i)),
    nextAt: momentOrNull(judgement.next),
    driftMs: state.history.lastReceipt.driftMs,
    notes: notesOf(state, rules, judgement),
    facts: factsOf(state, clock),
  };
};

const described = (upcoming: Upcoming | null): Explanation['upcoming'] => {
  if (upcoming === null) return null;
  const { plan, from } = upcoming;
  return {
    plan: plan.name,
    from,
    steps: plan.steps.map(({ step }) => step),
    decisions: plan.steps.flatMap((step) => (step.step === 'escalate' ? step.options : [])),
  };
};

const explained = (rules: Rules, { history }: KnownAgent, judgement: Judgement, rule: Rule, i: number): Explained => {
  const { from, until, at } = judgement;
  const {
    value,
    limit,
    isDuration = false,
    words,
    hard,
  } = rule.signal.evidence(history, rule.limits, judgingOf(judgement, rule));
  const first = from[i] ?? NEVER;
  return {
    signal: rule.name,
    axis: rule.signal.axis,
    words,
    value,
    limit: limit === null ? null : momentOrNull(limit),
    isDuration,
    hard,
    confidence: CONFIDENCE[rule.signalName],
    fires: first <= at.now,
    firesFrom: momentOrNull(first),
    suspendedBy: (rules.groups[rule.group]?.suspendedBy ?? []).flatMap((e) =>
      (until[e] ?? 0) > at.now ? [rules.exemptions[e]?.name ?? ''] : [],
    ),
    states: rules.states.flatMap(({ state, anyOf }) => (anyOf.some((all) => all.includes(i)) ? [state] : [])),
  };
};

const notesOf = (
  { history, excluded, announced, instanceNumber }: KnownAgent,
  { policy }: Rules,
  { suspended }: Judgement,
): string[] => {
  const { driftMs } = history.lastReceipt;
  const notes: string[] = [];
  if (suspended !== null)
    notes.push(`plan "${suspended.plan.name}" continues after the wait (${suspended.by.replaceAll('_', ' ')})`);
  // One late heartbeat looks like a clock that is behind.
  if (announced.clock?.instanceNumber === instanceNumber)
    notes.push(
      `its clock is ${spell(Math.abs(driftMs))} ${driftMs > 0 ? 'behind' : 'ahead'}: not judged, but correct it`,
    );
  if (excluded) notes.push(`policy ${policy.name} excludes it: shown, never judged`);
  const cost = policy.spending === null ? null : unknownCost(policy.spending, history.spend);
  if (cost !== null) notes.push(`its cost is not known, so no limit in US dollars holds: ${cost}`);
  if (!policy.enabled) notes.push(`policy ${policy.name} is not enabled: no warrants`);
  return notes;
};

const momentOrNull = (moment: number): number | null => (moment < NEVER ? moment : null);
