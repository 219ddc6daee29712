/** Aborted by the first Ctrl-C or SIGTERM; `code` is what the command then ends with. */
export const interruption = (): { readonly signal: AbortSignal; readonly code: () => number | null } => {
  const controller = new AbortController();
  let code: number | null = null;
  const on = (name: 'SIGINT' | 'SIGTERM' | 'SIGHUP', number: number): void => {
    process.on(name, () => {
      code ??= 128 + number;
      controller.abort();
    });
  };
  on('SIGINT', 2);
  on('SIGTERM', 15);
  on('SIGHUP', 1);
  return { signal: controller.signal, code: () => code };
};
