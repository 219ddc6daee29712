import type { Answer, Transport } from '../transport/transport.ts';
import type { Breakers } from './breakers.ts';
import { describeError } from './error-class.ts';
import { breakersIn } from './policy-limits.ts';

/** How long reading a policy may take. */
const POLICY_MS = 10_000;

/**
 * Sets the breakers' limits from the policy that answers name. Reads it when its hash changes, and again after a
 * failed read.
 */
export class PolicyFollower {
  readonly #transport: Transport;
  readonly #breakers: Breakers;
  readonly #onProblem: (problem: string) => void;
  #hash: string | null = null;

  constructor(transport: Transport, breakers: Breakers, onProblem: (problem: string) => void) {
    this.#transport = transport;
    this.#breakers = breakers;
    this.#onProblem = onProblem;
  }

  apply(policy: Answer['policy']): void {
    if (policy === null || policy.hash === this.#hash) return;
    this.#hash = policy.hash;
    this.#transport.policy(policy.name, AbortSignal.timeout(POLICY_MS)).then(
      (document) => this.#breakers.follow(breakersIn(document)),
      (error: unknown) => {
        this.#hash = null;
        this.#onProblem(`policy ${policy.name} cannot be read: ${describeError(error)}`);
      },
    );
  }
}
