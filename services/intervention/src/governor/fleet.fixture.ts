import { type PayloadOf, type Place, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { decider } from './governor.ts';
import { type GovernorSettings, usual } from './settings.ts';
import { type GovernorDraft, type GovernorInput, initial } from './state.ts';

type Presence = typeof Topic.fleetPresence;

export const T0 = EXAMPLE_TIME;
export const SEC = 1000;
export const MIN = 60 * SEC;

export const present = (agentId: string, rest: Partial<PayloadOf<Presence, 'AGENT_PRESENT'>> = {}) =>
  example(Topic.fleetPresence, 'AGENT_PRESENT', {
    agentId,
    taskId: `task-${agentId}`,
    host: 'h1',
    runtimeId: `rt-${agentId}`,
    previousPlace: null,
    ...rest,
  });

export const lost = (agentId: string, rest: Partial<PayloadOf<Presence, 'AGENT_LOST'>> = {}) =>
  example(Topic.fleetPresence, 'AGENT_LOST', {
    agentId,
    taskId: `task-${agentId}`,
    host: 'h1',
    runtimeId: `rt-${agentId}`,
    previousPlace: null,
    expected: false,
    instanceId: `${agentId}.i1`,
    exemption: null,
    observedMs: 5 * MIN,
    ...rest,
  });

export const admitStep = (
  agentId: string,
  kind: 'soft' | 'destructive' = 'destructive',
  rest: { labels?: Record<string, string>; runtimeId?: string | null } = {},
) =>
  example(Topic.admitStep, 'ADMIT_STEP', {
    agentId,
    caseId: `case-${agentId}`,
    requestId: `case-${agentId}-r1`,
    step: kind === 'soft' ? 'nudge' : 'terminate',
    class: kind,
    labels: {},
    ...rest,
  });

export const withdrawStep = (agentId: string) =>
  example(Topic.admitStep, 'WITHDRAW_STEP', { agentId, requestId: `case-${agentId}-r1` });

export const admitSpawn = (taskId: string, rest: Partial<PayloadOf<typeof Topic.admitStep, 'ADMIT_SPAWN'>> = {}) =>
  example(Topic.admitStep, 'ADMIT_SPAWN', {
    requestId: `spawn-${taskId}`,
    taskId,
    preferRuntimeId: null,
    notRuntimeIds: [],
    labels: {},
    maxPerHour: null,
    ...rest,
  });

export const withdrawSpawn = (taskId: string) =>
  example(Topic.admitStep, 'WITHDRAW_STEP', { agentId: taskId, requestId: `spawn-${taskId}` });

export const announces = (
  runtimeId: string,
  rest: Partial<PayloadOf<typeof Topic.runtimePresence, 'RUNTIME_ANNOUNCED'>> = {},
) =>
  example(Topic.runtimePresence, 'RUNTIME_ANNOUNCED', {
    runtimeId,
    capacity: 100,
    agents: [],
    labels: {},
    templates: [{ task: '*', labels: {} }],
    ...rest,
  });

export const controls = (type: 'HALT_FLEET' | 'RESUME_FLEET' | 'DRY_RUN_ON' | 'DRY_RUN_OFF' | 'LIFT_BRAKE') =>
  example(Topic.controlFleet, type, { by: 'ada', why: 'drill' });

/** Adds the previous place to presence, as the evaluator does. */
export const placing = (): ((input: GovernorInput) => GovernorInput) => {
  const places = new Map<string, Place>();
  return (input) => {
    if (input.type !== 'AGENT_PRESENT' && input.type !== 'AGENT_LOST') return input;
    const { agentId, host, runtimeId } = input.payload;
    const previousPlace = input.payload.previousPlace ?? places.get(agentId) ?? null;
    if (input.type === 'AGENT_PRESENT') places.set(agentId, { host, runtimeId });
    else places.delete(agentId);
    return { ...input, payload: { ...input.payload, previousPlace } } as GovernorInput;
  };
};

/** A governor over a fleet of `live` agents, a0, a1 …, ten to a host. */
export const fleet = (liveAgents = 0, settings: Partial<GovernorSettings> = {}, before = initial) => {
  const driver = given(decider({ ...usual, ...settings }), T0, before);
  const placed = placing();
  const drafts = (input: GovernorInput) => driver.receive(placed(input));
  for (let i = 0; i < liveAgents; i++) drafts(present(`a${i}`, { host: `h${Math.floor(i / 10)}` }));
  return {
    ...driver,
    drafts,
    receive: (input: GovernorInput) => words(drafts(input)),
    receiveAll: (inputs: readonly GovernorInput[]) => words(driver.receiveAll(inputs.map(placed))),
    after: (ms: number) => words(driver.passTo(driver.clock().now + ms)),
  };
};

const words = (drafts: readonly GovernorDraft[]): readonly string[] => drafts.map(word);

const word = (draft: GovernorDraft): string => {
  switch (draft.type) {
    case 'STEP_ADMITTED':
      return `admits ${draft.payload.agentId}${draft.payload.dryRun ? ' dry' : ''}`;
    case 'STEP_WITHHELD':
      return `withholds ${draft.payload.agentId} ${draft.payload.why}`;
    case 'SPAWN_ADMITTED':
      return `spawns ${draft.payload.taskId} on ${draft.payload.runtimeId}${draft.payload.dryRun ? ' dry' : ''}`;
    case 'SPAWN_WITHHELD':
      return `withholds ${draft.payload.taskId} ${draft.payload.why}`;
    case 'BRAKE_ENGAGED':
      return `BRAKE_ENGAGED ${draft.payload.scope}`;
    default:
      return draft.type;
  }
};
