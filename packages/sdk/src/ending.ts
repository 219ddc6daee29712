import { count, reason as reasonIn, type SaidReason, small } from './fields.ts';
import { lasting, type Notes } from './notes.ts';

/** How a life ends; all of it is a hint: deaths are what a runtime sees. */
export type Ending = {
  /** default: finished */
  readonly reason?: SaidReason | undefined;
  readonly code?: number | undefined;
  /** how long what is untold may take to go out, milliseconds; default 2000 */
  readonly withinMs?: number | undefined;
};

const FLUSH_MS = 2000;
const LONGEST_FLUSH_MS = 60_000;

export const withinOf = ({ withinMs }: Ending): number => Math.min(count(withinMs) ?? FLUSH_MS, LONGEST_FLUSH_MS);

/** What the last heartbeat says. */
export const ended = (notes: Notes, { reason, code }: Ending): Notes => {
  const why = reasonIn(reason) ?? 'finished';
  return lasting(notes, {
    activity: why === 'finished' ? 'finished' : 'exiting',
    exit: { code: small(code), signal: null, reason: why },
  });
};
