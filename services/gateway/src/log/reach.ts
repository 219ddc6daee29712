/** Whether agents reach Kafka through this instance, and records for them reach it. */
export type Reach = {
  /** A write has been acknowledged. */
  readonly written: () => void;
  readonly isReady: () => boolean;
  /** Whether its agents can be missed: after a time in which it was not ready, only when those who share out connections have had time to see it. */
  readonly isOpen: () => boolean;
};

/** Its marks are written once a second: without an acknowledgement for this time nothing is written, milliseconds. */
const MUTE_MS = 3000;
/** Three looks at `/ready`, as deploy/ has them. */
const SEEN_AGAIN_MS = 15_000;

/** `now`: epoch milliseconds. `isFollowing`: orders, policies and presence are read as they come */
export const createReach = (now: () => number, isFollowing: () => boolean): Reach => {
  let writtenAt = now();
  let readySince = Number.NEGATIVE_INFINITY;
  let wasReady = true;
  const isReady = () => {
    const is = isFollowing() && Math.abs(now() - writtenAt) <= MUTE_MS;
    if (is && !wasReady) readySince = now();
    wasReady = is;
    return is;
  };
  return {
    written: () => {
      isReady();
      writtenAt = now();
      isReady();
    },
    isReady,
    isOpen: () => isReady() && now() - readySince >= SEEN_AGAIN_MS,
  };
};
