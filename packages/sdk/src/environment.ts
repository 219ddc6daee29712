import type { Settings } from './connect.ts';
import { overGateway } from './transport/gateway.ts';
import { overKafka } from './transport/kafka.ts';
import { overSocket } from './transport/socket.ts';
import type { OpenTransport } from './transport/transport.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const wayOf = (env: Environment): OpenTransport | undefined => {
  const { VIGIL_SOCKET, VIGIL_GATEWAY_URL: url, VIGIL_GATEWAY_TOKEN: token = '', KAFKA_BROKERS: brokers } = env;
  if (VIGIL_SOCKET) return overSocket(VIGIL_SOCKET);
  if (url) return overGateway({ url, token });
  if (!brokers) return undefined;
  return overKafka({ brokers: brokers.split(','), registryUrl: env.SCHEMA_REGISTRY_URL || undefined });
};

/**
 * The agent and the transport that the environment names, for `connect({ ...fromEnvironment(), … })`: VIGIL_AGENT_ID,
 * VIGIL_TASK_ID, VIGIL_ATTEMPT; VIGIL_SOCKET (under `vigil run`), else VIGIL_GATEWAY_URL and VIGIL_GATEWAY_TOKEN,
 * else KAFKA_BROKERS and SCHEMA_REGISTRY_URL.
 * A setting that the environment does not name is absent and overrides nothing.
 */
export const fromEnvironment = (env: Environment = process.env): Partial<Settings> => {
  const over = wayOf(env);
  return {
    ...(env.VIGIL_AGENT_ID ? { agentId: env.VIGIL_AGENT_ID } : {}),
    ...(env.VIGIL_TASK_ID ? { taskId: env.VIGIL_TASK_ID } : {}),
    ...(env.VIGIL_ATTEMPT ? { attempt: Number(env.VIGIL_ATTEMPT) } : {}),
    ...(over === undefined ? {} : { over }),
  };
};
