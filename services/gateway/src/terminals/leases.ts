import type { EventOf, Topic } from '@vigil/events';
import { keep } from '../state/agent-registry.ts';

/** The longest time for which a terminal is published without a renewal, milliseconds. */
export const LONGEST_LEASE_MS = 60_000;
/** Leases that are remembered. */
const MOST_LEASES = 10_000;

/** A lease in the form that runtimes receive; its rest counts on the receiver's monotonic clock. 0: it has ended. */
export type OfferedLease = { readonly agentId: string; readonly leaseId: string; readonly expiresInMs: number };

/** `place`: of its newest record. `offeredAt`: the place that its runtime has received here. */
type Lease = { readonly agentId: string; readonly until: number; readonly place: number; offeredAt: number };

/** Whose terminals people look at. Times are epoch milliseconds by the brokers' clock. */
export const createTerminalLeases = () => {
  const leases = new Map<string, Lease>();

  return {
    /** `place`: its offset. The newest record of a lease counts, in any order of the calls: those of an agent are in one partition. */
    observe: ({ payload }: EventOf<typeof Topic.leaseTerminal>, timestamp: number, place: number): void => {
      const { agentId, leaseId, ttlMs } = payload;
      const known = leases.get(leaseId);
      if (known !== undefined && (known.place >= place || known.agentId !== agentId)) return;
      const until = timestamp + Math.min(ttlMs, LONGEST_LEASE_MS);
      keep(leases, MOST_LEASES, leaseId, { agentId, until, place, offeredAt: known?.offeredAt ?? -1 });
    },
    isLeased: (agentId: string, now: number): boolean =>
      [...leases.values()].some((lease) => lease.agentId === agentId && lease.until > now),
    /** What a runtime has not received here: each renewal once, and the end of a lease that it has received. */
    offersFor: (isItsAgent: (agentId: string) => boolean, now: number): readonly OfferedLease[] => {
      const offered: OfferedLease[] = [];
      for (const [leaseId, lease] of leases) {
        if (lease.until + LONGEST_LEASE_MS <= now) leases.delete(leaseId);
        if (!isItsAgent(lease.agentId) || lease.offeredAt >= lease.place) continue;
        const isUnknown = lease.offeredAt < 0;
        lease.offeredAt = lease.place;
        const expiresInMs = Math.max(0, lease.until - now);
        if (expiresInMs > 0 || !isUnknown) offered.push({ agentId: lease.agentId, leaseId, expiresInMs });
      }
      return offered;
    },
  };
};
