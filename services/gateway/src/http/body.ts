import { isUtf8 } from 'node:buffer';
import { type Heartbeat, type Remark, readHeartbeat as read, Unfit } from '@vigil/events';
import { Problem } from './problem.ts';

/** The largest request, bytes: as large as the largest record. */
export const LARGEST_BODY = 512 * 1024;

/** Bytes to parsed JSON. Throws Problem. */
export const readJson = (body: Buffer): unknown => {
  if (!isUtf8(body)) throw new Problem(400, 'invalid_utf8', 'the body is not UTF-8');
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new Problem(400, 'not_json', `the body is not JSON: ${(error as Error).message}`);
  }
};

/** One or a list: each is read; the first that does not fit refuses all, naming its place. Throws Problem. */
export const readEach = <T>(body: unknown, read: (one: unknown) => T): readonly T[] =>
  Array.isArray(body) ? body.map((one, index) => refusing(() => read(one), index)) : [refusing(() => read(body), null)];

/** The place of an item in the request's list; null: it was sent alone. */
export const placeIn = (body: unknown, index: number): number | null => (Array.isArray(body) ? index : null);

const refusing = <T>(read: () => T, index: number | null): T => {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    throw new Problem(400, error.reason, error.message, { field: error.field, index });
  }
};

/** `remarks`: accepted fields that its sender may have meant otherwise */
export type Sent = { readonly heartbeat: Heartbeat; readonly remarks: readonly Remark[] };

/** One heartbeat as parsed JSON. Throws Unfit. */
export const readHeartbeat = (body: unknown): Sent => {
  const remarks: Remark[] = [];
  return { heartbeat: read(body, remarks), remarks };
};
