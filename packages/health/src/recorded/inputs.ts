import type { Heartbeat } from '@vigil/events';
import type { CompiledPolicy, Use } from '@vigil/policy';
import type { SignalName } from '../signals/all.ts';
import type { RecordedCall, RecordedRun } from './run.ts';

/** What a record can contain, in words for people. */
export const INPUTS = {
  heartbeats: 'heartbeats',
  output: 'output',
  checkpoints: 'checkpoints',
  work: 'work items',
  steps: 'steps',
  turns: 'turns',
  activity: 'reported activity',
  start: 'start before the first call',
  tokens: 'tokens',
  context: 'use of the context',
  limits: 'exceeded limits',
  exit: 'reported end',
  error_counts: 'error counts',
  error_classes: 'error classes',
  targets: 'targets of calls',
  arguments: 'arguments',
  results: 'results',
  outcomes: 'err or outcome of calls',
  call_starts: 'starts of calls',
  times: 'times',
} as const;

export type Input = keyof typeof INPUTS;

type Needs = (limits: Readonly<Record<string, unknown>>) => readonly Input[];
const needs =
  (...inputs: readonly Input[]): Needs =>
  () =>
    inputs;

const isFilled = (list: unknown): boolean => Array.isArray(list) && list.length > 0;

/** What each signal needs, with its limits. Without any one of these it never fires. */
const NEEDS: Readonly<Record<SignalName, Needs>> = {
  no_heartbeat: needs('heartbeats'),
  no_activity: needs('times'),
  no_calls: needs('times'),
  no_output: needs('output', 'times'),
  no_checkpoint: ({ assume_checkpoints }) => (assume_checkpoints === true ? ['times'] : ['checkpoints', 'times']),
  no_tokens: needs('tokens', 'times'),
  no_work_update: needs('work', 'times'),
  no_claim_refresh: needs('work', 'times'),
  no_completion: needs('output', 'times'),
  no_step: needs('steps', 'times'),
  not_started: needs('start', 'times'),
  progress_mismatch: needs('work', 'times'),
  call_overdue: needs('call_starts', 'times'),
  no_model_answer: needs('turns', 'times'),
  repeated_calls: needs('arguments', 'results'),
  repeated_answer: needs('results'),
  repeated_arguments: needs('arguments'),
  frequent_call: needs('arguments', 'results'),
  repeated_error: needs('outcomes'),
  same_target: needs('targets'),
  no_accept: needs('steps'),
  consecutive_failures: needs('outcomes'),
  error_rate: needs('outcomes'),
  reported_errors: needs('error_counts'),
  call_budget: ({ per }) => (per === 'turn' ? ['turns'] : []),
  token_spike: needs('tokens', 'times'),
  token_burn: needs('tokens', 'times'),
  context_exhausted: needs('context'),
  rate_limited: needs('error_classes'),
  error_pattern: needs('output'),
  unrecoverable_error: ({ patterns }) => (isFilled(patterns) ? [] : ['error_classes']),
  breaker_open: needs('outcomes'),
  exited: needs('exit'),
  self_reported_stuck: needs('activity'),
  blocked: needs('activity'),
  false_completion: needs('outcomes'),
  diverse_calls: needs('arguments'),
  steady_tokens: needs('tokens', 'times'),
  resource_limit: needs('limits'),
};

const missingFor = ({ signal, limits }: Use, inputs: ReadonlySet<Input>): readonly Input[] =>
  NEEDS[signal as SignalName](limits as Readonly<Record<string, unknown>>).filter((input) => !inputs.has(input));

/** A signal of a policy that a record cannot make fire, and what the record lacks. */
export type Unfed = { readonly name: string; readonly missing: readonly Input[] };

/** `canFlag`: whether the other signals can make a run STUCK or FAILING. */
export type Fed = { readonly unfed: readonly Unfed[]; readonly canFlag: boolean };

