import type { CompiledPolicy } from '@vigil/policy';
import type { Input } from '../recorded/inputs.ts';
import type { Change } from '../recorded/judge.ts';

/** A call with a known start and end, seconds since the first report. `isDeclared`: it declared a deadline. */
export type TimedCall = {
  readonly tool: string;
  readonly from: number;
  readonly to: number;
  readonly isDeclared: boolean;
};

/** Seconds of a span, both ends included. */
export type Period = { readonly from: number; readonly to: number };

/**
 * An agent's recorded work, which can be judged again. Times in seconds since its first report. `success` null: not
 * known. `acted`: when Vigil acted on it, so that what followed was not its own work alone.
 */
export type Work = {
  readonly id: string;
  readonly success: boolean | null;
  readonly inputs: ReadonlySet<Input>;
  /** until its last report; 0 if it has no times */
  readonly seconds: number;
  readonly calls: number;
  readonly timed: readonly TimedCall[];
  readonly acted: readonly Period[];
  /** all tokens that it has used at a time; null: unknown */
  readonly tokensAt: (seconds: number) => number | null;
  readonly changesUnder: (policy: CompiledPolicy) => readonly Change[];
};

/** Work in its own units. `tokens` 0 if none were reported. */
export type Amount = { readonly seconds: number; readonly tokens: number; readonly calls: number };

/**
 * A finding. `wrong`: the agent continued by itself, or its run was successful; `amount` is its work until then, which an
 * end would have lost. `right`: it lasted to the end of the record; `amount` is what followed it. `open`: unknown,
 * because Vigil acted on it, or a repetition ended in a run that is not known to be successful.
 */
export type Finding = {
  readonly work: string;
  readonly outcome: 'wrong' | 'right' | 'open';
  /** how long it lasted beyond the limit; null: to the end */
  readonly lasted: number | null;
  /** of the call in flight, or else the last one; null: unknown */
  readonly tool: string | null;
  readonly amount: Amount;
};

const isFlag = ({ to }: Change): boolean => to === 'STUCK' || to === 'FAILING';

/** The findings of STUCK and FAILING in changes of state. `isAbsence`: of the signals of a change. */
export const findingsIn = (
  work: Work,
  changes: readonly Change[],
  isAbsence: (signals: readonly string[]) => boolean,
): readonly Finding[] =>
  changes.flatMap((change, i) => {
    const before = changes[i - 1];
    if (!isFlag(change) || (before !== undefined && isFlag(before))) return [];
    const end = changes.slice(i + 1).find((one) => !isFlag(one)) ?? null;
    const outcome = outcomeOf(work, change, end, isAbsence(change.signals));
    return [
      {
        work: work.id,
        outcome,
        lasted: end === null ? null : end.at - change.at,
        tool: toolAt(work, change.at),
        amount: outcome === 'right' ? amountAfter(work, change) : amountBefore(work, change),
      },
    ];
  });

const outcomeOf = (work: Work, { at }: Change, end: Change | null, isAbsence: boolean): Finding['outcome'] => {
  if (work.success === true) return 'wrong';
  const until = end?.at ?? work.seconds;
  if (work.acted.some(({ from, to }) => from <= until && to >= at)) return 'open';
  if (end === null) return 'right';
  return isAbsence ? 'wrong' : 'open';
};

const toolAt = ({ timed }: Work, at: number): string | null =>
  timed.find(({ from, to }) => from <= at && at <= to)?.tool ?? timed.findLast(({ to }) => to <= at)?.tool ?? null;

const amountBefore = (work: Work, { at, call }: Change): Amount => ({
  seconds: work.seconds === 0 ? 0 : at,
  tokens: work.tokensAt(at) ?? 0,
  calls: call,
});

const amountAfter = (work: Work, { at, call }: Change): Amount => ({
  seconds: work.seconds === 0 ? 0 : Math.max(0, work.seconds - at),
  tokens: Math.max(0, (work.tokensAt(work.seconds) ?? 0) - (work.tokensAt(at) ?? 0)),
  calls: work.calls - call,
});
