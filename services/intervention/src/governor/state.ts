import {
  type AdmitSpawnPayload,
  type AdmitStepPayload,
  type Draft,
  type EventOf,
  Topic,
  type WithheldWhy,
} from '@vigil/events';
import type { TemplateFit } from '@vigil/policy';
import type { AtRest } from '@vigil/stream';
import { type LiveAgents, moved, NO_AGENTS } from './places.ts';

type Reads = (typeof Topic)['admitStep' | 'controlFleet' | 'fleetPresence' | 'runtimePresence'];
type Writes = (typeof Topic)['stepRuling' | 'spawnRuling' | 'fleetGovernance'];
export type GovernorInput = EventOf<Reads>;
export type GovernorDraft = Draft<Writes>;

export const isFleetCommand = (input: GovernorInput): input is FleetCommand => input.topic === Topic.controlFleet;

/** A request that waits for a ruling, in order of arrival. */
export type AdmissionRequest = StepRequest | SpawnRequest;

type Requested = {
  readonly requestedAt: number;
  readonly correlationId: string;
  readonly scope: string;
  /** whose share of the budget it uses: the agent's runtime, of a spawn that of the dead agent; empty: none */
  readonly runtimeId: string;
};

export type StepRequest = Requested & {
  readonly kind: 'step';
  /** of the agent; empty: unknown */
  readonly host: string;
  /** why it waits, as the case was notified; null: it waits for its turn only */
  readonly withheld: WithheldWhy | null;
  readonly step: Pick<AdmitStepPayload, 'requestId' | 'caseId' | 'agentId' | 'step' | 'class'>;
};

export type SpawnRequest = Requested & {
  readonly kind: 'spawn';
  /** the name of the policy that recovers its task; empty: none */
  readonly policy: string;
  /** no runtime has a template for its task, as recovery was notified: it waits until one announces itself; null: it is ruled at once */
  readonly withheld: 'no_template' | null;
  readonly spawn: AdmitSpawnPayload;
};

export const requestIdOf = (request: AdmissionRequest): string =>
  request.kind === 'step' ? request.step.requestId : request.spawn.requestId;

/** What has been admitted and still counts against a budget or a cooldown. */
export type Admitted = {
  readonly kind: 'step' | 'spawn';
  readonly requestId: string;
  readonly scope: string;
  /** of a spawn: whose place it takes */
  readonly runtimeId: string | null;
  /** the runtime whose share of the budget it uses; empty: none */
  readonly shareOf: string;
  readonly agentId: string;
  /** of a spawn; absent: it is a step, or the state is older than this */
  readonly taskId?: string;
  /** of a spawn: the name of the policy that recovers its task; empty: none, or it is a step */
  readonly policy: string;
  readonly at: number;
  /** of a spawn: its runtime has listed the agent; absent: it has not */
  readonly isListed?: boolean;
  /** of a spawn: its agent is present; absent: it is not */
  readonly isPresent?: boolean;
};

export const taskKey = (taskId: string): string => `task:${taskId}`;

/** By what losses are counted: the task, or the agent without a task. An agent that is called as a task is not that task. */
export const lossKeyOf = (agentId: string, taskId: string | null): string =>
  taskId === null ? `agent:${agentId}` : taskKey(taskId);

/** An agent that was lost unexpectedly. Losses are counted by `lossKey`. */
export type Loss = {
  readonly agentId: string;
  readonly lossKey: string;
  readonly host: string;
  readonly runtimeId: string;
  readonly at: number;
  /** another agent had its task already, and lived: the brake does not wait for it; absent: none did */
  readonly isReplaced?: boolean;
  /** its end is reported: the brake does not wait for it without end; absent: it is not */
  readonly isCrashed?: boolean;
};

/** An agent that was first observed, or came back, with a task, and is present. */
export type Start = { readonly agentId: string; readonly taskId: string; readonly at: number };

/** Agents of one place that were lost in the same second. */
export type LossCount = {
  readonly host: string;
  readonly runtimeId: string;
  /** the second, epoch milliseconds */
  readonly at: number;
  readonly count: number;
};

/**
 * An agent that the brake waits for. `backSince`: since when it, or its task on another agent, sends heartbeats again.
 * `isPresent`: it is present itself; absent: it is not.
 */
export type AwaitedAgent = Loss & { readonly backSince: number | null; readonly isPresent?: boolean };

/**
 * A mass failure. `scope`: where the brake withholds steps for it: `fleet`, `host:<name>` or `runtime:<id>`. `since`:
 * when the first of its agents was lost.
 */
export type Incident = { readonly scope: string; readonly since: number; readonly awaited: readonly AwaitedAgent[] };

/** Never empty. It is released when all incidents are over. */
export type Brake = { readonly incidents: readonly Incident[] };

/** The mass failures that the brake has engaged for; none where it is off. */
export const incidentsOf = (brake: Brake | null): readonly Incident[] => brake?.incidents ?? [];

/** The brake of so many mass failures. */
export const brakeFor = (incidents: readonly Incident[]): Brake | null =>
  incidents.length === 0 ? null : { incidents };

