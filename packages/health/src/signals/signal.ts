import type { Mark as AnyMark } from '@vigil/events';
import { type Axis, type Pattern, spell } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { z } from 'zod';
import type { History, Part } from '../history/history.ts';
import type { Judging, Moment } from '../history/moment.ts';
import { markAfter, waitedBetween } from '../history/presence/waits.ts';

/**
 * The evidence of a signal, for people and events. `value` and `limit` are in the unit of the limit; null if unknown or
 * absent.
 */
export type Figure = {
  readonly value: number | null;
  readonly limit: number | null;
  /** whether `value` and `limit` are milliseconds */
  readonly isDuration?: true;
  /** "no call for 6 min 12 s, none in flight; limit 6 min" */
  readonly words: string;
  /** whether it is a fact, or a call past its declared deadline */
  readonly hard: boolean;
  readonly matched?: string;
};

/** Progress of an agent that a runtime can see. */
export type Mark = Exclude<AnyMark, 'UNKNOWN'>;

/**
 * A named pure rule over a history. `firesFrom`: the millisecond on `now`'s axis from which it fires; NEVER if data is
 * missing. Durations and ratios fire strictly above their limit, counts when reached.
 */
export type Signal<Limits> = {
  readonly axis: Axis;
  /**
   * any of these marks ends it once it has fired; if there is none, a runtime can see no progress and withdraws no
   * order
   */
  readonly awaits: readonly Mark[];
  /** the settings that a policy may set */
  readonly limits: z.ZodType;
  /**
   * The only part of a history that it reads. While that part is initial, the signal never fires and is not evaluated.
   */
  readonly by?: Part;
  /** exemptions that do not suspend it, although they suspend its axis */
  readonly notSuspendedBy?: (limits: Limits) => readonly string[];
  /**
   * its timer also restarts when a call in flight or a rate limit ends. Nothing else is reported while a call runs, and
   * after a limit the client repeats its request
   */
  readonly resetOnCallEnd?: true;
  /** a heartbeat without calls and errors may make it fire sooner, so it is evaluated at each heartbeat */
  readonly reevaluateEveryHeartbeat?: true;
  /** whether it still counts after the agent has ended */
  readonly appliesAfterExit?: true;
  /**
   * whether it counts in favour of the agent. It is shown, is not evidence of a fault, and quiets the signals whose
   * `unless` names it
   */
  readonly mitigating?: true;
  /** the patterns that it searches in the agent's texts */
  readonly patterns?: (limits: Limits) => readonly Pattern[];
  /** for a firing signal: the millisecond on `now`'s axis from which it no longer fires, if nothing more is received */
  readonly endsAt?: (history: History, limits: Limits, at: Judging) => number;
  readonly firesFrom: (history: History, limits: Limits, at: Judging) => number;
  readonly evidence: (history: History, limits: Limits, at: Judging) => Figure;
  /**
   * The finding, for the agent itself: a sentence that does not begin with a digit and has no content of arguments and
   * results.
   */
  readonly finding: (history: History, limits: Limits, at: Judging) => string;
  /** what the agent can do next, in sentences */
  readonly advice: string;
  /**
   * how long the finding has lasted, milliseconds; null: unknown. The evidence of an absence has this figure, so only
   * other signals define it
   */
  readonly lasting?: (history: History, limits: Limits, at: Judging) => number | null;
};

/** Any signal, with limits that its own schema has parsed. */
export type AnySignal = Signal<never>;

/** A signal whose limits have the type that their schema gives. */
export const signal = <S extends z.ZodType>(limits: S, rest: Omit<Signal<z.output<S>>, 'limits'>): AnySignal =>
  ({ limits, ...rest }) as Signal<z.output<S>>;

/** The settings that restrict a signal to tools. Empty: all tools. */
export const tools = { applies_to: z.array(z.string()).default([]), except: z.array(z.string()).default([]) };
type Tools = { readonly applies_to: readonly string[]; readonly except: readonly string[] };

export const isAmong = (tool: string | null, { applies_to, except }: Tools): boolean =>
  tool === null || ((applies_to.length === 0 || applies_to.includes(tool)) && !except.includes(tool));

/** The restriction in words. */
export const ofTools = ({ applies_to, except }: Tools): string => {
  if (applies_to.length > 0) return ` of ${applies_to.join(' or ')}`;
  return except.length > 0 ? ` of other tools than ${except.join(', ')}` : '';
};

/** What starts a count of calls again, besides what ends it: the instance, or each turn of its client. */
export const perTurn = { per: z.enum(['instance', 'turn']).default('instance') };
export type PerTurn = { readonly per: 'instance' | 'turn' };

/** The restriction to a turn in words. */
export const ofTurn = ({ per }: PerTurn): string => (per === 'turn' ? ' in this turn' : '');

/** Converts a mark to `now`'s axis. */
export const momentOf = (mark: number, at: Moment): number => at.now + (mark - at.watched);

/** When the watched time since `mark`, without the waits in it, exceeds `after`. */
export const absentFrom = (mark: number | null, after: number, at: Judging): number =>
  mark === null ? NEVER : momentOf(markAfter(at.waits, at.kinds, Math.max(mark, at.floor), after + 1), at);

/** The watched time since `mark` without the waits in it; null without a mark. */
export const absentFor = (mark: number | null, at: Judging): number | null => {
  if (mark === null) return null;
  const from = Math.max(mark, at.floor);
  return Math.max(0, at.watched - from - waitedBetween(at.waits, at.kinds, from, at.watched));
};

/** A duration for a sentence; null: unknown. */
export const spelled = (ms: number | null): string => (ms === null ? 'some time' : spell(Math.max(0, ms)));

/** Evidence without a figure. */
export const fact = (words: string, holds: boolean): Figure => ({ value: null, limit: null, words, hard: holds });
