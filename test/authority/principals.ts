import type { PayloadOf, Topic } from '@vigil/events';
import { type TestSystem, until } from '../support/system.ts';

/** `body`: JSON; of a refusal the problem. */
type Answer = { readonly status: number; readonly body: unknown };

/** Requests with one token. */
type Client = {
  readonly get: (path: string) => Promise<Answer>;
  readonly post: (path: string, body: object) => Promise<Answer>;
};

/** What a token permits. What is left out it does not permit. */
type Claims = {
  readonly tasks?: readonly string[];
  readonly labels?: Readonly<Record<string, readonly string[]>>;
  readonly policies?: readonly string[];
  readonly capacity?: number;
};

export const clientOf = (url: string, token: string): Client => {
  const send = async (to: string, request: RequestInit): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(url + to, { ...request, headers });
    return { status: response.status, body: await response.json() };
  };
  return {
    get: (to) => send(to, { method: 'GET' }),
    post: (to, body) => send(to, { method: 'POST', body: JSON.stringify(body) }),
  };
};

/** A token that the gateway of this system has signed. */
export const createToken = async (
  { system }: TestSystem,
  kind: 'agent' | 'runtime',
  name: string,
  claims: Claims,
): Promise<string> => {
  const operator = clientOf(system.env.VIGIL_GATEWAY_URL, system.env.VIGIL_GATEWAY_TOKEN);
  const { status, body } = await operator.post('/v1/tokens', { kind, name, ...claims, by: 'test' });
  if (status !== 201) throw new Error(`no token for ${kind} ${name}: ${status} ${JSON.stringify(body)}`);
  return (body as { readonly token: string }).token;
};

/** A heartbeat of the only instance of an agent. */
const heartbeat = (agentId: string, more: object) => ({
  agent_id: agentId,
  instance_id: `${agentId}.i1`,
  task_id: null,
  timestamp: Date.now(),
  phase: 'work',
  last_tool_call: null,
  token_count: null,
  error_count: 0,
  progress_indicator: '',
  ...more,
});

export type Agent = Client & {
  readonly report: (more: object) => Promise<Answer>;
  readonly orders: () => Promise<readonly { readonly type: string }[]>;
};

/** An agent without a runtime, with a token of its own. */
export const openAgent = async (vigil: TestSystem, name: string, claims: Claims): Promise<Agent> => {
  const client = clientOf(vigil.system.env.VIGIL_GATEWAY_URL, await createToken(vigil, 'agent', name, claims));
  return {
    ...client,
    report: (more) => client.post('/v1/heartbeats', heartbeat(name, more)),
    orders: async () => {
      const { body } = await client.get(`/v1/agents/${name}/orders?instance=${name}.i1`);
      return (body as { readonly orders: readonly { readonly type: string }[] }).orders;
    },
  };
};

type Spawn = PayloadOf<typeof Topic.agentOrder, 'SPAWN_AGENT'>;
type Offered = {
  readonly type: string;
  readonly payload: Pick<Spawn, 'orderId' | 'agentId' | 'taskId' | 'runtimeId'>;
};

/** A runtime without processes. It sends what a runtime sends, and a test decides what its agents do. */
export type Runtime = Client & {
  readonly announce: (more: object) => Promise<Answer>;
  readonly report: (agentId: string, more: object) => Promise<Answer>;
  readonly exit: (agentId: string, more: object) => Promise<Answer>;
  /** an order about this agent or task, as soon as it is offered */
  readonly order: (type: string, subject: string) => Promise<Offered['payload']>;
  /** the order to start an agent for this task, as soon as it is offered */
  readonly spawnOf: (taskId: string) => Promise<Spawn>;
  /** carries out a spawn: its receipt, and the first heartbeat of the new agent */
  readonly start: (spawn: Spawn) => Promise<Answer>;
};

export const openRuntime = async (vigil: TestSystem, name: string, host: string, claims: Claims): Promise<Runtime> => {
  const client = clientOf(vigil.system.env.VIGIL_GATEWAY_URL, await createToken(vigil, 'runtime', name, claims));
  const send = (type: string, payload: object) =>
    client.post('/v1/receipts', { type, payload: { runtimeId: name, at: Date.now(), ...payload } });
  const report: Runtime['report'] = (agentId, more) =>
    client.post('/v1/heartbeats', heartbeat(agentId, { runtime_id: name, labels: { host }, ...more }));
  const order: Runtime['order'] = (type, subject) =>
    until(`${type} about ${subject} for ${name}`, async () => {
      const { body } = await client.get(`/v1/runtimes/${name}/orders?wait=2`);
      const { orders } = body as { readonly orders: readonly Offered[] };
      const isAbout = ({ agentId, taskId }: Offered['payload']) => agentId === subject || taskId === subject;
      return orders.find((offered) => offered.type === type && isAbout(offered.payload))?.payload;
    });
  return {
    ...client,
    report,
    order,
    announce: (more) =>
      send('RUNTIME_ANNOUNCED', { host, capacity: 4, agents: [], labels: {}, templates: [], ...more }),
    exit: (agentId, more) => send('AGENT_EXITED', { agentId, instanceId: `${agentId}.i1`, reason: 'crashed', ...more }),
    spawnOf: async (taskId) => (await order('SPAWN_AGENT', taskId)) as Spawn,
    start: async ({ orderId, requestId, taskId, agentId, attempt, labels }) => {
      const receipt = { orderId, requestId, taskId, agentId, attempt, instanceId: `${agentId}.i1`, outcome: 'spawned' };
      const answer = await send('SPAWN_RECEIPT', receipt);
      if (answer.status !== 202) return answer;
      return report(agentId, { task_id: taskId, attempt, labels: { ...labels, host } });
    },
  };
};
