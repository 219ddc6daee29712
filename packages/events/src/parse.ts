import { Unfit } from './errors.ts';
import type { PayloadOf } from './event.ts';
import { fromJson } from './from-json.ts';
import { Topic, type TopicName } from './generated/catalogue.ts';
import type { Content, Heartbeat } from './generated/types.ts';
import { schemaOf } from './schemas.ts';

/** What a key may be: every agent, task, instance, runtime and alert id. Keys that begin with @ are the runner's own. */
export const ID = /^[A-Za-z0-9._:-]{1,128}$/;

const ID_FIELDS: ReadonlySet<string> = new Set([
  'agent_id',
  'instance_id',
  'task_id',
  'runtime_id',
  'agentId',
  'instanceId',
  'taskId',
  'runtimeId',
  'orderId',
]);

/** Throws Unfit where an id is not one. */
const checkIds = (value: Readonly<Record<string, unknown>>): void => {
  for (const field of ID_FIELDS) {
    const id = value[field];
    if (typeof id === 'string' && !ID.test(id))
      throw new Unfit(
        'bad_id',
        field,
        `${field} is ${JSON.stringify(id.slice(0, 140))}: 1 to 128 of the characters A-Z a-z 0-9 . _ : - are wanted`,
      );
  }
};

/** Throws Unfit where a count is below zero. */
const checkCounts = (heartbeat: Heartbeat): void => {
  const counts = {
    token_count: heartbeat.token_count,
    error_count: heartbeat.error_count,
    sequence: heartbeat.sequence,
    interval_ms: heartbeat.interval_ms,
  };
  for (const [field, count] of Object.entries(counts))
    if (count !== null && count < 0)
      throw new Unfit('bad_field', field, `${field} is ${count}: a count is not below zero`);
};

/** Checks what the schema cannot say: ids and counts. Throws Unfit, naming field and value. */
export const checkHeartbeat = (heartbeat: Heartbeat): Heartbeat => {
  checkIds(heartbeat);
  checkCounts(heartbeat);
  return heartbeat;
};

const converters = new Map<string, (value: unknown) => Record<string, unknown>>();
const converterOf = (topic: TopicName, type: string) => {
  const { subject, json, envelope } = schemaOf(topic, type);
  const known = converters.get(subject);
  if (known !== undefined) return known;
  const fields = (JSON.parse(json) as { fields: { name: string; type: unknown }[] }).fields;
  const payload = envelope ? JSON.stringify(fields.find((field) => field.name === 'payload')?.type) : json;
  const converter = fromJson(payload);
  converters.set(subject, converter);
  return converter;
};

/** A heartbeat from parsed JSON: ADR-110's eight fields are required. Throws Unfit, naming field and value. */
export const parseHeartbeat = (value: unknown): Heartbeat =>
  checkHeartbeat(converterOf(Topic.heartbeat, 'HEARTBEAT')(value) as unknown as Heartbeat);

/** The payload of an event or command from parsed JSON. Throws Unfit, naming field and value. */
export const parsePayload = <T extends TopicName, K extends Extract<Content, { readonly topic: T }>['type']>(
  topic: T,
  type: K,
  value: unknown,
): PayloadOf<T, K> => {
  const payload = converterOf(topic, type)(value);
  checkIds(payload);
  return payload as unknown as PayloadOf<T, K>;
};
