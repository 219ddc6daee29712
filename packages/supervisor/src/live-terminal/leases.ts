/** As the gateway offers it. `expiresInMs` 0: it has ended. */
export type TerminalLease = { readonly agentId: string; readonly leaseId: string; readonly expiresInMs: number };

/** Terminals that are published at once. */
export const MOST_TERMINALS = 8;

/**
 * Whose terminals are published, and until when. Times are on this machine's monotonic clock. A lease that is not renewed ends by itself.
 */
export class Leases {
  readonly #until = new Map<string, Map<string, number>>();

  /** True: the lease is new, so its page has no lines yet. */
  observe({ agentId, leaseId, expiresInMs }: TerminalLease, now: number): boolean {
    this.#forget(now);
    const ofAgent = this.#until.get(agentId) ?? new Map<string, number>();
    const isNew = !ofAgent.has(leaseId);
    if (expiresInMs > 0) ofAgent.set(leaseId, now + expiresInMs);
    else ofAgent.delete(leaseId);
    if (ofAgent.size > 0) this.#until.set(agentId, ofAgent);
    else this.#until.delete(agentId);
    return isNew && expiresInMs > 0;
  }

  /** The agents with a lease, the longest leased first. */
  agents(now: number): readonly string[] {
    this.#forget(now);
    return [...this.#until.keys()];
  }

  #forget(now: number): void {
    for (const [agentId, ofAgent] of this.#until) {
      for (const [leaseId, until] of ofAgent) if (until <= now) ofAgent.delete(leaseId);
      if (ofAgent.size === 0) this.#until.delete(agentId);
    }
  }
}
