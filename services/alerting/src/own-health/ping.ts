const LIMIT_MS = 10_000;

/** One request to the outside address. The error names its host only, because the path is a secret. */
export const ping = async (url: string): Promise<void> => {
  const { host } = new URL(url);
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'user-agent': 'Vigil' },
    redirect: 'manual',
    signal: AbortSignal.timeout(LIMIT_MS),
  }).catch((error: unknown) => {
    const { name, cause, message } = error as Error;
    const why = name === 'TimeoutError' ? 'no answer in time' : cause instanceof Error ? cause.message : message;
    throw new Error(`the ping of ${host} does not arrive: ${why}`);
  });
  await answer.body?.cancel().catch(() => {});
  if (!answer.ok) throw new Error(`the ping of ${host} is answered with ${answer.status}: correct VIGIL_DEADMAN_URL`);
};
