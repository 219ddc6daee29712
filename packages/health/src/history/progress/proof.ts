import type { ToolCall } from '@vigil/events';
import { finished, rateLimited } from '../calls/calls.ts';
import { hash32 } from '../hash.ts';
import type { Heartbeat } from '../moment.ts';

/** The number of targets with a failed change that are stored. With more, the oldest is dropped. */
export const UNMADE = 3;
export const UNMADE_CHARACTERS = 80;

type Unmade = { readonly sign: number; readonly name: string };

/** What the calls for the present task show about its completion. */
export type Proof = {
  /** the outcome of the last check; null: none was made */
  readonly check: 'passed' | 'failed' | null;
  /** whether a change has succeeded since the last check that passed */
  readonly unchecked: boolean;
  /** the targets whose last change failed, with the ends of their names; the newest last */
  readonly unmade: readonly Unmade[];
  /** whether any call has succeeded. Where none has, its source may report each call as failed */
  readonly succeeded: boolean;
  /** whether the last call failed */
  readonly failed: boolean;
};

export const NO_PROOF: Proof = { check: null, unchecked: false, unmade: [], succeeded: false, failed: false };

/** Rate limits, refused and abandoned calls have no result, so they prove nothing. */
export const proofAfter = (before: Proof, { tool_calls: calls }: Heartbeat): Proof => {
  let after = before;
  for (const call of calls) if (finished(call) && !rateLimited(call)) after = afterCall(after, call);
  return after;
};

const afterCall = (before: Proof, call: ToolCall): Proof => {
  const failed = call.outcome === 'error';
  const passes = call.checking && !failed;
  const changes = call.mutating && !failed;
  const after: Proof = {
    check: call.checking ? (failed ? 'failed' : 'passed') : before.check,
    unchecked: passes ? false : before.unchecked || changes,
    unmade: call.mutating && call.target !== null ? unmadeAfter(before.unmade, call.target, failed) : before.unmade,
    succeeded: before.succeeded || !failed,
    failed,
  };
  return isSame(before, after) ? before : after;
};

const unmadeAfter = (before: readonly Unmade[], target: string, failed: boolean): readonly Unmade[] => {
  const sign = hash32(target);
  if (!failed && !before.some((one) => one.sign === sign)) return before;
  const others = before.filter((one) => one.sign !== sign);
  return failed ? [...others.slice(1 - UNMADE), { sign, name: target.slice(-UNMADE_CHARACTERS) }] : others;
};

const isSame = (a: Proof, b: Proof): boolean =>
  a.check === b.check &&
  a.unchecked === b.unchecked &&
  a.unmade === b.unmade &&
  a.succeeded === b.succeeded &&
  a.failed === b.failed;
