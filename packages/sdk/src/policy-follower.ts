import type { Breakers } from './breakers.ts';
import { inWords } from './error-class.ts';
import { breakersIn } from './policy-limits.ts';
import type { Answer, Transport } from './transport/transport.ts';

/** How long a policy may take to come. */
const POLICY_MS = 10_000;

/** Gives the breakers the limits of the policy that answers name: asked for when its hash changes, and again after it did not come. */
export class PolicyFollower {
  readonly #transport: Transport;
  readonly #breakers: Breakers;
  readonly #tell: (problem: string) => void;
  #hash: string | null = null;

  constructor(transport: Transport, breakers: Breakers, tell: (problem: string) => void) {
    this.#transport = transport;
    this.#breakers = breakers;
    this.#tell = tell;
  }

  heed(policy: Answer['policy']): void {
    if (policy === null || policy.hash === this.#hash) return;
    this.#hash = policy.hash;
    this.#transport.policy(policy.name, AbortSignal.timeout(POLICY_MS)).then(
      (document) => this.#breakers.follow(breakersIn(document)),
      (error: unknown) => {
        this.#hash = null;
        this.#tell(`policy ${policy.name} cannot be read: ${inWords(error)}`);
      },
    );
  }
}
