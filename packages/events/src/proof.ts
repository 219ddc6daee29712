import { createHash, createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Verified } from './generated/types.ts';

/**
 * The header of a heartbeat that the gateway has accepted: `<key id>.<epoch ms>.<HMAC-SHA-256 in base64url>`. The code
 * covers the time, the record's key and its value.
 */
export const PROOF_HEADER = 'vigil-proof';

/** The least length of a secret that signs proofs: as many characters as a SHA-256 has bytes. */
export const LEAST_PROOF_KEY = 32;

/**
 * How far the time of a proof may be from the time at which the broker received the record, milliseconds. A copy that
 * is written later proves nothing. While a broker is away, a write of the gateway may take minutes.
 */
export const PROOF_AGE_MS = 300_000;

type SigningKey = { readonly id: string; readonly key: KeyObject };

/** The id of a key reveals nothing about its secret, which is long. */
const signingKey = (secret: string): SigningKey => ({
  id: createHash('sha256').update(`proof:${secret}`).digest('base64url').slice(0, 8),
  key: createSecretKey(Buffer.from(secret)),
});

/** A key and a time contain no line break, so no other parts give the same bytes. */
const codeOf = (key: KeyObject, at: number, recordKey: string, value: Buffer): Buffer =>
  createHmac('sha256', key).update(`${at}\n${recordKey}\n`).update(value).digest();

/** Returns the header of a record. `now`: the broker's clock, epoch milliseconds. */
export type SignProof = (recordKey: string, value: Buffer, now: number) => string;

export const proofSigner = (secret: string): SignProof => {
  const { id, key } = signingKey(secret);
  return (recordKey, value, now) => {
    const at = Math.round(now);
    return `${id}.${at}.${codeOf(key, at, recordKey, value).toString('base64url')}`;
  };
};

/** A record of the heartbeat topic. `timestamp`: when the broker received it, epoch milliseconds. */
type Proven = { readonly key: string; readonly value: Buffer; readonly timestamp: number };

/** Returns why a header does not prove that the gateway accepted a record; null if it does. */
export type CheckProof = (header: string, record: Proven) => string | null;

/** `secrets`: the proofs of each are accepted. */
export const proofCheck = (secrets: readonly string[]): CheckProof => {
  const keys = new Map(secrets.map(signingKey).map(({ id, key }) => [id, key]));
  return (header, { key: recordKey, value, timestamp }) => {
    const [, id = '', time = '', code = ''] = /^([\w-]{8})\.(\d{1,15})\.([\w-]{43})$/.exec(header) ?? [];
    if (id === '') return `the header ${PROOF_HEADER} has another form`;
    const key = keys.get(id);
    if (key === undefined) return `its key ${id} is none of VIGIL_PROOF_KEY and VIGIL_PROOF_KEY_PREVIOUS`;
    const at = Number(time);
    if (!timingSafeEqual(codeOf(key, at, recordKey, value), Buffer.from(code, 'base64url')))
      return 'its code belongs to another record';
    const apart = Math.abs(timestamp - at);
    return apart <= PROOF_AGE_MS
      ? null
      : `it was made ${Math.round(apart / 1000)} s before or after the record was written: at most ${PROOF_AGE_MS / 1000} are accepted`;
  };
};

/** A verified principal, for people: `runtime host-1`, `agent worker-1`, or `operator`, which has one token. */
export const principalText = ({ kind, name }: Verified): string => (kind === 'operator' ? kind : `${kind} ${name}`);
