/** Rejects if there is no answer within so many milliseconds. */
export const within = async <T>(limitMs: number, answer: Promise<T>): Promise<T> => {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${limitMs / 1000} s`)), limitMs);
  answer.catch(() => {});
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};
