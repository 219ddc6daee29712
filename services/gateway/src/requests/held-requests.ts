/** A request whose hook has waited here. `polls`: the hook's requests that wait now. */
type Held = { readonly agentId: string; polls: number; lastAt: number; writtenAt: number };

export type HeldRequests = ReturnType<typeof createHeldRequests>;
export type RequestRef = { readonly requestId: string; readonly agentId: string };

/** A hook whose connection broke has this time to ask again, milliseconds. */
export const GRACE_MS = 30_000;
/** A request is written again if nothing is known of it after this time, milliseconds. */
export const WRITE_AGAIN_MS = 5000;
const NOT_YET = Number.NEGATIVE_INFINITY;

/** The requests whose hooks wait at this ingress. `startedAt`: epoch milliseconds */
export const createHeldRequests = (startedAt: number) => {
  const held = new Map<string, Held>();
  const leave = (requestId: string, one: Held): void => {
    // One that never reached the log needs no withdrawal.
    if (one.polls === 0 && one.writtenAt === NOT_YET) held.delete(requestId);
  };
  return {
    /** Its hook waits. Call the result when the hook does not wait any more; `isOver`: it has what became of the request. */
    wait: ({ requestId, agentId }: RequestRef, now: number): ((isOver: boolean, at: number) => void) => {
      const one = held.get(requestId) ?? { agentId, polls: 0, lastAt: now, writtenAt: NOT_YET };
      held.set(requestId, one);
      one.polls += 1;
      return (isOver, at) => {
        one.polls -= 1;
        one.lastAt = at;
        if (isOver) held.delete(requestId);
        else leave(requestId, one);
      };
    },
    /** Whether it is to be written now; from then on it has been. */
    isUnwritten: (requestId: string, now: number): boolean => {
      const one = held.get(requestId);
      if (one === undefined || one.writtenAt + WRITE_AGAIN_MS > now) return false;
      one.writtenAt = now;
      return true;
    },
    /** Those whose hook has not waited for the grace, also of the time before this process; each is returned once. `open`: what the log has as held here. */
    lost: (open: readonly RequestRef[], now: number): readonly RequestRef[] => {
      const gone = [...held].filter(([, { polls, lastAt }]) => polls === 0 && lastAt + GRACE_MS <= now);
      for (const [requestId] of gone) held.delete(requestId);
      const earlier = startedAt + GRACE_MS <= now ? open.filter(({ requestId }) => !held.has(requestId)) : [];
      const known = new Set(gone.map(([requestId]) => requestId));
      return [
        ...gone.map(([requestId, { agentId }]) => ({ requestId, agentId })),
        ...earlier.filter(({ requestId }) => !known.has(requestId)),
      ];
    },
    size: (): number => held.size,
  };
};
