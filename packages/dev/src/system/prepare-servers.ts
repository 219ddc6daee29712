import { registerSchemas, registryFrom } from '@vigil/events';
import { databaseUrlFrom, migrate } from '@vigil/read-model';
import { applyTopics, kafkaFrom } from '@vigil/stream';
import { type EmbeddedEnv, isEmbedded, type ServersEnv } from '../servers/running-servers.ts';

/** Creates the topics, schemas and tables of this code; existing ones stay. A log in a file creates its own topics. */
export const prepareServers = async (env: ServersEnv | EmbeddedEnv, onLine: (line: string) => void): Promise<void> => {
  if (!isEmbedded(env)) await prepareKafka(env, onLine);
  await migrate(databaseUrlFrom(env));
  onLine('tables');
};

const prepareKafka = async (env: ServersEnv, onLine: (line: string) => void): Promise<void> => {
  const { changes, tooFewReplicas } = await applyTopics({
    kafka: kafkaFrom({ ...env, KAFKA_BROKERS: env.KAFKA_BROKERS.split(',') }),
    partitions: Number(env.VIGIL_PARTITIONS),
    replicas: Number(env.VIGIL_REPLICAS),
  });
  onLine(`topics (${changes.length} changed)`);
  if (tooFewReplicas.length > 0)
    onLine(`${tooFewReplicas.length} topics have fewer replicas than VIGIL_REPLICAS: \`vigil topics plan\` names them`);
  await registerSchemas(registryFrom(env));
  onLine('schemas');
};
