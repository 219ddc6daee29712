/** Waits at most so long. The client's promises may hang for ever after a broker restart, and one that hangs stops every partition. */
export const within = async <T>(ms: number, job: Promise<T>, what: string): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${what}: no answer within ${ms} ms`)), ms);
  try {
    return await Promise.race([job, promise]);
  } finally {
    clearTimeout(timer);
  }
};
