/** Its marks are written once a second: without an acknowledgement for this time nothing is written, milliseconds. */
const MUTE_MS = 3000;
/** Three looks at `/ready`, as deploy/ has them. */
const SEEN_AGAIN_MS = 15_000;

/**
 * Whether agents reach Kafka through this instance, and records for them reach it. `now`: epoch milliseconds.
 * `isFollowing`: orders, policies and presence are read as they come.
 */
export const createReach = (now: () => number, isFollowing: () => boolean) => {
  let writtenAt = now();
  let readySince = Number.NEGATIVE_INFINITY;
  let wasReady = true;
  const isReady = (): boolean => {
    const is = isFollowing() && Math.abs(now() - writtenAt) <= MUTE_MS;
    if (is && !wasReady) readySince = now();
    wasReady = is;
    return is;
  };
  return {
    /** A write has been acknowledged. */
    written: (): void => {
      isReady();
      writtenAt = now();
      isReady();
    },
    isReady,
    /** Whether its agents can be missed: after a time in which it was not ready, only when those who share out connections have had time to see it. */
    isOpen: (): boolean => isReady() && now() - readySince >= SEEN_AGAIN_MS,
  };
};
