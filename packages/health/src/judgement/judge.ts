import type { HealthState } from '@vigil/events';
import type { Axis, CompiledPlan, Together } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import type { History } from '../history/history.ts';
import { type Judging, type Moment, unexcused } from '../history/moment.ts';
import { isQuestion } from '../history/presence/wait.ts';
import { type Interval, WAIT, type Waits, waitsAfter, withPresent } from '../history/presence/waits.ts';
import { momentOf } from '../signals/signal.ts';
import { type ExemptionName, isIdle } from './exemptions.ts';
import { planOf } from './plans.ts';
import type { Exempting, Rule, Rules } from './rules.ts';

/** The judgement of a history at a time. */
export type Judgement = {
  readonly state: HealthState;
  /** the start of the state, on `now`'s axis; null for HEALTHY */
  readonly onsetAt: number | null;
  /** for each rule, when it fires, with exemptions applied */
  readonly from: readonly number[];
  /** for each exemption, its end */
  readonly until: readonly number[];
  readonly plan: CompiledPlan | null;
  /** the plan of a finding from before the present wait: none of its steps may begin; null: there is none */
  readonly suspended: Suspended | null;
  /** for each rule, when it may lead to a step: `from`, or the end of the wait */
  readonly acting: readonly number[];
  /** for each group of rules, the time of its judgement, which its evidence uses */
  readonly judging: readonly Judging[];
  /** the next time at which the judgement may change */
  readonly next: number;
  readonly at: Moment;
};

/** A plan, and the exemption that suspends it. */
export type Suspended = { readonly plan: CompiledPlan; readonly by: ExemptionName };

/** Whether a person holds the agent and its policy respects holds. */
export const isHeld = ({ exemptions }: Rules, { until, at }: Pick<Judgement, 'until' | 'at'>): boolean =>
  (until[exemptions.findIndex(({ name }) => name === 'held')] ?? 0) > at.now;

/**
 * An exemption in force. `until` is its own end on `now`'s axis, NEVER if it has none. The silence of its runtime may end it
 * earlier, and each report puts that off.
 */
export type Shown = { readonly name: ExemptionName; readonly suspends: readonly Axis[]; readonly until: number };

/** The exemption to show with the state: the first announced one in force. */
export const shownOf = ({ exemptions }: Rules, history: History, { until, at }: Judgement): Shown | null => {
  const i = exemptions.findIndex(({ exemption }, e) => (until[e] ?? 0) > at.now && exemption.announced);
  const first = exemptions[i];
  if (first === undefined) return null;
  const { name, exemption, limits } = first;
  return { name, suspends: exemption.suspends, until: exemption.until(history, limits, at) };
};

/** The time of the rule's judgement, which its evidence uses. */
export const judgingOf = ({ at, judging }: Pick<Judgement, 'at' | 'judging'>, { group }: Rule): Judging =>
  judging[group] ?? unexcused(at);

/**
 * Everything is min and max: "all of" is a max, "any of" a min, and an exemption a max. `judged`: false if the agent is
 * only shown.
 */
export const judge = (rules: Rules, history: History, moment: Moment, judged: boolean): Judgement => {
  const until = untilOf(rules, history, moment);
  const judging = judgingsOf(rules, history, moment);
  const { from, acting } = judged ? fromOf(rules, history, judging, until) : { from: rules.never, acting: rules.never };
  const { now } = moment;
  const first = soonest(from);
  const fires = first <= now;
  const { state, onsetAt } = stateOf(rules, history, from, now);
  const acts = judged && rules.policy.enabled && !forgotten(history, now);
  const planBy = (moments: readonly number[]) =>
    planOf(rules, history, stateOf(rules, history, moments, now).state, { from: moments, until, at: moment });
  const plan = acts ? planBy(acting) : null;
  const standing = acts && plan === null && acting !== from ? planBy(from) : null;
  const suspended = standing && { plan: standing, by: suspenderOf(rules, until, now) };
  const onset = fires ? Math.min(ahead(from, now), firstEnd(rules, history, from, judging, now)) : first;
  const next = Math.min(onset, ahead(acting, now), ahead(until, now));
  return { state, onsetAt, from, acting, until, plan, suspended, judging, next, at: moment };
};

const HEALTHY: Pick<Judgement, 'state' | 'onsetAt'> = { state: 'HEALTHY', onsetAt: null };

// Some thirty rules judge each heartbeat, so the code below loops over numbers and allocates little.

