import { existsSync } from 'node:fs';
import path from 'node:path';
import { root } from '../paths.ts';
import type { ServersEnv } from '../servers/servers.ts';
import type { ServiceName } from './services.ts';

// Parts that other packages may not offer yet: each is used once it is there, and said to be missing until then.

export const mainOf = (name: ServiceName): string => path.join(root, 'services', name, 'src/main.ts');

export const isBuilt = (name: ServiceName): boolean => existsSync(mainOf(name));

type Topics = { readonly applyTopics?: (options: { readonly brokers: readonly string[] }) => Promise<unknown> };

export const applyTopics = async ({ KAFKA_BROKERS }: ServersEnv): Promise<string> => {
  const stream = (await import('@vigil/stream')) as object as Topics;
  if (stream.applyTopics === undefined) return 'topics: @vigil/stream offers no applyTopics yet';
  await stream.applyTopics({ brokers: KAFKA_BROKERS.split(',') });
  return 'topics';
};

const cli = path.join(root, 'packages/cli/src/main.ts');
const fleetConfig = path.join(root, 'packages/dev/src/fleet/runtime.yaml');

/** Arguments for Node; null while there is no command line. */
export const watchingView = (): readonly string[] | null => (existsSync(cli) ? [cli, 'health', '--watch'] : null);

/** Arguments for Node that run the demonstration fleet; null while there is none. */
export const demonstrationFleet = (): readonly string[] | null =>
  existsSync(cli) && existsSync(fleetConfig) ? [cli, 'runtime', '--config', fleetConfig] : null;
