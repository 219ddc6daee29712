import type { WithheldWhy } from '@vigil/events';
import type { Clock } from '@vigil/stream';
import { engages, liftsFrom } from './brake.ts';
import { spawnFreeFrom, stepFreeFrom } from './budget.ts';
import { evolve } from './evolve.ts';
import { incidentsOf } from './incidents.ts';
import {
  brakeReleased,
  dryRunChanged,
  govern,
  spawnAdmitted,
  spawnWithheld,
  stepAdmitted,
  stepWithheld,
} from './rulings.ts';
import type { GovernorSettings } from './settings.ts';
import { runtimeFor } from './spawn.ts';
import type { Asked, GovernorDraft, GovernorState, Steering } from './state.ts';

type AskedStep = Extract<Asked, { readonly kind: 'step' }>;
type AskedSpawn = Extract<Asked, { readonly kind: 'spawn' }>;

/** One ruling after another: each sees what the one before it has used up. */
export const decide =
  (settings: GovernorSettings) =>
  (state: GovernorState, { now }: Clock): readonly GovernorDraft[] => {
    const said: GovernorDraft[] = [];
    let current = state;
    for (let next = ruling(current, settings, now); next; next = ruling(current, settings, now)) {
      said.push(next);
      current = evolve(current, next);
    }
    return said;
  };

/** Of people first, then of the brake, then of those who wait, in the order in which they came. */
const ruling = (state: GovernorState, settings: GovernorSettings, now: number): GovernorDraft | null => {
  if (state.steering) return steered(state.steering);
  const engaged = engages(state, settings, now);
  if (engaged) {
    const { scope, why, losses } = engaged;
    return govern('BRAKE_ENGAGED', { scope, why, agentIds: losses.map(({ agentId }) => agentId) });
  }
  if (state.brake && now >= liftsFrom(state.brake, settings))
    return brakeReleased('governor', 'over half of the lost agents beat again');
  for (const asked of state.asked) {
    const ruled = asked.kind === 'step' ? step(state, asked, settings, now) : spawn(state, asked, settings, now);
    if (ruled) return ruled;
  }
  return null;
};

/** Said even where nothing changes: whoever asked sees that it was heard. */
const steered = ({ say, by, why }: Steering): GovernorDraft => {
  switch (say) {
    case 'halt':
      return govern('FLEET_HALTED', { by, why });
    case 'resume':
      return govern('FLEET_RESUMED', { by, why });
    case 'dry_run_on':
      return dryRunChanged(true, by, why);
    case 'dry_run_off':
      return dryRunChanged(false, by, why);
    case 'lift_brake':
      return brakeReleased(by, why);
  }
};

/** Soft steps need only that nobody has halted the fleet; destructive ones settle, and wait their turn. */
const step = (
  state: GovernorState,
  asked: AskedStep,
  settings: GovernorSettings,
  now: number,
): GovernorDraft | null => {
  if (state.halted) return stepWithheld(asked, 'halted', 'the fleet is halted');
  if (asked.step.class === 'soft') return stepAdmitted(asked, state.dryRun, now);
  if (state.brake) return stepWithheld(asked, 'brake', brakeWords(state));
  return now >= stepFreeFrom(state, asked, settings) ? stepAdmitted(asked, state.dryRun, now) : null;
};

const brakeWords = ({ brake }: GovernorState): string => {
  const missing = incidentsOf(brake).flatMap((lost) => lost.map(({ agentId }) => agentId));
  const more = missing.length > 3 ? ` and ${missing.length - 3} more` : '';
  return `the brake is on until over half of ${missing.slice(0, 3).join(', ')}${more} beat for a minute, or a person lifts it`;
};

/** A spawn is ruled at once: over its budget the task goes to people, who should not find it an hour later. */
const spawn = (state: GovernorState, asked: AskedSpawn, settings: GovernorSettings, now: number): GovernorDraft => {
  const withheld = (why: WithheldWhy, detail: string) => spawnWithheld(asked, why, detail);
  if (state.halted) return withheld('halted', 'the fleet is halted');
  const from = spawnFreeFrom(state, asked.scope, settings);
  if (now < from)
    return withheld(
      'budget',
      `${settings.spawnsPerHour} spawns an hour for ${asked.scope}; free in ${Math.ceil((from - now) / 60_000)} min`,
    );
  const found = runtimeFor(state, asked.spawn, now);
  if ('none' in found) return withheld('no_runtime', found.none);
  return spawnAdmitted(asked, found.runtimeId, state.dryRun, now);
};