const untilOf = (rules: Rules, history: History, moment: Moment): readonly number[] => {
  const { exemptions, neverExempt } = rules;
  const until = neverExempt.slice();
  const trusted = momentOf(trustedTo(rules, history), moment);
  for (let e = 0; e < until.length; e++) {
    const { exemption, limits } = exemptions[e] as Exempting;
    const last = exemption.until(history, limits, moment);
    until[e] = exemption.isReported ? Math.min(last, trusted) : last;
  }
  return until;
};

/**
 * The mark until which the last report excuses silence. A runtime also reports while its agent does nothing, so its
 * silence means that its host is down or disconnected. An idle agent without a task is not expected to work.
 */
export const trustedTo = ({ policy: { heartbeat } }: Rules, history: History): number => {
  const { lastReceipt, identity } = history;
  const isMissed = lastReceipt.byRuntime && !identity.eventDriven && !(isIdle(history) && identity.taskId === null);
  return isMissed ? lastReceipt.watched + heartbeat.trustedForMs : NEVER;
};

/**
 * A suspended absence does not count against the agent afterwards. Of the suspended rules, and of no others, a wait is
 * left out, and the clock restarts where new work begins.
 */
const judgingsOf = (rules: Rules, history: History, { now, watched }: Moment): readonly Judging[] => {
  const trusted = trustedTo(rules, history);
  const restarts = restartsOf(rules, history, trusted);
  const waits = waitsOf(rules, history, trusted);
  return rules.groups.map(({ restartedBy, kinds }) => ({
    now,
    watched,
    floor: most(restartedBy, restarts),
    waits,
    kinds,
  }));
};

/** For each exemption, the mark before which no absence counts because of it. */
const restartsOf = ({ exemptions, neverExempt }: Rules, history: History, trusted: number): readonly number[] => {
  const restarts = neverExempt.slice();
  for (let e = 0; e < restarts.length; e++) {
    const { exemption, limits } = exemptions[e] as Exempting;
    const restart = exemption.restart?.(history, limits) ?? 0;
    restarts[e] = exemption.isReported ? Math.min(restart, trusted) : restart;
  }
  return restarts;
};

/**
 * The waits until the last receipt, and the present ones whose end is known. A wait without a known end suspends its
 * rules until the next report; if that does not come in time, the silence counts.
 */
const waitsOf = ({ waiting }: Rules, history: History, trusted: number): Waits => {
  const { waits, lastReceipt } = history;
  let present: Interval[] | null = null;
  for (const { wait, limits, isReported } of waiting) {
    const until = wait.until(history, limits);
    if (until <= lastReceipt.watched || until >= NEVER) continue;
    present ??= [];
    present.push([lastReceipt.watched, isReported ? Math.min(until, trusted) : until, wait.kind]);
  }
  return present === null ? waits : withPresent(waits, present, lastReceipt.watched, NEVER);
};

/**
 * Records the waits between the last receipt and the one at `watched`, which shows that the last report was true until
 * then.
 */
export const withWaits = ({ waiting }: Pick<Rules, 'waiting'>, history: History, { watched }: Moment): History => {
  const { lastReceipt, activity, wait } = history;
  let present: Interval[] | null = null;
  const add = (until: number, kind: number) => {
    if (until <= lastReceipt.watched) return;
    present ??= [];
    present.push([lastReceipt.watched, until, kind]);
  };
  for (const one of waiting) add(one.wait.until(history, one.limits), one.wait.kind);
  if (activity.value === 'awaiting_input' || activity.value === 'paused') add(NEVER, WAIT.stopped);
  if (wait !== null && isQuestion(wait)) add(NEVER, WAIT.question);
  if (present === null || watched <= lastReceipt.watched) return history;
  return { ...history, waits: waitsAfter(history.waits, present, lastReceipt.watched, watched) };
};

const most = (positions: readonly number[], moments: readonly number[]): number => {
  let last = 0;
  for (const i of positions) last = Math.max(last, moments[i] ?? 0);
  return last;
};

/** The first wait in force that suspends plans. */
const suspenderOf = ({ exemptions }: Rules, until: readonly number[], now: number): ExemptionName => {
  const i = exemptions.findIndex(({ exemption }, e) => exemption.began !== undefined && (until[e] ?? 0) > now);
  return (exemptions[i] as Exempting).name;
};

/**
 * When each rule fires, and when it may lead to a step. A wait ends no finding from before it, and suspends its plan.
 * Without such a wait both are the same array.
 */
