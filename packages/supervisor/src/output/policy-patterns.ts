import type { PolicyRef } from '@vigil/events';
import { z } from 'zod';
import type { Log, MachineClock } from '../clock.ts';
import type { Gateway } from '../gateway/gateway-client.ts';
import type { PolicyPatterns } from './patterns.ts';
import { readPolicyPatterns } from './policy-reading.ts';

type Parts = { readonly gateway: Pick<Gateway, 'policy'>; readonly clock: MachineClock; readonly log: Log };

/** How long a request for a policy may take, and after how long a failed one is repeated, milliseconds. */
const patienceMs = 10_000;
const retryAfterMs = 10_000;
/** Policies that are kept: more than one host's agents are judged by. */
const maxCached = 16;

type CachedPolicy = { readonly policyPatterns: PolicyPatterns; readonly document: unknown };

const served = z.object({ hash: z.string(), document: z.unknown() });

/** What each policy requests of this host, fetched once for all its agents. */
export class PolicyPatternCache {
  readonly #parts: Parts;
  readonly #cached = new Map<string, CachedPolicy>();
  readonly #asking = new Map<string, Promise<PolicyPatterns | null>>();
  #notBefore = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** null: it is not available now; the caller keeps the previous one, and calls again. Never rejects. */
  of(policy: PolicyRef): Promise<PolicyPatterns | null> {
    const { hash } = policy;
    const cached = this.#cached.get(hash);
    if (cached !== undefined) return Promise.resolve(cached.policyPatterns);
    const under = this.#asking.get(hash);
    if (under !== undefined) return under;
    if (this.#parts.clock.monotonic() < this.#notBefore) return Promise.resolve(null);
    const asking = this.#fetch(policy).finally(() => this.#asking.delete(hash));
    this.#asking.set(hash, asking);
    return asking;
  }

  /** The document as it was served; plain JSON. undefined: it is not cached. */
  documentOf(hash: string): unknown {
    return this.#cached.get(hash)?.document;
  }

  async #fetch({ name, hash }: PolicyRef): Promise<PolicyPatterns | null> {
    const { gateway, clock, log } = this.#parts;
    try {
      const answer = served.parse(await gateway.policy(name, AbortSignal.timeout(patienceMs)));
      if (answer.hash !== hash) throw new Error(`it has come as ${answer.hash}: another version`);
      const { policyPatterns, problems } = readPolicyPatterns(answer.document);
      if (problems.length > 0) log('parts of a policy are not looked for', { policy: name, hash, problems });
      this.#keep(hash, { policyPatterns, document: answer.document });
      return policyPatterns;
    } catch (error) {
      this.#notBefore = clock.monotonic() + retryAfterMs;
      log('a policy cannot be read; agents are watched as before', { policy: name, hash, error: String(error) });
      return null;
    }
  }

  #keep(hash: string, cached: CachedPolicy): void {
    this.#cached.set(hash, cached);
    const [oldest] = this.#cached.keys();
    if (this.#cached.size > maxCached && oldest !== undefined) this.#cached.delete(oldest);
  }
}
