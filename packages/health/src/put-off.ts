import { type Clock, NEVER } from '@vigil/stream';
import type { History } from './history/history.ts';
import { type Judging, momentOn } from './history/moment.ts';
import type { Policies } from './policies.ts';
import type { Rule, Rules } from './rules.ts';
import type { AgentState, Known } from './state.ts';

/**
 * The next moment worth asking because of what was told between two states; `now`: at once. Most of what a healthy agent tells puts
 * off what was awaited: then only the rules that read what is new are asked, as if nothing suspended or quieted them.
 */
export function wakesAt(policies: Policies, before: AgentState, after: AgentState, clock: Clock): number {
  if (before.kind === 'unseen' || after.kind === 'unseen' || !undisturbed(before, after)) return clock.now;
  if (!goesOn(before.history, after.history)) return clock.now;
  if (policies.rules(after.policy).policy.spending !== null && hasSpent(before.history, after.history))
    return clock.now;
  return after.excluded ? NEVER : soonest(policies.rules(after.policy), before.history, after.history, clock);
}

/** A present, healthy agent of which nothing has to be said but by its history. */
function undisturbed(before: Known, after: Known): boolean {
  const { told } = after;
  return (
    told === before.told &&
    told.state === 'HEALTHY' &&
    told.warrant === null &&
    told.presentLife === after.life &&
    after.life === before.life &&
    after.policy === before.policy &&
    after.excluded === before.excluded &&
    after.answers === before.answers &&
    after.resets === before.resets &&
    after.tickets === before.tickets &&
    after.stragglers === before.stragglers
  );
}

/** Tokens or money are reported that are not counted yet. */
const hasSpent = (before: History, after: History): boolean => after.spend !== before.spend;

/** Of what exempts, and of what several rules read, nothing is new but that it is later. */
function goesOn(before: History, after: History): boolean {
  return (
    after.identity === before.identity &&
    after.axis === before.axis &&
    after.heard.intervalMs === before.heard.intervalMs &&
    after.heard.byRuntime === before.heard.byRuntime &&
    after.activity.value === before.activity.value &&
    after.activity.left === before.activity.left &&
    after.wait === before.wait &&
    before.activity.own !== null &&
    before.calls.last !== null &&
    after.calls.open === before.calls.open &&
    after.calls.failures === before.calls.failures &&
    before.tokens.count > 0 === after.tokens.count > 0 &&
    before.tokens.known === after.tokens.known &&
    before.turn?.open === after.turn?.open &&
    after.errors === before.errors &&
    after.matches.seen === before.matches.seen &&
    after.blocked === before.blocked &&
    after.breakers === before.breakers &&
    after.checkpoint === before.checkpoint &&
    after.rateLimit === before.rateLimit &&
    after.steps === before.steps &&
    after.work === before.work &&
    after.limits === before.limits &&
    after.held === before.held &&
    after.end === before.end
  );
}

function soonest(rules: Rules, before: History, after: History, clock: Clock): number {
  const { now, watched } = momentOn(after.axis, clock);
  const at: Judging = { now, watched, floor: 0 };
  let first = firstOf(rules, rules.hastened, after, at);
  for (const { partOf, telling } of rules.byPart)
    if (telling.length > 0 && partOf(after) !== partOf(before))
      first = Math.min(first, firstOf(rules, telling, after, at));
  return first;
}

function firstOf({ rules }: Rules, positions: readonly number[], history: History, at: Judging): number {
  let first = NEVER;
  for (const i of positions) {
    const { signal, limits } = rules[i] as Rule;
    first = Math.min(first, signal.firesFrom(history, limits, at));
  }
  return first;
}