const fromOf = (
  rules: Rules,
  history: History,
  judging: readonly Judging[],
  until: readonly number[],
): Pick<Judgement, 'from' | 'acting'> => {
  const from = rules.never.slice();
  let acting = from;
  const suspended = rules.groups.map(({ suspendedBy }) => most(suspendedBy, until));
  const ask = (positions: readonly number[]) => {
    for (const i of positions) {
      const { signal, limits, group } = rules.rules[i] as Rule;
      if (history.end !== null && !signal.appliesAfterExit) continue;
      const first = signal.firesFrom(history, limits, judging[group] as Judging);
      const by = first < (suspended[group] ?? 0) ? rules.groups[group]?.suspendedBy : undefined;
      if (by === undefined) {
        from[i] = first;
        if (acting !== from) acting[i] = first;
        continue;
      }
      const at = judging[group] as Judging;
      const acts = excusedUntil(rules, by, history, at, until, first);
      const stands = acts > first && first <= at.now;
      const before = stands ? by.filter((e) => !beganAfter(rules.exemptions[e] as Exempting, history, at, first)) : by;
      from[i] = before.length < by.length ? excusedUntil(rules, before, history, at, until, first) : acts;
      if (from[i] !== acts && acting === from) acting = from.slice();
      if (acting !== from) acting[i] = acts;
    }
  };
  ask(rules.always);
  for (const { partOf, initial, positions } of rules.byPart) if (partOf(history) !== initial) ask(positions);
  for (const i of rules.quieted)
    if (isQuiet(rules.rules[i] as Rule, from, judging)) {
      from[i] = NEVER;
      acting[i] = NEVER;
    }
  return { from, acting };
};

/** Whether it is a wait that began after a signal had fired. */
const beganAfter = ({ exemption }: Exempting, history: History, at: Judging, first: number): boolean => {
  const began = exemption.began?.(history) ?? 0;
  return began > 0 && momentOf(began, at) > first;
};

/**
 * When a signal that fires at `first` counts, with the exemptions at these positions. A call that has begun after `first`
 * excuses nothing.
 */
export const excusedUntil = (
  { exemptions }: Pick<Rules, 'exemptions'>,
  positions: readonly number[],
  history: History,
  judging: Judging,
  until: readonly number[],
  first: number,
): number => {
  let last = first;
  for (const e of positions) {
    const { exemption, limits } = exemptions[e] as Exempting;
    const explained = exemption.explains?.(history, limits, judging, first) ?? NEVER;
    last = Math.max(last, Math.min(explained, until[e] ?? 0));
  }
  return last;
};

/** Whether counter-evidence of the rule fires. */
const isQuiet = ({ unless, group }: Rule, from: readonly number[], judging: readonly Judging[]): boolean => {
  const { now } = judging[group] as Judging;
  return unless.some((other) => (from[other] ?? NEVER) <= now);
};

/** When the first firing rule ends by itself. */
const firstEnd = (
  { rules, ending }: Rules,
  history: History,
  from: readonly number[],
  judging: readonly Judging[],
  now: number,
): number => {
  let first = NEVER;
  for (const i of ending) {
    if ((from[i] ?? NEVER) > now) continue;
    const { signal, limits, group } = rules[i] as Rule;
    first = Math.min(first, signal.endsAt?.(history, limits, judging[group] as Judging) ?? NEVER);
  }
  return first;
};

/** How long the end of an agent is remembered, and its warrant kept: a day. */
export const REMEMBERED_MS = 24 * 3_600_000;

/** Whether the end is too old to act on. */
const forgotten = ({ end }: History, now: number): boolean => end !== null && now >= end.at + REMEMBERED_MS;

const stateOf = (
  { states, stating }: Rules,
  { end }: History,
  from: readonly number[],
  now: number,
): Pick<Judgement, 'state' | 'onsetAt'> => {
  if (end) return { state: 'TERMINATED', onsetAt: end.at };
  if (!stating.some((i) => (from[i] ?? NEVER) <= now)) return HEALTHY;
  for (const { state, anyOf } of states) {
    const onset = onsetOf(anyOf, from);
    if (onset <= now) return { state, onsetAt: onset };
  }
  return HEALTHY;
};

const onsetOf = (anyOf: readonly Together[], from: readonly number[]): number => {
  let first = NEVER;
  for (const together of anyOf) first = Math.min(first, latest(together, from));
  return first;
};

const latest = (together: Together, from: readonly number[]): number => {
  let last = 0;
  for (const i of together) last = Math.max(last, from[i] ?? NEVER);
  return last;
};

const soonest = (moments: readonly number[]): number => {
  let first = NEVER;
  for (const moment of moments) if (moment < first) first = moment;
  return first;
};

const ahead = (moments: readonly number[], now: number): number => {
  let next = NEVER;
  for (let i = 0; i < moments.length; i++) {
    const moment = moments[i] as number;
    if (moment > now && moment < next) next = moment;
  }
  return next;
};
