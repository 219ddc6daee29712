import type { WithheldWhy } from '@vigil/events';
import type { Clock } from '@vigil/stream';
import { engages, liftsFrom } from './brake.ts';
import { spawnFreeFrom, stepFreeFrom, turnFrom, withheldBy } from './budget.ts';
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
import { runtimeFor, whyNoTemplate } from './spawn.ts';
import {
  type AdmissionRequest,
  type FleetCommand,
  type GovernorDraft,
  type GovernorInput,
  type GovernorState,
  isFleetCommand,
} from './state.ts';

type StepRequest = Extract<AdmissionRequest, { readonly kind: 'step' }>;
type SpawnRequest = Extract<AdmissionRequest, { readonly kind: 'spawn' }>;

/** A person's command first. Then one ruling after another: each sees what the one before it has used up. */
export const decide =
  (settings: GovernorSettings) =>
  (state: GovernorState, { now }: Clock, input: GovernorInput | null): readonly GovernorDraft[] => {
    const emitted: GovernorDraft[] = input !== null && isFleetCommand(input) ? [commanded(input)] : [];
    let current = emitted.reduce(evolve, state);
    for (let next = ruling(current, settings, now); next; next = ruling(current, settings, now)) {
      emitted.push(next);
      current = evolve(current, next);
    }
    return emitted;
  };

/** Of the brake first, then of the requests, in the order in which they came. */
const ruling = (state: GovernorState, settings: GovernorSettings, now: number): GovernorDraft | null => {
  const engaged = engages(state, settings, now);
  if (engaged) {
    const { scope, why, losses } = engaged;
    const agentIds = losses.map(({ agentId }) => agentId);
    return govern({ type: 'BRAKE_ENGAGED', payload: { scope, why, agentIds } });
  }
  if (state.brake && now >= liftsFrom(state.brake, settings))
    return brakeReleased(
      'governor',
      'over half of the lost agents send heartbeats again, or none of them is awaited any more',
    );
  for (const request of state.requests) {
    const ruled = request.kind === 'step' ? step(state, request, settings, now) : spawn(state, request, settings, now);
    if (ruled) return ruled;
  }
  return null;
};

/** Emitted even where nothing changes: it confirms the command. */
const commanded = ({ type, payload: { by, why } }: FleetCommand): GovernorDraft => {
  switch (type) {
    case 'HALT_FLEET':
      return govern({ type: 'FLEET_HALTED', payload: { by, why } });
    case 'RESUME_FLEET':
      return govern({ type: 'FLEET_RESUMED', payload: { by, why } });
    case 'DRY_RUN_ON':
      return dryRunChanged(true, by, why);
    case 'DRY_RUN_OFF':
      return dryRunChanged(false, by, why);
    case 'LIFT_BRAKE':
      return brakeReleased(by, why);
  }
};

/** A step waits until nothing withholds it. The case is notified once for each reason; a step that waits only for its turn is not announced. */
const step = (
  state: GovernorState,
  request: StepRequest,
  settings: GovernorSettings,
  now: number,
): GovernorDraft | null => {
  const why = withheldBy(state, request);
  if (why !== null) return request.withheld === why ? null : stepWithheld(request, why, reasonOf(state, why));
  if (request.step.class === 'soft' || now >= stepFreeFrom(state, request, settings))
    return stepAdmitted(request, state.dryRun, now);
  const isOtherReason =
    request.withheld !== null && request.withheld !== 'budget' && turnFrom(state, request, settings) > now;
  return isOtherReason ? stepWithheld(request, 'budget', turnWords(settings)) : null;
};

const HALTED = 'the fleet is halted; `vigil resume` ends it';

const reasonOf = (state: GovernorState, why: 'halted' | 'brake'): string =>
  why === 'halted' ? HALTED : brakeWords(state);

const turnWords = ({ stepsPerMinute, cooldownMs }: GovernorSettings): string =>
  `it waits for its turn: at most ${stepsPerMinute} a minute, and ${cooldownMs / 1000} s between two on one agent`;

const brakeWords = ({ brake }: GovernorState): string => {
  const awaited = incidentsOf(brake).flatMap((lost) => lost.map(({ agentId }) => agentId));
  const more = awaited.length > 3 ? ` and ${awaited.length - 3} more` : '';
  return `the brake is on until over half of ${awaited.slice(0, 3).join(', ')}${more} send heartbeats for a minute, or \`vigil brake lift\``;
};

/** A spawn is ruled at once, except one that no runtime has a template for: that one waits for a template. Over its budget the task goes to people, who should not find it an hour later. */
const spawn = (
  state: GovernorState,
  request: SpawnRequest,
  settings: GovernorSettings,
  now: number,
): GovernorDraft | null => {
  const unstartable = whyNoTemplate(state, request.spawn, now);
  if (request.withheld === 'no_template' && unstartable !== null) return null;
  const withheld = (why: WithheldWhy, detail: string) => spawnWithheld(request, why, detail);
  if (state.halted) return withheld('halted', HALTED);
  if (unstartable !== null) return withheld('no_template', unstartable);
  const from = spawnFreeFrom(state, request.scope, settings);
  if (now < from)
    return withheld(
      'budget',
      `${settings.spawnsPerHour} spawns an hour for ${request.scope}; free in ${Math.ceil((from - now) / 60_000)} min`,
    );
  const found = runtimeFor(state, request.spawn, now);
  if ('none' in found) return withheld('no_runtime', found.none);
  return spawnAdmitted(request, found.runtimeId, state.dryRun, now);
};
