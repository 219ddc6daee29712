const POLL_MS = 500;

/** The wrapper that started this process and forwards signals; null without one. */
const handedOverBy = (env: NodeJS.ProcessEnv): number | null =>
  env.VIGIL_HANDED_OVER_BY === String(process.ppid) ? process.ppid : null;

/** Aborted by the first Ctrl-C or SIGTERM, or when the wrapper is gone. `code` is the exit code of the command. */
export const interruption = (
  env: NodeJS.ProcessEnv,
): { readonly signal: AbortSignal; readonly code: () => number | null } => {
  const controller = new AbortController();
  let code: number | null = null;
  const interrupt = (number: number): void => {
    code ??= 128 + number;
    controller.abort();
  };
  const on = (name: 'SIGINT' | 'SIGTERM' | 'SIGHUP', number: number): void => {
    process.on(name, () => interrupt(number));
  };
  on('SIGINT', 2);
  on('SIGTERM', 15);
  on('SIGHUP', 1);
  const parent = handedOverBy(env);
  if (parent !== null) setInterval(() => process.ppid !== parent && interrupt(15), POLL_MS).unref();
  return { signal: controller.signal, code: () => code };
};
