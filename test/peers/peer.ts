import type { HealthState } from '@vigil/events';
import type { Call, HeartbeatPayload } from '@vigil/health/fixture';

/** A call of a suite, hashed as by the SDK. If a suite gives no results, every call has the same result. */
export type Act = {
  readonly tool: string;
  readonly args?: unknown;
  readonly result?: unknown;
  /** whether it is reported when it begins, and again when it ends */
  readonly announced?: boolean;
} & Partial<Pick<Call, 'outcome' | 'error_class' | 'mutating' | 'polling' | 'target' | 'kind'>> & {
    /** from its start to its deadline, milliseconds */
    readonly within?: number;
  };

/** The steps, in order. A call or a heartbeat is 5 s after the previous step. */
export type Step =
  | { readonly kind: 'act'; readonly call: Act; readonly instance: string | null }
  | { readonly kind: 'heartbeat'; readonly heartbeat: Partial<HeartbeatPayload> }
  /** time passes; `alive`: whether its runtime sends a heartbeat every 30 s */
  | { readonly kind: 'wait'; readonly ms: number; readonly alive: boolean }
  | { readonly kind: 'hold' }
  | { readonly kind: 'exit'; readonly reason: 'finished' | 'crashed' }
  /** compares the present state with the suite's expectation */
  | { readonly kind: 'look' };

/**
 * The expectation of a suite: one of these states; `plan`: the `when` of the plan that holds, null for none;
 * `contains`: words of the evidence.
 */
export type Asked = {
  readonly state: readonly HealthState[];
  readonly plan?: string | null;
  readonly contains?: string;
};

/** One agent under one policy (by default the suite's): its steps, and the expectation at each look and at the end. */
export type Replay = { readonly given: readonly Step[]; readonly expected: readonly Asked[]; readonly policy?: string };

/**
 * The compared hashes of two or more calls: of their arguments with the tool, of their results, or of the results with
 * all varying parts masked.
 */
export type Compared = 'call' | 'result' | 'masked';

/** A test of a suite. `differs`: why Vigil's answer differs on purpose. */
export type PeerCase = { readonly name: string; readonly differs?: string } & (
  | { readonly kind: 'replay'; readonly replays: readonly Replay[] }
  | {
      readonly kind: 'hash';
      readonly of: Compared;
      /** the same hash, another, or hashes of one length */
      readonly expected: 'alike' | 'different' | 'sized';
      readonly values: readonly { readonly tool?: string; readonly value: unknown }[];
    }
  | { readonly kind: 'outside'; readonly why: string }
);

export type Suite = {
  readonly name: string;
  /** the project, file and commit whose tests are restated, and its licence */
  readonly source: string;
  readonly policy: string;
  /** how its terms map to Vigil's */
  readonly read: readonly string[];
  readonly cases: readonly PeerCase[];
};

type Differing = { readonly differs?: string };
type More = Differing & { readonly policy?: string };

/** One agent. */
export const replay = (name: string, given: readonly Step[], expected: readonly Asked[], more: More = {}): PeerCase => {
  const { policy, ...differs } = more;
  return {
    kind: 'replay',
    name,
    ...differs,
    replays: [{ given, expected, ...(policy === undefined ? {} : { policy }) }],
  };
};
/** Several agents, or one under several policies. */
export const replays = (name: string, all: readonly Replay[], differs: Differing = {}): PeerCase => {
  return { kind: 'replay', name, ...differs, replays: all };
};
export const hash = (
  name: string,
  of: Compared,
  expected: 'alike' | 'different' | 'sized',
  values: readonly { readonly tool?: string; readonly value: unknown }[],
  differs: Differing = {},
): PeerCase => ({ kind: 'hash', name, of, expected, values, ...differs });
export const outside = (why: string, ...names: readonly string[]): PeerCase[] =>
  names.map((name) => ({ kind: 'outside', name, why }));

export const is = (...state: readonly HealthState[]): Asked => ({ state });

export const act = (call: Act, instance: string | null = 'i1'): Step => ({ kind: 'act', call, instance });
export const heartbeatStep = (heartbeat: Partial<HeartbeatPayload>): Step => ({ kind: 'heartbeat', heartbeat });
export const wait = (ms: number): Step => ({ kind: 'wait', ms, alive: false });
export const watched = (ms: number): Step => ({ kind: 'wait', ms, alive: true });
export const HOLD: Step = { kind: 'hold' };
export const LOOK: Step = { kind: 'look' };
export const exit = (reason: 'finished' | 'crashed'): Step => ({ kind: 'exit', reason });

/** `n` steps, each from its number. */
export const times = (n: number, step: (i: number) => Step | readonly Step[]): Step[] =>
  Array.from({ length: n }, (_, i) => step(i)).flat();

export const SEC = 1000;
export const MIN: number = 60 * SEC;
