import { registerSchemas } from '@vigil/events';
import { migrate } from '@vigil/read-model';
import { applyTopics } from '@vigil/stream';
import type { ServersEnv } from '../servers/running-servers.ts';

/** Topics, schemas and tables of this code; existing ones stay. */
export const prepareServers = async (env: ServersEnv, onLine: (line: string) => void): Promise<void> => {
  const { changes, tooFewReplicas } = await applyTopics({
    brokers: env.KAFKA_BROKERS.split(','),
    partitions: Number(env.VIGIL_PARTITIONS),
    replicas: Number(env.VIGIL_REPLICAS),
  });
  onLine(`topics (${changes.length} changed)`);
  if (tooFewReplicas.length > 0)
    onLine(`${tooFewReplicas.length} topics have fewer replicas than VIGIL_REPLICAS: \`vigil topics plan\` names them`);
  await registerSchemas(env.SCHEMA_REGISTRY_URL);
  onLine('schemas');
  await migrate(env.DATABASE_URL);
  onLine('tables');
};
