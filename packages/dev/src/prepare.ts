import { endWith, Refusal } from './refusal.ts';
import type { Environment } from './servers/running-servers.ts';
import { givenServers } from './servers/servers.ts';
import { prepareServers } from './system/prepare-servers.ts';

/**
 * Creates topics, schemas and tables on the servers of the environment. Compose and Kubernetes run it once before the
 * services.
 */
const prepare = async (env: Environment): Promise<void> => {
  const given = givenServers(env);
  if (given === null)
    throw new Refusal('give KAFKA_BROKERS, SCHEMA_REGISTRY_URL and DATABASE_URL of the servers to prepare');
  await prepareServers(given, (line) => console.log(line));
};

await prepare(process.env).catch(endWith);
