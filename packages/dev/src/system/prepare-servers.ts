import { registerSchemas } from '@vigil/events';
import { migrate } from '@vigil/read-model';
import { applyTopics } from '@vigil/stream';
import type { ServersEnv } from '../servers/servers.ts';

/** Topics, schemas and tables as this code wants them; what is there already stays. */
export const prepareServers = async (env: ServersEnv, onLine: (line: string) => void): Promise<void> => {
  const changes = await applyTopics({ brokers: env.KAFKA_BROKERS.split(',') });
  onLine(`topics (${changes.length} changed)`);
  await registerSchemas(env.SCHEMA_REGISTRY_URL);
  onLine('schemas');
  await migrate(env.DATABASE_URL);
  onLine('tables');
};
