import { createHash } from 'node:crypto';
import { canonical, fieldOf } from './canonical.ts';
import { answer, argument, command, failure, masked } from './volatile.ts';

/**
 * The version of what a hash is made of: this file, canonical.ts and volatile.ts. Every hash contains it, so that hashes
 * of two versions never compare equal. Raise it when you change them.
 */
export const NORMALISER = 9;

/**
 * Canonical JSON without what varies from run to run, such as times, ids and addresses. `endedAt`: when the call ended,
 * epoch milliseconds; null: unknown. A time that is more than a day older stays. Null: unknown, see canonical.
 */
export const normalise = (value: unknown, failed: boolean, endedAt: number | null): string | null =>
  canonical(value, failed ? failure(endedAt) : answer(endedAt));

const isCommand = (args: unknown): boolean =>
  typeof args === 'object' && args !== null && ['command', 'cmd'].some((name) => fieldOf(args, name) !== undefined);

/** 128 bits of SHA-256, after the version that computed it. */
const hash = (kind: string, text: string | null): string | null =>
  text === null ? null : `${kind}${NORMALISER}:${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;

export const argsHash = (args: unknown): string | null =>
  hash('a', canonical(args, isCommand(args) ? command : argument));
/** `failed`: whether the call failed; then positions in files and the numbers of attempts of a known total vary, too. */
export const resultHash = (result: unknown, failed: boolean, endedAt: number | null): string | null =>
  hash('r', normalise(result, failed, endedAt));
/** Also without digits: results that differ in figures only are alike. */
export const maskedResultHash = (result: unknown): string | null => hash('m', canonical(result, masked));

/**
 * A call's arguments and result, whether it failed, and when it ended, epoch milliseconds. An undefined value and a time
 * of null are unknown.
 */
export type Content = {
  readonly args?: unknown;
  readonly result?: unknown;
  readonly failed: boolean;
  readonly endedAt: number | null;
};

export type Hashes = {
  readonly args_hash: string | null;
  readonly result_hash: string | null;
  readonly masked_result_hash: string | null;
};

/** A call whose end is not known, with these fields. */
export const notEnded = {
  result_hash: null,
  masked_result_hash: null,
  outcome: 'running',
  error_class: null,
  ended_at: null,
} as const;

/**
 * The hashes of a call's content, computed where the agent runs: no content leaves it. Null: unknown, and never
 * compared.
 */
export const hashes = ({ args, result, failed, endedAt }: Content): Hashes => ({
  args_hash: argsHash(args),
  result_hash: resultHash(result, failed, endedAt),
  masked_result_hash: maskedResultHash(result),
});
