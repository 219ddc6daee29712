import type { Heartbeat, RegistryVariables } from '@vigil/events';
import type { KafkaVariables } from '@vigil/stream';
import { call, type GatewayWay, openGateway, openInbox } from './gateway.ts';
import type { KafkaClient } from './kafka-client.ts';
import { noAnswer, type OpenTransport } from './transport.ts';

export type KafkaWay = {
  readonly brokers: readonly string[];
  /** Confluent-compatible: heartbeats are Avro with it, and JSON without it; Vigil reads both */
  readonly registryUrl?: string | undefined;
  /** variables of TLS, SASL and the registry's authentication, such as `process.env`; without them there is neither */
  readonly env?: (KafkaVariables & RegistryVariables) | undefined;
  /** the gateway to fetch orders from: Kafka delivers none */
  readonly gateway?: GatewayWay | undefined;
};

/** Only this transport loads the Kafka client and Avro. */
const open = async (way: KafkaWay, clientId: string): Promise<KafkaClient> => {
  const { openKafkaClient } = await import('./kafka-client.ts');
  return openKafkaClient(way, clientId);
};

const before = <T>(signal: AbortSignal, done: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) reject(new Error('given up'));
    signal.addEventListener('abort', () => reject(new Error('the broker does not answer in time')), { once: true });
    done.then(resolve, reject);
  });

/** Heartbeats straight to Kafka, under the agent's key. The client keeps the process alive until the agent is closed. */
export const overKafka =
  (way: KafkaWay): OpenTransport =>
  (deps) => {
    const { agentId, instanceId, policy, labels } = deps.identity;
    const gateway =
      way.gateway === undefined ? null : openGateway(way.gateway, { now: deps.system.now, onProblem: deps.onProblem });
    const inbox = gateway === null ? null : openInbox(gateway, deps);
    let opening: Promise<KafkaClient> | null = null;
    let writing: { readonly sequence: number | null; readonly done: Promise<void> } | null = null;

    const opened = (): Promise<KafkaClient> => {
      opening ??= open(way, `vigil-sdk-${agentId}`).catch((error: unknown) => {
        opening = null;
        throw error;
      });
      return opening;
    };
    const write = async (heartbeat: Heartbeat): Promise<void> => {
      const client = await opened();
      await client.write(agentId, heartbeat, deps.system.now);
    };
    /**
     * A write whose caller has given up may still be under way in the client: wait for it again instead of writing
     * twice.
     */
    const written = (heartbeat: Heartbeat): Promise<void> => {
      if (writing?.sequence === heartbeat.sequence) return writing.done;
      const own = { sequence: heartbeat.sequence, done: write(heartbeat) };
      const over = () => {
        if (writing === own) writing = null;
      };
      own.done.then(over, over);
      writing = own;
      return own.done;
    };
    const query = new URLSearchParams({ instance: instanceId, ...(policy === null ? {} : { policy }) });
    for (const [name, value] of Object.entries(labels)) query.append('label', `${name}=${value}`);
    const path = `/v1/agents/${encodeURIComponent(agentId)}/orders?${query}`;

    return {
      local: false,
      send: async (heartbeat, signal) => {
        await before(signal, written(heartbeat));
        if (inbox === null || gateway === null) return noAnswer;
        return inbox
          .collect(() => call(gateway, path, signal))
          .catch((error: Error) => {
            deps.onProblem(`no orders can be asked for: ${error.message}`);
            return noAnswer;
          });
      },
      policy: async (name, signal) => (inbox === null ? null : inbox.policy(name, signal)),
      close: async () => {
        if (opening === null) return;
        const client = await opening;
        await client.close();
      },
    };
  };
