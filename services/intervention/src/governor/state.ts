import type { AdmitSpawnPayload, AdmitStepPayload, Draft, EventOf, Topic } from '@vigil/events';

type Reads = (typeof Topic)['admitStep' | 'steerFleet' | 'fleetPresence' | 'runtimePresence'];
type Writes = (typeof Topic)['stepRuling' | 'spawnRuling' | 'fleetGovernance'];
export type GovernorInput = EventOf<Reads>;
export type GovernorDraft = Draft<Writes>;

/** Somebody waits for a ruling, in order of arrival. */
export type Asked =
  | {
      readonly kind: 'step';
      readonly askedAt: number;
      readonly correlationId: string;
      readonly scope: string;
      readonly step: Pick<AdmitStepPayload, 'requestId' | 'caseId' | 'agentId' | 'step' | 'class'>;
    }
  | {
      readonly kind: 'spawn';
      readonly askedAt: number;
      readonly correlationId: string;
      readonly scope: string;
      readonly spawn: AdmitSpawnPayload;
    };

/** What has been admitted and still counts against a budget or a cooldown. */
export type Admitted = {
  readonly kind: 'step' | 'spawn';
  readonly requestId: string;
  readonly scope: string;
  /** of a spawn: whose place it takes */
  readonly runtimeId: string | null;
  readonly agentId: string;
  readonly at: number;
};

/** An agent gone unexpectedly. `matter`: its task, or itself where it has none: losses are counted by it. */
export type Loss = {
  readonly agentId: string;
  readonly matter: string;
  readonly host: string;
  readonly runtimeId: string;
  readonly at: number;
};

/** One of those that the brake waits for. `backSince`: since when it, or its task on another agent, beats again. */
export type Missing = Loss & { readonly backSince: number | null };

/** `later`: those of each further mass failure while it is on; absent: none. It lifts when all of them are over. */
export type Brake = { readonly missing: readonly Missing[]; readonly later?: readonly (readonly Missing[])[] };

export type RuntimeKnown = {
  readonly capacity: number;
  readonly busy: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly announcedAt: number;
};

/** What a person said, for one call only. */
export type Steering = {
  readonly say: 'halt' | 'resume' | 'dry_run_on' | 'dry_run_off' | 'lift_brake';
  readonly by: string;
  readonly why: string;
};

/** The one key of the fleet. Of each live agent it holds its name once, under its host and runtime: some 40 bytes. */
export type GovernorState = {
  readonly live: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  readonly runtimes: Readonly<Record<string, RuntimeKnown>>;
  readonly losses: readonly Loss[];
  readonly brake: Brake | null;
  readonly halted: boolean;
  readonly dryRun: boolean;
  readonly asked: readonly Asked[];
  readonly admitted: readonly Admitted[];
  readonly steering: Steering | null;
};

export const initial: GovernorState = {
  live: {},
  runtimes: {},
  losses: [],
  brake: null,
  halted: false,
  dryRun: false,
  asked: [],
  admitted: [],
  steering: null,
};