/** The brake with other agents awaited. */
export const awaitedWith = (
  brake: Brake | null,
  change: (awaited: readonly AwaitedAgent[]) => readonly AwaitedAgent[],
): Brake | null => brakeFor(incidentsOf(brake).map((incident) => ({ ...incident, awaited: change(incident.awaited) })));

/** Whether an agent of this place is within the scope of an incident. */
export const covers = ({ scope }: Incident, { host, runtimeId }: Pick<Loss, 'host' | 'runtimeId'>): boolean =>
  scope === 'fleet' || scope === `host:${host}` || scope === `runtime:${runtimeId}`;

export type RuntimePresence = {
  readonly capacity: number;
  readonly busy: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly templates: readonly TemplateFit[];
  readonly announcedAt: number;
};

/** A person's command to the whole fleet. */
export type FleetCommand = EventOf<typeof Topic.controlFleet>;

/** The one key of the fleet. Each of its lists has a limit, because a broker accepts a record of 1 MiB. */
export type GovernorState = {
  readonly liveAgents: LiveAgents;
  readonly runtimes: Readonly<Record<string, RuntimePresence>>;
  readonly losses: readonly Loss[];
  /** the latest starts, oldest first; absent: none is kept */
  readonly starts: readonly Start[];
  /** losses that do not engage the brake: these agents still count as part of the fleet for a while */
  readonly uncounted: readonly LossCount[];
  /** losses that do, above those that are kept by name */
  readonly unnamed: readonly LossCount[];
  readonly brake: Brake | null;
  readonly halted: boolean;
  readonly dryRun: boolean;
  readonly requests: readonly AdmissionRequest[];
  readonly admitted: readonly Admitted[];
};

/** The stored form of the governor's state. Shape 6 added `since` to incidents. Shape 7 counts agents by place. Shape 8 counts spawns by policy. */
export const AT_REST: AtRest<GovernorState> = {
  oldest: 5,
  upgrades: [
    { usual: null, to: (state) => withSince(state as ShapeFive) },
    { usual: null, to: (state) => withCounts(state as ShapeSix) },
    { usual: null, to: (state) => withPolicies(state as ShapeSeven) },
  ],
  usual: null,
};

type SpawnOfSeven = Omit<SpawnRequest, 'policy' | 'spawn'> & { readonly spawn: Omit<AdmitSpawnPayload, 'maxPerHour'> };

type ShapeSeven = Omit<GovernorState, 'requests' | 'admitted'> & {
  readonly requests: readonly (StepRequest | SpawnOfSeven)[];
  readonly admitted: readonly Omit<Admitted, 'policy'>[];
};

type ShapeSix = Omit<ShapeSeven, 'liveAgents' | 'starts' | 'unnamed'> & {
  /** absent: none was kept */
  readonly starts?: readonly Start[];
  /** names by host and runtime */
  readonly liveAgents: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
};

type ShapeFive = Omit<ShapeSix, 'brake'> & {
  readonly brake: null | { readonly incidents: readonly Omit<Incident, 'since'>[] };
};

const withPolicies = (state: ShapeSeven): GovernorState => ({
  ...state,
  requests: state.requests.map((request) =>
    request.kind === 'step' ? request : { ...request, policy: '', spawn: { ...request.spawn, maxPerHour: null } },
  ),
  admitted: state.admitted.map((one) => ({ ...one, policy: '' })),
});

const withCounts = (state: ShapeSix): ShapeSeven => {
  const places = Object.entries(state.liveAgents).flatMap(([host, runtimes]) =>
    Object.entries(runtimes).flatMap(([runtimeId, names]) =>
      names.map((name) => ({ name, place: { host, runtimeId } })),
    ),
  );
  const names = new Set(places.map(({ name }) => name));
  const isPresent = ({ agentId }: { readonly agentId: string }) => names.has(agentId);
  const keyed = <One extends Loss>(one: One): One => ({
    ...one,
    lossKey: lossKeyOf(one.agentId, one.lossKey === one.agentId ? null : one.lossKey),
  });
  return {
    ...state,
    liveAgents: places.reduce((live, { place }) => moved(live, null, place), NO_AGENTS),
    unnamed: [],
    losses: state.losses.map(keyed),
    starts: (state.starts ?? []).filter(isPresent),
    admitted: state.admitted.map((one) => (one.kind === 'spawn' && isPresent(one) ? { ...one, isPresent: true } : one)),
    brake: awaitedWith(state.brake, (awaited) =>
      awaited.map((one) => (isPresent(one) ? { ...keyed(one), isPresent: true } : keyed(one))),
    ),
  };
};

const withSince = (state: ShapeFive): ShapeSix => ({
  ...state,
  brake: brakeFor(
    (state.brake?.incidents ?? []).map((incident) => ({ ...incident, since: sinceOf(incident.awaited) })),
  ),
});

/** When the first of these was lost. An incident without agents is over, so its beginning has no meaning. */
export const sinceOf = (losses: readonly Loss[]): number =>
  losses.reduce((first, { at }) => Math.min(first, at), losses[0]?.at ?? 0);

export const initial: GovernorState = {
  liveAgents: NO_AGENTS,
  runtimes: {},
  losses: [],
  starts: [],
  uncounted: [],
  unnamed: [],
  brake: null,
  halted: false,
  dryRun: false,
  requests: [],
  admitted: [],
};
