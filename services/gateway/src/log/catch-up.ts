/** Reads what the log has by now. Resolves when all that was written before the call has been seen. */
export type CatchUp = () => Promise<void>;

/** However many ask at once, one reading is under way and one waits: it begins after all of them have asked. */
export const oneAtATime = (read: CatchUp): CatchUp => {
  let underWay: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | null = null;

  return () => {
    waiting ??= underWay
      .catch(() => {})
      .then(() => {
        waiting = null;
        underWay = read();
        return underWay;
      });
    return waiting;
  };
};
