import { registerSchemas } from '@vigil/events';
import { migrate } from '@vigil/read-model';
import type { ServersEnv } from '../servers/servers.ts';
import { applyTopics } from './not-yet.ts';

/** Topics, schemas and tables as this code wants them; what is there already stays. */
export const prepareServers = async (env: ServersEnv, onLine: (line: string) => void): Promise<void> => {
  onLine(await applyTopics(env));
  await registerSchemas(env.SCHEMA_REGISTRY_URL);
  onLine('schemas');
  await migrate(env.DATABASE_URL);
  onLine('tables');
};
