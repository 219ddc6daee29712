import type { AgentSpec } from '../agent/agent-spec.ts';
import type { MachineClock } from '../clock.ts';
import { attemptsOf, isLastAttempt } from './state-files.ts';

/** How an agent is judged. */
export type Judgement = {
  readonly policy: string | null;
  /** as it was served; undefined: it is not known */
  readonly policyDocument: unknown;
  /** epoch milliseconds */
  readonly startedAt: number;
};

/** The spec as judged: with the policy that applies, and the number of attempts that it sets. */
export const judgedSpec = (spec: AgentSpec, monitor: Judgement): AgentSpec => ({
  ...spec,
  policy: monitor.policy,
  // An agent that no spawn order started received no number.
  maxAttempts: spec.maxAttempts ?? attemptsOf(monitor.policyDocument),
});

/** Whether no attempt at its task is left after this one. */
export const isOnLastAttempt = (
  { clock }: { readonly clock: MachineClock },
  judged: AgentSpec,
  { policyDocument, startedAt }: Judgement,
): boolean => isLastAttempt(policyDocument, judged, clock.now() - startedAt);
