import { type Clock, NEVER } from '@vigil/stream';
import type { History } from '../history/history.ts';
import { type Judging, momentOn, unexcused } from '../history/moment.ts';
import type { Policies } from '../judgement/policies.ts';
import type { Rule, Rules } from '../judgement/rules.ts';
import type { AgentState, KnownAgent } from './state.ts';

/**
 * When to evaluate an agent after a change of its state; `now` means at once. Most heartbeats of a healthy agent only
 * defer its next finding. Then only the rules that read a changed part are evaluated, as if nothing suspended or
 * quieted them.
 */
export const wakesAt = (policies: Policies, before: AgentState, after: AgentState, clock: Clock): number => {
  if (before.kind === 'unseen' || after.kind === 'unseen' || !isSteady(before, after)) return clock.now;
  if (!isRoutine(before.history, after.history)) return clock.now;
  if (policies.rules(after.policy).policy.spending !== null && hasSpent(before.history, after.history))
    return clock.now;
  return after.excluded ? NEVER : soonest(policies.rules(after.policy), before.history, after.history, clock);
};

/** Whether both states are of a present, healthy agent, so that only its history can lead to an event. */
const isSteady = (before: KnownAgent, after: KnownAgent): boolean => {
  const { announced } = after;
  return (
    announced === before.announced &&
    announced.state === 'HEALTHY' &&
    announced.warrant === null &&
    announced.clock === undefined &&
    after.clockOffSince === undefined &&
    announced.presentInstance === after.instanceNumber &&
    after.instanceNumber === before.instanceNumber &&
    after.policy === before.policy &&
    after.excluded === before.excluded &&
    after.answers === before.answers &&
    after.resets === before.resets &&
    after.holds === before.holds &&
    after.controls === before.controls &&
    after.tickets === before.tickets &&
    after.stragglers === before.stragglers
  );
};

/** Whether the agent reports tokens or money that are not counted yet. */
const hasSpent = (before: History, after: History): boolean => after.spend !== before.spend;

/**
 * The effect of a change of each part. `wakes`: the agent is judged at once. `defers`: only the rules that read the
 * part are evaluated. A function returns whether the change is routine, so that it defers. A part that is missing here
 * does not compile.
 */
const ON_CHANGE: { readonly [Name in keyof History]: OnChange<History[Name]> } = {
  identity: 'wakes',
  axis: 'wakes',
  started: 'wakes',
  lastReceipt: (before, after) => after.intervalMs === before.intervalMs && after.byRuntime === before.byRuntime,
  activity: (before, after) => after.value === before.value && after.left === before.left && before.own !== null,
  wait: 'wakes',
  turn: (before, after) => before?.open === after?.open,
  blocked: 'wakes',
  calls: (before, after) =>
    before.last !== null &&
    after.open === before.open &&
    after.failures === before.failures &&
    after.failing === before.failing,
  made: 'defers',
  runs: 'defers',
  errors: 'wakes',
  targets: 'defers',
  outcomes: 'defers',
  reportedErrors: 'defers',
  // A wait makes every absence later.
  waits: 'defers',
  callDiversity: 'defers',
  matches: (before, after) => after.seen === before.seen,
  breakers: 'wakes',
  progress: 'defers',
  checkpoint: 'wakes',
  rateLimit: 'wakes',
  steps: 'wakes',
  tokens: (before, after) => before.count > 0 === after.count > 0 && before.known === after.known,
  context: 'defers',
  // Only a policy with limits of spending reads it (`hasSpent`).
  spend: 'defers',
  output: 'defers',
  work: 'wakes',
  notStarted: 'defers',
  proof: 'defers',
  limits: 'wakes',
  progressEvidence: 'defers',
  hold: 'wakes',
  end: 'wakes',
};

type OnChange<Part> = 'wakes' | 'defers' | ((before: Part, after: Part) => boolean);

const CHECKED = (Object.keys(ON_CHANGE) as (keyof History)[]).filter((name) => ON_CHANGE[name] !== 'defers');

/** Whether no part has changed that exempts the agent or that several rules read. */
const isRoutine = (before: History, after: History): boolean => {
  for (const name of CHECKED) if (!isRoutineChange(name, before, after)) return false;
  return true;
};

const isRoutineChange = <Name extends keyof History>(name: Name, before: History, after: History): boolean => {
  const onChange = ON_CHANGE[name];
  return typeof onChange === 'function' ? onChange(before[name], after[name]) : after[name] === before[name];
};

const soonest = (rules: Rules, before: History, after: History, clock: Clock): number => {
  const at = unexcused(momentOn(after.axis, clock));
  let first = firstOf(rules, rules.reevaluatedEveryHeartbeat, after, at);
  for (const { partOf, deciding } of rules.byPart)
    if (deciding.length > 0 && partOf(after) !== partOf(before))
      first = Math.min(first, firstOf(rules, deciding, after, at));
  return first;
};

const firstOf = ({ rules }: Rules, positions: readonly number[], history: History, at: Judging): number => {
  let first = NEVER;
  for (const i of positions) {
    const { signal, limits } = rules[i] as Rule;
    first = Math.min(first, signal.firesFrom(history, limits, at));
  }
  return first;
};
