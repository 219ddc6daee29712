import type { World } from './agent.ts';
import { pause } from './clock.ts';
import type { RuntimeConfig } from './runtime-config.ts';

type Host = { readonly config: RuntimeConfig; readonly host: string };

/** Says that this runtime is there, until the signal fires. Only the newest announcement matters, so one that fails is not kept. */
export const announce = async (
  world: World,
  { config, host }: Host,
  agents: () => readonly string[],
  signal: AbortSignal,
): Promise<void> => {
  const { runtime: runtimeId, capacity } = config;
  const labels = { host, ...config.labels };
  while (!signal.aborted) {
    const payload = { runtimeId, host, capacity, agents: agents(), labels };
    await world.gateway
      .report([{ type: 'RUNTIME_ANNOUNCED', payload }])
      .catch((error: unknown) => world.log('the runtime is not announced', { error: String(error) }));
    await pause(config.announce, signal);
  }
};
