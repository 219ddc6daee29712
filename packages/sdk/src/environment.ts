import type { Settings } from './connect.ts';
import { overGateway } from './transport/gateway.ts';
import { overKafka } from './transport/kafka.ts';
import { overSocket } from './transport/socket.ts';
import type { Over } from './transport/transport.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const wayOf = (env: Environment): Over | undefined => {
  const { VIGIL_SOCKET, VIGIL_GATEWAY_URL: url, VIGIL_GATEWAY_TOKEN: token = '', KAFKA_BROKERS: brokers } = env;
  if (VIGIL_SOCKET) return overSocket(VIGIL_SOCKET);
  if (url) return overGateway({ url, token });
  if (!brokers) return undefined;
  return overKafka({ brokers: brokers.split(','), registryUrl: env.SCHEMA_REGISTRY_URL || undefined });
};

const numberOf = (text: string | undefined): number | undefined => (text ? Number(text) : undefined);

/**
 * What the environment says of agent and way, for `connect({ ...fromEnvironment(), … })`: VIGIL_AGENT_ID, VIGIL_TASK_ID, VIGIL_ATTEMPT;
 * VIGIL_SOCKET (under `vigil run`), else VIGIL_GATEWAY_URL and VIGIL_GATEWAY_TOKEN, else KAFKA_BROKERS and SCHEMA_REGISTRY_URL.
 */
export const fromEnvironment = (env: Environment = process.env): Partial<Settings> => ({
  ...(env.VIGIL_AGENT_ID ? { agentId: env.VIGIL_AGENT_ID } : {}),
  taskId: env.VIGIL_TASK_ID || undefined,
  attempt: numberOf(env.VIGIL_ATTEMPT),
  over: wayOf(env),
});
