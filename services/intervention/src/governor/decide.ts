import { type BodyOf, type DraftWith, type RestOf, Topic, type WithheldWhy } from '@vigil/events';
import type { Clock } from '@vigil/stream';
import { engages, liftsFrom } from './brake.ts';
import { policyFreeFrom, spawnFreeFrom, stepFreeFrom, turnFrom, withheldBy } from './budget.ts';
import { bytesOf, bytesOfAll } from './bytes.ts';
import { evolve } from './evolve.ts';
import { type GovernorSettings, MOST_QUEUE_BYTES, MOST_WAITING_BYTES, VALID_MS } from './settings.ts';
import { runtimeFor, whyNoTemplate } from './spawn.ts';
import {
  covers,
  type FleetCommand,
  type GovernorDraft,
  type GovernorInput,
  type GovernorState,
  incidentsOf,
  isFleetCommand,
  type SpawnRequest,
  type StepRequest,
} from './state.ts';

/** A person's command comes first. Then come the rulings; each sees the budget that the ones before it used. */
export const decide =
  (settings: GovernorSettings) =>
  (state: GovernorState, clock: Clock, input: GovernorInput | null): readonly GovernorDraft[] => {
    const { now } = clock;
    const evolved = (before: GovernorState, draft: GovernorDraft) => evolve(settings)(before, draft, clock);
    const emitted: GovernorDraft[] = input !== null && isFleetCommand(input) ? [commanded(input)] : [];
    let current = emitted.reduce(evolved, state);
    for (let next = ruling(current, settings, now); next; next = ruling(current, settings, now)) {
      emitted.push(next);
      current = evolved(current, next);
    }
    return emitted;
  };

/** The next ruling: about the brake first, then about the requests in order of arrival. */
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
  const queue = emptyQueue();
  for (const request of state.requests) {
    const ruled =
      request.kind === 'step'
        ? queuedStep(state, request, queue.holds(request), settings, now)
        : spawn(state, request, settings, now);
    if (ruled) return ruled;
  }
  return null;
};

/** At most so many bytes, whether it is announced as withheld or not. */
const bytesQueued = ({ step, scope, host, runtimeId, correlationId }: StepRequest): number =>
  bytesOf(step) + bytesOf([scope, host, runtimeId, correlationId]) + REQUEST_BYTES;

/** Names of the fields of a request, its time, and why it is withheld. */
const REQUEST_BYTES = 150;

/**
 * The queue of waiting steps. `holds`: whether the next one fits. The agents of one runtime have at most a quarter of
 * it, so that they do not keep out the steps of others.
 */
const emptyQueue = (): { readonly holds: (request: StepRequest) => boolean } => {
  let all = 0;
  const byRuntime = new Map<string, number>();
  return {
    holds: (request) => {
      const { runtimeId } = request;
      const own = (byRuntime.get(runtimeId) ?? 0) + bytesQueued(request);
      byRuntime.set(runtimeId, own);
      all += bytesQueued(request);
      return all <= MOST_QUEUE_BYTES && (runtimeId === '' || own <= MOST_QUEUE_BYTES / 4);
    },
  };
};

/** `fits`: beside those before it in the queue. A step that has to wait and does not fit is sent back. */
const queuedStep = (
  state: GovernorState,
  request: StepRequest,
  fits: boolean,
  settings: GovernorSettings,
  now: number,
): GovernorDraft | null => {
  const ruled = step(state, request, settings, now);
  if (fits || ruled?.type === 'STEP_ADMITTED') return ruled;
  return stepRuling(request, 'STEP_WITHHELD', { why: 'queue_full', detail: QUEUE_FULL });
};

const QUEUE_FULL = `too many steps wait for the governor: ${MOST_QUEUE_BYTES / 1000} kB in all, and a quarter of it for one runtime. The step is requested again`;

