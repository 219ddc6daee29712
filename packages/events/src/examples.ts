import type { Envelope, EventOf, PayloadOf } from './event.ts';
import { fromJson } from './from-json.ts';
import { catalogue, type TopicName } from './generated/catalogue.ts';
import { schemaOf } from './schemas.ts';

/** 2026-11-22T00:00:00Z: the moment of all examples. */
export const EXAMPLE_TIME = 1_795_305_600_000;

/** The value of a field of this name in an example; another field gets a value by its type. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  agentId: 'worker-1',
  agent_id: 'worker-1',
  newAgentId: 'worker-1-r2',
  deadAgentId: 'worker-1',
  instanceId: 'worker-1.i1',
  instance_id: 'worker-1.i1',
  otherInstanceId: 'worker-1.i0',
  taskId: 'OMN-1234',
  task_id: 'OMN-1234',
  ticket_id: 'OMN-1234',
  runtimeId: 'host-1',
  runtime_id: 'host-1',
  episodeId: 'worker-1.e1',
  caseId: 'case-1',
  warrantId: 'warrant-1',
  orderId: 'order-1',
  requestId: 'request-1',
  alertKey: 'stuck_agent:OMN-1234',
  alertId: 'alert-1',
  attempt: 1,
  of: 3,
  maxAttempts: 3,
  sequence: 7,
  number: 1,
  version: 1,
  phase: 'implement',
  plan: [{ step: 'recover' }],
  jitter: 0.2,
  type: 'agent_healthcheck',
  from: 'HEALTHY',
  to: 'STUCK',
  options: ['allow_more_time', 'terminate_and_recover', 'pardon'],
  fromCheckpoint: 'checkpoint-1',
  checkpointId: 'checkpoint-1',
  checkpoint_id: 'checkpoint-1',
  by: 'ada',
  timestamp_utc: '2026-11-22T00:00:00Z',
  created_at: EXAMPLE_TIME,
};

type Shape =
  | string
  | Shape[]
  | {
      type: Shape;
      name?: string;
      fields?: Field[];
      symbols?: string[];
      items?: Shape;
      values?: Shape;
      logicalType?: string;
    };
type Field = { name: string; type: Shape };

const byType = (type: Shape, name: string, named: Map<string, Shape>): unknown => {
  if (typeof type === 'string' && named.has(type)) return byType(named.get(type) as Shape, name, named);
  if (Array.isArray(type)) return byType(type[1] as Shape, name, named);
  if (typeof type === 'object') {
    if (type.name !== undefined) named.set(type.name, type);
    if (type.fields !== undefined)
      return Object.fromEntries(type.fields.map((field) => [field.name, value(field, named)]));
    if (type.symbols !== undefined)
      return type.symbols.includes(BY_NAME[name] as string) ? BY_NAME[name] : type.symbols[1];
    if (type.items !== undefined) return [byType(type.items, 'one', named)];
    if (type.values !== undefined) return { team: 'core' };
    return type.logicalType === undefined ? byType(type.type, name, named) : EXAMPLE_TIME;
  }
  const plain: Readonly<Record<string, unknown>> = {
    string: name,
    long: 42,
    int: 2,
    double: 1.5,
    boolean: true,
    bytes: 'AQI=',
  };
  return plain[type];
};

const fits = (type: Shape, candidate: unknown): boolean => {
  if (Array.isArray(type)) return type.some((member) => fits(member, candidate));
  if (typeof type === 'object')
    return type.items !== undefined
      ? Array.isArray(candidate)
      : type.logicalType !== undefined && typeof candidate === 'number';
  return typeof candidate === (type === 'string' ? 'string' : 'number') && type !== 'boolean';
};

const value = ({ name, type }: Field, named: Map<string, Shape>): unknown => {
  const made = byType(type, name, named);
  return name in BY_NAME && fits(type, BY_NAME[name]) ? BY_NAME[name] : made;
};

const KEYS: Readonly<Record<string, string>> = {
  agent: 'worker-1',
  task: 'OMN-1234',
  fleet: 'fleet',
  alert: 'stuck_agent:OMN-1234',
  policy: 'policy-1',
  ticket: 'OMN-1234',
  original: 'worker-1',
};

const ENVELOPE: Envelope = {
  eventId: '0199aa7e-3f55-5c1e-9d1e-3b1d1f6f9a10',
  stateKey: 'worker-1',
  version: 1,
  epoch: EXAMPLE_TIME,
  occurredAt: EXAMPLE_TIME,
  correlationId: 'correlation-1',
  causationId: 'cause-1',
  policy: { name: 'vigil', hash: '0123456789abcdef' },
};

/** An example that reports no more than it must: only the fields without a default are filled in. */
export const minimalExample = <T extends TopicName, K extends EventOf<T>['type']>(
  topic: T,
  type: K,
): PayloadOf<T, K> => {
  const { json, envelope } = schemaOf(topic, type);
  const whole = JSON.parse(json) as { readonly fields: readonly (Field & { readonly default?: unknown })[] };
  if (envelope) throw new TypeError(`${type} has an envelope: only plain records have a minimal example`);
  const required = whole.fields.filter((field) => !('default' in field));
  const filled = Object.fromEntries(required.map((field) => [field.name, value(field, new Map())]));
  return fromJson(json)(filled, []) as PayloadOf<T, K>;
};

/** The one example of an event: every field filled in. `overrides` replaces fields of the payload. */
export const example = <T extends TopicName, K extends EventOf<T>['type']>(
  topic: T,
  type: K,
  overrides: Partial<PayloadOf<T, K>> = {},
): Extract<EventOf<T>, { readonly type: K }> => {
  const { json, envelope } = schemaOf(topic, type);
  const whole = fromJson(json)(byType(JSON.parse(json) as Shape, '', new Map()), []) as Record<string, unknown>;
  const payload = { ...(envelope ? (whole.payload as object) : whole), ...overrides };
  return { topic, type, key: KEYS[catalogue[topic].key], ...ENVELOPE, payload } as never;
};
