/** Chains that are remembered in a partition, beside the newest of each key. */
const MOST_CHAINS = 10_000;

type Chain = { readonly correlationId: string; readonly traceparent: string };

/**
 * The traces of the inputs of a partition, so that an event of a deadline continues the trace of the input that it
 * follows. Kept in memory only: after a restart, deadlines of earlier inputs have no trace. Empty while no input has one.
 */
export class TraceMemory {
  readonly #newest = new Map<string, Chain>();
  /** by correlation id, the oldest first */
  readonly #chains = new Map<string, string>();

  remember(key: string, correlationId: string, traceparent: string): void {
    this.#newest.set(key, { correlationId, traceparent });
    this.#chains.delete(correlationId);
    this.#chains.set(correlationId, traceparent);
    if (this.#chains.size <= MOST_CHAINS) return;
    const [oldest] = this.#chains.keys();
    if (oldest !== undefined) this.#chains.delete(oldest);
  }

  /** The trace of a chain of this key; undefined if there is none, or it has been forgotten. */
  traceOf(key: string, correlationId: string): string | undefined {
    const newest = this.#newest.get(key);
    return newest?.correlationId === correlationId ? newest.traceparent : this.#chains.get(correlationId);
  }

  forget(key: string): void {
    this.#newest.delete(key);
  }
}