/** Emitted even if nothing changes, to confirm the command. */
const commanded = ({ type, payload: { by, why } }: FleetCommand): GovernorDraft => {
  switch (type) {
    case 'HALT_FLEET':
      return govern({ type: 'FLEET_HALTED', payload: { by, why } });
    case 'RESUME_FLEET':
      return govern({ type: 'FLEET_RESUMED', payload: { by, why } });
    case 'DRY_RUN_ON':
    case 'DRY_RUN_OFF':
      return govern({ type: 'DRY_RUN_CHANGED', payload: { on: type === 'DRY_RUN_ON', by, why } });
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
  const why = withheldBy(state, request, settings, now);
  if (why !== null)
    return request.withheld === why
      ? null
      : stepRuling(request, 'STEP_WITHHELD', { why, detail: reasonOf(state, request, why) });
  if (request.step.class === 'soft' || now >= stepFreeFrom(state, request, settings))
    return stepRuling(request, 'STEP_ADMITTED', { validUntil: now + VALID_MS, dryRun: state.dryRun });
  const isOtherReason =
    request.withheld !== null && request.withheld !== 'budget' && turnFrom(state, request, settings) > now;
  return isOtherReason ? stepRuling(request, 'STEP_WITHHELD', { why: 'budget', detail: describeTurn(settings) }) : null;
};

const HALTED = 'the fleet is halted; `vigil resume` ends it';

const reasonOf = (state: GovernorState, request: StepRequest, why: 'halted' | 'brake'): string =>
  why === 'halted' ? HALTED : describeBrake(state, request);

const describeTurn = ({ stepsPerMinute, cooldownMs }: GovernorSettings): string =>
  `it waits for its turn: at most ${stepsPerMinute} a minute, and ${cooldownMs / 1000} s between two on one agent`;

const describeBrake = ({ brake }: GovernorState, request: StepRequest): string => {
  const awaited = incidentsOf(brake)
    .filter((incident) => covers(incident, request))
    .flatMap((incident) => incident.awaited.map(({ agentId }) => agentId));
  const more = awaited.length > 3 ? ` and ${awaited.length - 3} more` : '';
  return `the brake is on until over half of ${awaited.slice(0, 3).join(', ')}${more} send heartbeats for a minute, or \`vigil brake lift\``;
};

/** A spawn is ruled at once, unless no runtime has a template for it: then it waits for one. Over budget, the task goes to people at once and not an hour later. */
const spawn = (
  state: GovernorState,
  request: SpawnRequest,
  settings: GovernorSettings,
  now: number,
): GovernorDraft | null => {
  const unstartable = whyNoTemplate(state, request.spawn, now);
  if (request.withheld === 'no_template' && unstartable !== null) return null;
  const withheld = (why: WithheldWhy, detail: string) => spawnRuling(request, 'SPAWN_WITHHELD', { why, detail });
  if (state.halted) return withheld('halted', HALTED);
  // Recovery repeats a request that was answered by no_runtime, so it need not be kept here.
  if (unstartable !== null) return withheld(hasRoomToWait(state, request) ? 'no_template' : 'no_runtime', unstartable);
  const overBudget = overBudgetBy(state, request, settings, now);
  if (overBudget !== null) return withheld('budget', overBudget);
  const found = runtimeFor(state, request.spawn, settings, now);
  if ('none' in found) return withheld('no_runtime', found.none);
  const admission = { runtimeId: found.runtimeId, validUntil: now + VALID_MS, dryRun: state.dryRun };
  return spawnRuling(request, 'SPAWN_ADMITTED', admission);
};

/** The budget without room: the fleet's, else the one of the spawn's policy; null: both have room. */
const overBudgetBy = (
  state: GovernorState,
  request: SpawnRequest,
  settings: GovernorSettings,
  now: number,
): string | null => {
  const { scope, policy, spawn } = request;
  const over = (most: number | null, of: string, from: number) =>
    `${most} spawns an hour ${of}, at most half of them for one of several runtimes; free in ${Math.ceil((from - now) / 60_000)} min`;
  const ofFleet = spawnFreeFrom(state, request, settings);
  const ofPolicy = policyFreeFrom(state, request);
  if (now < ofFleet) return over(settings.spawnsPerHour, `for ${scope}`, ofFleet);
  return now < ofPolicy ? over(spawn.maxPerHour, `for ${scope} by policy ${policy}`, ofPolicy) : null;
};

/** Whether a spawn fits beside those that wait for a template: they carry labels, and are part of one record. */
const hasRoomToWait = ({ requests }: GovernorState, request: SpawnRequest): boolean => {
  const waiting = requests.filter((one) => one.kind === 'spawn' && one.withheld === 'no_template');
  return bytesOfAll([...waiting, request]) <= MOST_WAITING_BYTES;
};

const govern = (body: BodyOf<typeof Topic.fleetGovernance>): GovernorDraft => ({
  topic: Topic.fleetGovernance,
  key: 'fleet',
  ...body,
});

const brakeReleased = (by: string, why: string): GovernorDraft =>
  govern({ type: 'BRAKE_RELEASED', payload: { by, why } });

type StepTopic = typeof Topic.stepRuling;
type SpawnTopic = typeof Topic.spawnRuling;

const ofStep = ({ requestId, caseId, agentId, step }: StepRequest['step']) => ({ requestId, caseId, agentId, step });

const stepRuling = <Type extends BodyOf<StepTopic>['type']>(
  { step, correlationId }: StepRequest,
  type: Type,
  payload: RestOf<StepTopic, Type, ReturnType<typeof ofStep>>,
): DraftWith<StepTopic, Type, ReturnType<typeof ofStep>> => ({
  topic: Topic.stepRuling,
  type,
  key: step.agentId,
  correlationId,
  payload: { ...ofStep(step), ...payload },
});

const ofSpawn = ({ requestId, taskId, attempt }: SpawnRequest['spawn']) => ({ requestId, taskId, attempt });

const spawnRuling = <Type extends BodyOf<SpawnTopic>['type']>(
  { spawn, correlationId }: SpawnRequest,
  type: Type,
  payload: RestOf<SpawnTopic, Type, ReturnType<typeof ofSpawn>>,
): DraftWith<SpawnTopic, Type, ReturnType<typeof ofSpawn>> => ({
  topic: Topic.spawnRuling,
  type,
  key: spawn.taskId,
  correlationId,
  payload: { ...ofSpawn(spawn), ...payload },
});
