import type { Type, types } from 'avsc';
import { isCheckpointAddress } from './checkpoint.ts';
import { Unfit } from './errors.ts';
import type { PayloadOf } from './event.ts';
import { convert, jsonTypeOf, type Remark } from './from-json.ts';
import { Topic, type TopicName } from './generated/catalogue.ts';
import type { Content, Heartbeat } from './generated/types.ts';
import { schemaOf } from './schemas.ts';

/**
 * The form of a key: every agent, task, instance, runtime and alert id. Keys that begin with @ are reserved for the
 * runner. An id that begins with a dash would be an option of the commands that get it.
 */
export const ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
/** The description of `ID` for people. */
export const ID_FORM = '1 to 128 of the characters A-Z a-z 0-9 . _ : -; the first is a letter or digit';

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

/** Throws Unfit if an id is invalid. */
const checkIds = (value: Readonly<Record<string, unknown>>): void => {
  for (const field of ID_FIELDS) {
    const id = value[field];
    if (typeof id === 'string' && !ID.test(id))
      throw new Unfit('bad_id', field, `${field} is ${JSON.stringify(id.slice(0, 140))}: use ${ID_FORM}`);
  }
};

/** Throws Unfit if a count is below zero. */
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

/**
 * The longest name, the longest address, and the total length of all labels, in characters. They are stored in keys and
 * in every later event.
 */
const LONGEST_NAME = 512;
const LONGEST_ADDRESS = 4096;
const LONGEST_LABELS = 8192;

const checkLength = (field: string, value: string | null, longest: number): void => {
  if (value === null || value.length <= longest) return;
  throw new Unfit(
    'bad_field',
    field,
    `${field} has ${value.length} characters, ${JSON.stringify(value.slice(0, 40))}…: at most ${longest} are taken`,
  );
};

/** Throws Unfit if a stored text would be too long for the records that contain it. */
const checkLengths = ({ labels, tool_calls, breakers, checkpoint, work }: Heartbeat): void => {
  checkLength('labels', Object.entries(labels).flat().join(''), LONGEST_LABELS);
  tool_calls.forEach(({ call_id, tool }, index) => {
    checkLength(`tool_calls[${index}].call_id`, call_id, LONGEST_NAME);
    checkLength(`tool_calls[${index}].tool`, tool, LONGEST_NAME);
  });
  breakers.forEach(({ name }, index) => void checkLength(`breakers[${index}].name`, name, LONGEST_NAME));
  if (work !== null) checkLength('work.id', work.id, LONGEST_NAME);
  if (checkpoint === null) return;
  for (const field of ['checkpoint_id', 'parent_id', 'sha256'] as const)
    checkLength(`checkpoint.${field}`, checkpoint[field], LONGEST_NAME);
  for (const field of ['uri', 'invalid_reason'] as const)
    checkLength(`checkpoint.${field}`, checkpoint[field], LONGEST_ADDRESS);
};

/** Throws Unfit if a checkpoint's address contains more than an address. */
const checkAddress = (checkpoint: unknown): void => {
  const { uri } = (checkpoint ?? {}) as { readonly uri?: unknown };
  if (typeof uri !== 'string' || isCheckpointAddress(uri)) return;
  throw new Unfit(
    'bad_field',
    'checkpoint.uri',
    `checkpoint.uri is ${JSON.stringify(uri.slice(0, 140))}: use an address without #, ? and invisible characters`,
  );
};

/** Checks the rules that the schema cannot express: ids, counts, lengths and addresses. Throws Unfit, naming field and value. */
export const checkHeartbeat = (heartbeat: Heartbeat): Heartbeat => {
  checkIds(heartbeat);
  checkCounts(heartbeat);
  checkLengths(heartbeat);
  checkAddress(heartbeat.checkpoint);
  return heartbeat;
};

/** The Avro type by which the payload of an event is read from JSON. */
const payloadType = (topic: TopicName, type: string): Type => {
  const { json, envelope } = schemaOf(topic, type);
  const whole = jsonTypeOf(json);
  return envelope ? (whole as types.RecordType).field('payload').type : whole;
};

/**
 * Reads a heartbeat from parsed JSON. CODITECT's eight fields are required. Unknown fields are omitted and unknown
 * symbols become UNKNOWN; `remarks` gets both. Throws Unfit, naming field and value.
 */
export const readHeartbeat = (value: unknown, remarks: Remark[]): Heartbeat =>
  checkHeartbeat(convert(payloadType(Topic.heartbeat, 'HEARTBEAT'), value, '', remarks) as Heartbeat);

/**
 * Reads a heartbeat from parsed JSON without remarks, for a sender that gets no answer. Throws Unfit, naming field and
 * value.
 */
export const parseHeartbeat = (value: unknown): Heartbeat => readHeartbeat(value, []);

/** Reads the payload of an event or command from parsed JSON. Throws Unfit, naming field and value. */
export const parsePayload = <T extends TopicName, K extends Extract<Content, { readonly topic: T }>['type']>(
  topic: T,
  type: K,
  value: unknown,
): PayloadOf<T, K> => {
  const payload = convert(payloadType(topic, type), value, '', []) as PayloadOf<T, K>;
  const fields = payload as Readonly<Record<string, unknown>>;
  checkIds(fields);
  checkAddress(fields.checkpoint);
  return payload;
};
