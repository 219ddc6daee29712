/** Whether agents reach Kafka through this instance. */
export type Reach = {
  /** A write has been acknowledged. */
  readonly written: () => void;
  readonly isReady: () => boolean;
  /** Whether its agents can be missed: after a time in which it was not ready, only when those who share out connections have had time to see it. */
  readonly isOpen: () => boolean;
};

/** Its marks are written once a second: without an acknowledgement for so long nothing is written, milliseconds. */
const MUTE_MS = 3000;
/** Three looks at `/ready`, as deploy/ has them. */
const SEEN_AGAIN_MS = 15_000;

/** `now`: epoch milliseconds */
export const createReach = (now: () => number): Reach => {
  let writtenAt = now();
  let readySince = Number.NEGATIVE_INFINITY;
  const isReady = () => Math.abs(now() - writtenAt) <= MUTE_MS;
  return {
    written: () => {
      if (!isReady()) readySince = now();
      writtenAt = now();
    },
    isReady,
    isOpen: () => isReady() && now() - readySince >= SEEN_AGAIN_MS,
  };
};
