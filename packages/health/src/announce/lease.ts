import type { History } from '../history/history.ts';

/** How long a warrant holds, and how often it is renewed, milliseconds (the policy's `warrant`). */
type Terms = { readonly renewMs: number; readonly voidMs: number };

/** A silence that has lasted so long seldom ends, milliseconds. */
const SILENCE_MS = 3_600_000;

/**
 * From when a warrant is renewed less and less often: from the end, or when the agent has been silent for an hour. In the future while
 * heartbeats arrive.
 */
export const quietFrom = ({ lastReceipt, end }: Pick<History, 'lastReceipt' | 'end'>): number =>
  end?.at ?? lastReceipt.now + SILENCE_MS;

/**
 * An end does not change, so its warrant is renewed ever less often: after half of the end's age. A dead agent that is not recovered costs
 * some twenty renewals until it is forgotten, instead of one every `renewMs`. A silent one that sends a heartbeat renews at once.
 */
const intervalAt = (now: number, quietAt: number, { renewMs }: Terms): number => Math.max(renewMs, (now - quietAt) / 2);

/** Until when a warrant holds that is filed or renewed now. */
export const leaseOf = (now: number, quietAt: number, terms: Terms): number =>
  now + Math.round((intervalAt(now, quietAt, terms) * terms.voidMs) / terms.renewMs);

/** When it is renewed next: found from its end, so that the state remembers one moment and not two. */
export const renewalOf = (voidAt: number, quietAt: number, terms: Terms): number => {
  const plain = voidAt - terms.voidMs;
  if (plain - quietAt <= 2 * terms.renewMs) return plain + terms.renewMs;
  const leases = terms.voidMs / terms.renewMs / 2;
  const issued = (voidAt + leases * quietAt) / (1 + leases);
  return Math.floor(issued + (issued - quietAt) / 2);
};