/** The signals that make a state of the policy, against what a record contains. */
export const fedBy = ({ uses, states }: CompiledPolicy, inputs: ReadonlySet<Input>): Fed => {
  const used = new Set(states.flatMap(({ anyOf }) => anyOf.flat()));
  const missing = uses.map((use) => missingFor(use, inputs));
  const canFire = (together: readonly number[]): boolean => together.every((i) => missing[i]?.length === 0);
  return {
    unfed: uses.flatMap(({ name }, i) => {
      const lacks = missing[i] ?? [];
      return used.has(i) && lacks.length > 0 ? [{ name, missing: lacks }] : [];
    }),
    canFlag: states.some(({ state, anyOf }) => state !== 'DEGRADED' && anyOf.some(canFire)),
  };
};

/**
 * The policy for a run without times. Its calls count as a gap apart, which is not observed: nothing that needs times
 * makes a state.
 */
export const withoutTimes = (policy: CompiledPolicy): CompiledPolicy => {
  const isTimed = ({ signal, limits }: Use): boolean =>
    NEEDS[signal as SignalName](limits as Readonly<Record<string, unknown>>).includes('times');
  const timed = new Set(policy.uses.flatMap((use, i) => (isTimed(use) ? [i] : [])));
  return {
    ...policy,
    uses: policy.uses.map((use) => ({ ...use, unless: use.unless.filter((i) => !timed.has(i)) })),
    states: policy.states.map(({ state, anyOf }) => ({
      state,
      anyOf: anyOf.filter((together) => !together.some((i) => timed.has(i))),
    })),
  };
};

/** Whether the run has any time of a call. */
export const hasTimes = ({ calls }: RecordedRun): boolean =>
  calls.some(({ ts, started_at, ended_at }) => (ts ?? started_at ?? ended_at) !== null);

const OF_CALLS: Readonly<Partial<Record<Input, (call: RecordedCall) => boolean>>> = {
  error_classes: ({ error_class }) => error_class !== null,
  targets: ({ target }) => target !== null,
  arguments: ({ args, args_h }) => (args ?? args_h) !== null,
  results: ({ result, res_h }) => (result ?? res_h) !== null,
  outcomes: ({ err, outcome }) => err !== null || (outcome !== null && outcome !== 'running'),
  call_starts: ({ started_at, outcome }) => started_at !== null || outcome === 'running',
  tokens: ({ token_count }) => token_count !== null,
};

/** What a recorded run contains. */
export const inputsOfRun = (run: RecordedRun): ReadonlySet<Input> => {
  const found = Object.entries(OF_CALLS).flatMap(([input, has]) => (run.calls.some(has) ? [input as Input] : []));
  return new Set([...found, ...(hasTimes(run) ? (['times'] as const) : [])]);
};

/** What the adapter of a client reports of every session. */
const OF_SESSIONS: readonly Input[] = ['activity', 'start', 'error_classes', 'targets', 'outcomes', 'call_starts'];

/** What the reports of an agent of a session contain. `isTimed`: whether the session has times. */
export const inputsOfSession = (reports: readonly Partial<Heartbeat>[], isTimed: boolean): ReadonlySet<Input> => {
  const has = (of: (report: Partial<Heartbeat>) => unknown) => reports.some((report) => of(report) != null);
  const calls = reports.flatMap(({ tool_calls }) => tool_calls ?? []);
  const hasHash = (of: (call: (typeof calls)[number]) => string | null) => calls.length === 0 || calls.some(of);
  return new Set<Input>([
    ...OF_SESSIONS,
    ...(hasHash(({ args_hash }) => args_hash) ? (['arguments'] as const) : []),
    ...(hasHash(({ result_hash }) => result_hash) ? (['results'] as const) : []),
    ...(isTimed ? (['times'] as const) : []),
    ...(has(({ turn }) => turn) ? (['turns'] as const) : []),
    ...(has(({ token_count }) => token_count) ? (['tokens'] as const) : []),
    ...(has(({ context }) => context) ? (['context'] as const) : []),
  ]);
};
