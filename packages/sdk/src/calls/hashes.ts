import { createHash } from 'node:crypto';
import { canonical, type Style } from './canonical.ts';

/**
 * The version of everything in this file and in canonical.ts. Every hash contains it, so that hashes of two versions
 * never compare equal. Raise it when you change what a hash is made of.
 */
export const NORMALISER = 1;

const exact: Style = { text: (text) => text, number: String, key: () => true };

/** Fields that differ between answers although nothing has changed: lower case, without - and _. */
const VOLATILE: ReadonlySet<string> = new Set(
  `timestamp time date datetime ts now createdat updatedat modifiedat startedat endedat finishedat completedat expiresat mtime atime ctime
   duration durationms durationseconds elapsed elapsedms elapsedseconds took tookms latency latencyms uptime pid
   requestid traceid spanid correlationid sessionid messageid toolcallid callid eventid uuid guid nonce etag traceparent`.split(
    /\s+/,
  ),
);

const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi;
const LONG_HEX = /\b(?:0x)?[0-9a-f]{8,}\b/gi;
const DIGITS = /\d+/g;

const masked: Style = {
  text: (text) => text.replace(UUID, '#').replace(LONG_HEX, '#').replace(DIGITS, '#'),
  number: () => '0',
  key: (key) => !VOLATILE.has(key.toLowerCase().replace(/[-_]/g, '')),
};

/** Canonical JSON with digits, long hex and UUIDs masked and volatile fields dropped. Null: unknown, see canonical. */
export const normalise = (value: unknown): string | null => canonical(value, masked);

/** 128 bits of SHA-256, after the version that computed it. */
const hash = (kind: string, text: string | null): string | null =>
  text === null ? null : `${kind}${NORMALISER}:${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;

export const argsHash = (args: unknown): string | null => hash('a', canonical(args, exact));
export const resultHash = (result: unknown): string | null => hash('r', canonical(result, exact));
export const maskedResultHash = (result: unknown): string | null => hash('m', normalise(result));

export type Hashes = {
  readonly args_hash: string | null;
  readonly result_hash: string | null;
  readonly masked_result_hash: string | null;
};

/**
 * The hashes of a call's content, computed where the agent runs: no content leaves it. Null: unknown, and never
 * compared.
 */
export const hashes = ({ args, result }: { readonly args?: unknown; readonly result?: unknown }): Hashes => ({
  args_hash: argsHash(args),
  result_hash: resultHash(result),
  masked_result_hash: maskedResultHash(result),
});
