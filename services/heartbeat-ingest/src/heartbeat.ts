import { isUtf8 } from 'node:buffer';
import {
  type CheckProof,
  type Codec,
  checkHeartbeat,
  type Heartbeat,
  PROOF_HEADER,
  parseHeartbeat,
  Topic,
  Unfit,
} from '@vigil/events';
import { DeadLetter, type LogRecord } from '@vigil/stream';

/** The largest record of the heartbeat topic, bytes: what the gateway and the topic take too. */
const LARGEST = 512 * 1024;

const AVRO_BEGINS_WITH = 0;

/**
 * A heartbeat as it stands on the command topic: Avro by the registry where the first byte is zero, else JSON.
 * Throws DeadLetter and Undecodable, each with its reason, and UnknownSchemaId (learn it, then again).
 */
export const readHeartbeat = (codec: Codec, key: string | null, value: Buffer): Heartbeat => {
  if (value.length > LARGEST)
    throw new DeadLetter(
      'too_large',
      `the heartbeat of ${shown(key)} has ${value.length} bytes: at most ${LARGEST} are taken`,
    );
  const heartbeat = fitting(() =>
    value[0] === AVRO_BEGINS_WITH ? fromAvro(codec, value) : parseHeartbeat(fromText(value)),
  );
  checkKey(key, 'agent_id', heartbeat.agent_id);
  return heartbeat;
};

/**
 * The principal that the gateway has verified; null: the heartbeat was sent directly to Kafka. Without a key nothing is
 * verified. Throws DeadLetter if the heartbeat names a principal without proof.
 */
export const verifiedBy = (
  { verified }: Heartbeat,
  { key, value, headers, timestamp }: LogRecord,
  checkProof: CheckProof | null,
): Heartbeat['verified'] => {
  const proof = headers[PROOF_HEADER];
  if (proof === undefined) {
    if (verified !== null) throw withoutProof(key, `it has no header ${PROOF_HEADER}`);
    return null;
  }
  if (checkProof === null) return null;
  const flaw = checkProof(proof, { key: key ?? '', value: value ?? Buffer.alloc(0), timestamp });
  if (flaw !== null) throw withoutProof(key, flaw);
  return verified;
};

const withoutProof = (key: string | null, why: string): DeadLetter =>
  new DeadLetter(
    'stamp_without_proof',
    `the heartbeat of ${shown(key)} does not come from the gateway, as it states: ${why}`,
  );

/** A heartbeat has to name the agent that its record is keyed by. Throws DeadLetter. */
export const checkKey = (key: string | null, field: string, id: string): void => {
  if (key === id) return;
  throw new DeadLetter(
    'key_mismatch',
    `${field} is ${shown(id)}, the record's key is ${shown(key)}: they must be equal`,
  );
};

const fitting = (read: () => Heartbeat): Heartbeat => {
  try {
    return read();
  } catch (error) {
    throw error instanceof Unfit ? new DeadLetter(error.reason, error.message) : error;
  }
};

const fromAvro = (codec: Codec, value: Buffer): Heartbeat =>
  checkHeartbeat(codec.decode(Topic.heartbeat, value).payload as Heartbeat);

const fromText = (value: Buffer): unknown => {
  if (!isUtf8(value)) throw new DeadLetter('invalid_utf8', 'the value is neither Avro (first byte 0) nor UTF-8');
  try {
    return JSON.parse(value.toString('utf8'));
  } catch (error) {
    throw new DeadLetter('not_json', `the value is neither Avro (first byte 0) nor JSON: ${(error as Error).message}`);
  }
};

const shown = (text: string | null): string => (text === null ? 'no key' : JSON.stringify(text.slice(0, 140)));
