import type { BreakerLimits } from '@vigil/circuit-breaker';
import type { Answer, Transport } from '../transport/transport.ts';
import { type Breakers, type Limits, usualLimits } from './breakers.ts';
import { describeError } from './error-class.ts';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration as policies spell it. Without @vigil/policy, which would bring in the whole language. */
const durationOf = (value: unknown): number | null => {
  const found = typeof value === 'string' ? /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(value.trim()) : null;
  return found === null ? null : Math.round(Number(found[1]) * (UNIT_MS[found[2] ?? ''] ?? 0));
};

const atLeastOne = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 ? value : null;

type Written = {
  readonly failure_threshold?: unknown;
  readonly recovery_timeout?: unknown;
  readonly half_open_requests?: unknown;
};

const limitsOf = (written: unknown, usual: BreakerLimits): BreakerLimits => {
  if (typeof written !== 'object' || written === null) return usual;
  const { failure_threshold, recovery_timeout, half_open_requests } = written as Written;
  return {
    failureThreshold: atLeastOne(failure_threshold) ?? usual.failureThreshold,
    recoveryTimeoutMs: durationOf(recovery_timeout) ?? usual.recoveryTimeoutMs,
    halfOpenRequests: atLeastOne(half_open_requests) ?? usual.halfOpenRequests,
  };
};

/** The breakers of a policy's document as the gateway serves it. */
const breakersIn = (document: unknown): Limits => {
  const { breakers } = (document ?? {}) as { readonly breakers?: unknown };
  const written = (breakers ?? {}) as Readonly<Record<string, unknown>>;
  return {
    tool_execution: limitsOf(written.tool_execution, usualLimits.tool_execution),
    external_api: limitsOf(written.external_api, usualLimits.external_api),
    checkpoint_write: limitsOf(written.checkpoint_write, usualLimits.checkpoint_write),
  };
};

/** How long reading a policy may take. */
const POLICY_MS = 10_000;

/**
 * Sets the breakers' limits from the policy that answers name. Reads it when its hash changes, and again after a
 * failed read.
 */
export const policyFollower = (transport: Transport, breakers: Breakers, onProblem: (problem: string) => void) => {
  let hash: string | null = null;
  return (policy: Answer['policy']): void => {
    if (policy === null || policy.hash === hash) return;
    hash = policy.hash;
    transport.policy(policy.name, AbortSignal.timeout(POLICY_MS)).then(
      (document) => breakers.follow(breakersIn(document)),
      (error: unknown) => {
        hash = null;
        onProblem(`policy ${policy.name} cannot be read: ${describeError(error)}`);
      },
    );
  };
};
