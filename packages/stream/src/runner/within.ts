/** The time limit has passed. The operation may continue, and end later. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/**
 * Waits for at most `ms` milliseconds, then throws NoAnswer. The client's promises may hang for ever after a broker
 * restart, and one hanging promise would stop every partition.
 */
export const within = async <T>(ms: number, job: Promise<T>, what: string): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new NoAnswer(`${what}: no answer within ${Math.round(ms)} ms`)), ms);
  try {
    return await Promise.race([job, promise]);
  } finally {
    clearTimeout(timer);
  }
};
