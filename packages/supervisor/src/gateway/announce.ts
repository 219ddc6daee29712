import { pause } from '../clock.ts';
import type { GatewayDeps } from '../deps.ts';
import type { RuntimeConfig } from '../runtime/runtime-config.ts';

type Host = { readonly config: RuntimeConfig; readonly host: string };

/**
 * Announces this runtime until the signal fires; then announces that it has no room, so that no task waits for an
 * agent that will never start.
 * Only the newest announcement counts, so a failed one is not kept.
 */
export const announce = async (
  deps: Pick<GatewayDeps, 'gateway' | 'log'>,
  { config, host }: Host,
  agents: () => readonly string[],
  signal: AbortSignal,
): Promise<void> => {
  const { runtime: runtimeId, capacity } = config;
  const labels = { host, ...config.labels };
  const templates = config.templates.map((one) => ({ task: one.task, labels: one.labels }));
  const report = (room: number): Promise<void> =>
    deps.gateway
      .report([
        {
          type: 'RUNTIME_ANNOUNCED',
          payload: { runtimeId, host, capacity: room, agents: agents(), labels, templates },
        },
      ])
      .catch((error: unknown) => deps.log('the runtime is not announced', { error: String(error) }));
  while (!signal.aborted) {
    await report(capacity);
    await pause(config.announce, signal);
  }
  await report(0);
};
