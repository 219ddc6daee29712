import avro, { type Type, type types } from 'avsc';
import type { Envelope, EventOf, PayloadOf } from '../event.ts';
import { convert, jsonTypeOf } from '../from-json.ts';
import { catalogue, type TopicName } from '../generated/catalogue.ts';
import { schemaOf } from '../schemas.ts';

/** 2026-11-22T00:00:00Z, the time of all examples. */
export const EXAMPLE_TIME = 1_795_305_600_000;

/** Example values by field name. Other fields get a value by their type. */
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

const { ArrayType, EnumType, LogicalType, MapType, RecordType, UnwrappedUnionType } = avro.types;

const byType = (type: Type, name: string): unknown => {
  if (type instanceof UnwrappedUnionType) return byType(type.types[1] as Type, name);
  if (type instanceof RecordType) return Object.fromEntries(type.fields.map((field) => [field.name, exampleOf(field)]));
  if (type instanceof EnumType) return type.symbols.includes(BY_NAME[name] as string) ? BY_NAME[name] : type.symbols[1];
  if (type instanceof ArrayType) return [byType(type.itemsType, 'one')];
  if (type instanceof MapType) return { team: byType(type.valuesType, 'core') };
  if (type instanceof LogicalType) return EXAMPLE_TIME;
  const plain: Readonly<Record<string, unknown>> = {
    string: name,
    long: 42,
    int: 2,
    double: 1.5,
    boolean: true,
    bytes: 'AQI=',
  };
  return plain[type.typeName];
};

const fits = (type: Type, candidate: unknown): boolean => {
  if (type instanceof UnwrappedUnionType) return type.types.some((member) => fits(member, candidate));
  if (type instanceof ArrayType) return Array.isArray(candidate) && candidate.every((one) => fits(type.itemsType, one));
  if (type instanceof RecordType) return typeof candidate === 'object';
  const isNumber = type instanceof LogicalType || ['long', 'int', 'double'].includes(type.typeName);
  return typeof candidate === (isNumber ? 'number' : type.typeName);
};

const exampleOf = ({ name, type }: types.Field): unknown =>
  name in BY_NAME && fits(type, BY_NAME[name]) ? BY_NAME[name] : byType(type, name);

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

/** A minimal example: only the fields without a default are set. */
export const minimalExample = <T extends TopicName, K extends EventOf<T>['type']>(
  topic: T,
  type: K,
): PayloadOf<T, K> => {
  const { json, envelope } = schemaOf(topic, type);
  const whole = jsonTypeOf(json) as types.RecordType;
  if (envelope) throw new TypeError(`${type} has an envelope: only plain records have a minimal example`);
  const required = whole.fields.filter((field) => field.defaultValue() === undefined);
  const filled = Object.fromEntries(required.map((field) => [field.name, exampleOf(field)]));
  return convert(whole, filled, '', []) as PayloadOf<T, K>;
};

/** The full example of an event: every field is set. `overrides` replaces fields of the payload. */
export const example = <T extends TopicName, K extends EventOf<T>['type']>(
  topic: T,
  type: K,
  overrides: Partial<PayloadOf<T, K>> = {},
): Extract<EventOf<T>, { readonly type: K }> => {
  const { json, envelope } = schemaOf(topic, type);
  const shape = jsonTypeOf(json);
  const whole = convert(shape, byType(shape, ''), '', []) as Record<string, unknown>;
  const payload = { ...(envelope ? (whole.payload as object) : whole), ...overrides };
  return { topic, type, key: KEYS[catalogue[topic].key], ...ENVELOPE, payload } as never;
};
