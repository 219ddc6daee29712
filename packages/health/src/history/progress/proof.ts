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
  /** the targets whose last change failed without a later check that passed, with the ends of their names; the newest last */
  readonly unmade: readonly Unmade[];
  /** whether any call has succeeded. Where none has, its source may report each call as failed */
  readonly succeeded: boolean;
  /** whether the last call failed */
  readonly failed: boolean;
  /** the agent has been asked about this at the end of a turn; absent: it has not */
  readonly asked?: true;
};

export const NO_PROOF: Proof = { check: null, unchecked: false, unmade: [], succeeded: false, failed: false };

/** Words for a person ("its") or for the agent ("your"). */
type Words = (whose: 'its' | 'your') => string;

/**
 * What contradicts a completion. `needsCheck`: whether a change without a later check that passes does. `hasOthers`: whether
 * anything else contradicts it, so that a last call that failed does not count.
 */
export const contradictionsIn = (
  { check, unmade, succeeded, failed, unchecked }: Proof,
  { needsCheck, hasOthers }: { readonly needsCheck: boolean; readonly hasOthers: boolean },
): readonly Words[] => {
  const all: Words[] = [];
  if (check === 'failed') all.push((whose) => `${whose} last check failed`);
  for (const { name } of unmade) all.push((whose) => `${whose} last change of ${name} failed`);
  if (succeeded && failed && !hasOthers && all.length === 0) all.push((whose) => `${whose} last call failed`);
  if (needsCheck && unchecked && check !== 'failed')
    all.push((whose) => `no check has passed since ${whose} last change`);
  return all;
};

/** The question at the end of a turn, as a policy sets it. `needsCheck`: whether a change without a later check is asked about too. */
export type AskAtStop = { readonly needsCheck: boolean };

/**
 * The question to an agent that ends its turn, from what its calls contradict; null: none. It is asked once for one last
 * check, change or failure (`askedAtStop`).
 */
export const questionAtStop = (proof: Proof, ask: AskAtStop | null): string | null => {
  if (ask === null || proof.asked === true) return null;
  const found = contradictionsIn(proof, { needsCheck: ask.needsCheck, hasOthers: false });
  if (found.length === 0) return null;
  const words = found.map((one) => one('your')).join('; ');
  return `Vigil: you are about to stop, and ${words}. Finish it and check it, or report what is left and why.`;
};

/** After the agent was asked. A check, a change or a failed call is something new, and may be asked about again. */
export const askedAtStop = (proof: Proof): Proof => ({ ...proof, asked: true });

/** The calls of the agent itself among the reports of its session; those of sub-agents prove nothing about it. */
export const proofAfterReports = (
  before: Proof,
  reports: readonly { readonly agent: string | null; readonly fields: Partial<Heartbeat> }[],
): Proof =>
  reports
    .filter(({ agent }) => agent === null)
    .flatMap(({ fields }) => fields.tool_calls ?? [])
    .reduce(proofAfterCall, before);

/** Rate limits, refused and abandoned calls have no result, so they prove nothing. */
export const proofAfter = (before: Proof, { tool_calls: calls }: Heartbeat): Proof => {
  let after = before;
  for (const call of calls) after = proofAfterCall(after, call);
  return after;
};

export const proofAfterCall = (before: Proof, call: ToolCall): Proof => {
  if (!finished(call) || rateLimited(call)) return before;
  const failed = call.outcome === 'error';
  const passes = call.checking && !failed;
  const changes = call.mutating && !failed;
  const after: Proof = {
    check: call.checking ? (failed ? 'failed' : 'passed') : before.check,
    unchecked: passes ? false : before.unchecked || changes,
    unmade: passes ? [] : unmadeAfterCall(before.unmade, call, failed),
    succeeded: before.succeeded || !failed,
    failed,
    ...(before.asked === true && !(failed || call.checking || call.mutating) && { asked: true }),
  };
  return isSame(before, after) ? before : after;
};

const unmadeAfterCall = (before: readonly Unmade[], { mutating, target }: ToolCall, failed: boolean) =>
  mutating && target !== null ? unmadeAfter(before, target, failed) : before;

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
  a.failed === b.failed &&
  a.asked === b.asked;
