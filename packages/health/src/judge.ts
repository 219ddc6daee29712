import type { HealthState } from '@vigil/events';
import type { CompiledPlan, Term, Together } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import type { History } from './history/history.ts';
import type { Judging, Moment } from './history/moment.ts';
import type { Rules } from './rules.ts';

/** What follows from a history at a moment. */
export type Verdict = {
  readonly state: HealthState;
  /** from when the state holds, on `now`'s axis; null: HEALTHY */
  readonly onsetAt: number | null;
  /** of each rule, from when it fires, exemptions counted */
  readonly from: readonly number[];
  /** of each exemption, until when it holds */
  readonly until: readonly number[];
  readonly plan: CompiledPlan | null;
  /** of each rule, the mark before which nothing counts for it */
  readonly floors: readonly number[];
  /** the next moment at which any of this may differ */
  readonly next: number;
  readonly at: Moment;
};

/** As the rule at `i` was judged: what its evidence is told at. */
export function judgingOf({ at, floors }: Verdict, i: number): Judging {
  return { now: at.now, watched: at.watched, floor: floors[i] ?? 0 };
}

/** Everything is min and max: all of = max, any of = min, an exemption a max. `judged` false: only shown. */
export function judge(rules: Rules, history: History, moment: Moment, judged: boolean): Verdict {
  const until = rules.exemptions.map(({ exemption, limits }) => exemption.until(history, limits, moment));
  const floors = floorsOf(rules, history);
  let at: Judging = { now: moment.now, watched: moment.watched, floor: 0 };
  const from = rules.rules.map(({ signal, limits, suspendedBy }, i) => {
    if (!judged || (history.end !== null && !signal.outlives)) return NEVER;
    const floor = floors[i] ?? 0;
    if (floor !== at.floor) at = { now: moment.now, watched: moment.watched, floor };
    let first = signal.firesFrom(history, limits, at);
    for (const e of suspendedBy) first = Math.max(first, until[e] ?? 0);
    return first;
  });
  for (const [i, { unless }] of rules.rules.entries())
    if (unless.some((other) => (from[other] ?? NEVER) <= at.now)) from[i] = NEVER;
  const { state, onsetAt } = stateOf(rules, history, from, at.now);
  const holds = (term: Term) => termHolds(rules, term, state, from, until, at.now);
  const acts = judged && rules.policy.enabled && !forgotten(history, at.now);
  const plan = acts ? (rules.plans.find(({ anyOf }) => anyOf.some((terms) => terms.every(holds))) ?? null) : null;
  const next = Math.min(ahead(from, at.now), ahead(until, at.now), firstEnd(rules, history, from, at));
  return { state, onsetAt, from, until, plan, floors, next, at: moment };
}

/** When the first of those that fire now ends by itself. */
function firstEnd({ rules }: Rules, history: History, from: readonly number[], at: Judging): number {
  let first = NEVER;
  for (const [i, { signal, limits }] of rules.entries()) {
    if (signal.endsAt === undefined || (from[i] ?? NEVER) > at.now) continue;
    first = Math.min(first, signal.endsAt(history, limits, at));
  }
  return first;
}

/** How long the end of an agent is remembered, and its warrant kept: a day. */
export const REMEMBERED_MS = 24 * 3_600_000;

/** Its end is so long ago that nothing follows from it any more. */
function forgotten({ end }: History, now: number): boolean {
  return end !== null && now >= end.at + REMEMBERED_MS;
}

function stateOf(
  { states }: Rules,
  { end }: History,
  from: readonly number[],
  now: number,
): Pick<Verdict, 'state' | 'onsetAt'> {
  if (end) return { state: 'TERMINATED', onsetAt: end.at };
  for (const { state, anyOf } of states) {
    const onset = onsetOf(anyOf, from);
    if (onset <= now) return { state, onsetAt: onset };
  }
  return { state: 'HEALTHY', onsetAt: null };
}

function onsetOf(anyOf: readonly Together[], from: readonly number[]): number {
  let first = NEVER;
  for (const together of anyOf) first = Math.min(first, latest(together, from));
  return first;
}

function latest(together: Together, from: readonly number[]): number {
  let last = 0;
  for (const i of together) last = Math.max(last, from[i] ?? NEVER);
  return last;
}

/** What an exemption has suspended is not held against the agent afterwards: only of what it suspends, the clock begins anew. */
function floorsOf({ exemptions, rules }: Rules, history: History): readonly number[] {
  const ofExemption = exemptions.map(({ exemption, limits }) => exemption.floor(history, limits));
  return rules.map(({ restartedBy }) => {
    let floor = 0;
    for (const e of restartedBy) floor = Math.max(floor, ofExemption[e] ?? 0);
    return floor;
  });
}

function ahead(moments: readonly number[], now: number): number {
  let next = NEVER;
  for (const moment of moments) if (moment > now && moment < next) next = moment;
  return next;
}

function termHolds(
  { exemptions }: Rules,
  term: Term,
  state: HealthState,
  from: readonly number[],
  until: readonly number[],
  now: number,
): boolean {
  switch (term.kind) {
    case 'state':
      return term.state === state;
    case 'use':
      return (from[term.use] ?? NEVER) <= now;
    case 'exemption':
      return (until[exemptions.findIndex(({ name }) => name === term.exemption)] ?? 0) > now;
  }
}
