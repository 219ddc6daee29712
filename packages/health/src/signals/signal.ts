import type { Mark as AnyMark } from '@vigil/events';
import { type Axis, type Pattern, spell } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import type { z } from 'zod';
import type { History, Part } from '../history/history.ts';
import type { Judging, Moment } from '../history/moment.ts';

/** What a signal sees, for people and events. `value` and `limit` in the unit of the limit; null: unknown, or none. */
export type Figure = {
  readonly value: number | null;
  readonly limit: number | null;
  /** "no call for 6 min 12 s, none in flight; limit 6 min" */
  readonly words: string;
  /** a fact, or a call past its declared deadline */
  readonly hard: boolean;
  readonly matched?: string;
};

/** What an agent does that a runtime can see. */
export type Mark = Exclude<AnyMark, 'UNKNOWN'>;

/**
 * A named pure rule over a history. `firesFrom`: the millisecond on `now`'s axis from which it fires, as far as is known now;
 * NEVER where data is missing. Durations and ratios fire strictly above their limit, counts when reached.
 */
export type Signal<Limits> = {
  readonly axis: Axis;
  /** what ends it once it has fired, any of these; none: nothing that a runtime can see, so it withdraws no order because of it */
  readonly awaits: readonly Mark[];
  /** the settings that a policy may give it */
  readonly limits: z.ZodType;
  /** The only part of a history that it fires by: while that part is initial, it never fires and is not evaluated. */
  readonly by?: Part;
  /** exemptions that do not suspend it, though they suspend its axis */
  readonly notSuspendedBy?: readonly string[];
  /** its timer also restarts when a call in flight ends: nothing else is reported while a call runs */
  readonly resetOnCallEnd?: true;
  /** a heartbeat without calls and errors may make it fire sooner, so it is evaluated at each heartbeat */
  readonly reevaluateEveryHeartbeat?: true;
  /** it still counts when the agent has ended */
  readonly appliesAfterExit?: true;
  /** it counts in favour of the agent: it is shown, is not evidence of a fault, and quiets the signals whose `unless` names it */
  readonly mitigating?: true;
  /** what it looks for in what the agent writes */
  readonly patterns?: (limits: Limits) => readonly Pattern[];
  /** of one that fires: the millisecond on `now`'s axis from which it no longer does, if nothing more is received */
  readonly endsAt?: (history: History, limits: Limits, at: Judging) => number;
  readonly firesFrom: (history: History, limits: Limits, at: Judging) => number;
  readonly evidence: (history: History, limits: Limits, at: Judging) => Figure;
  /** What was found, for the agent itself: a sentence that does not begin with a digit, without content of arguments and results. */
  readonly finding: (history: History, limits: Limits, at: Judging) => string;
  /** what the agent can do next, in sentences */
  readonly advice: string;
};

/** Any signal; its limits have been read by its own schema. */
export type AnySignal = Signal<never>;

/** A signal whose limits have the type that their schema gives. */
export const signal = <S extends z.ZodType>(limits: S, rest: Omit<Signal<z.output<S>>, 'limits'>): AnySignal =>
  ({ limits, ...rest }) as Signal<z.output<S>>;

/** A mark, on `now`'s axis. */
export const momentOf = (mark: number, at: Moment): number => at.now + (mark - at.watched);

/** When something last seen at `mark` has been absent for longer than `after`, in watched time. */
export const absentFrom = (mark: number | null, after: number, at: Judging): number =>
  mark === null ? NEVER : at.now + (Math.max(mark, at.floor) + after + 1 - at.watched);

/** For how long it has been absent, watched; null where it was never seen. */
export const absentFor = (mark: number | null, at: Judging): number | null =>
  mark === null ? null : Math.max(0, at.watched - Math.max(mark, at.floor));

/** A duration for a sentence; null: unknown. */
export const spelled = (ms: number | null): string => (ms === null ? 'some time' : spell(Math.max(0, ms)));

/** What holds or does not, without a figure. */
export const fact = (words: string, holds: boolean): Figure => ({ value: null, limit: null, words, hard: holds });
