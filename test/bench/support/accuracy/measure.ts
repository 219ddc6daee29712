import { fifthOfARow, fourthTurn } from './loops.ts';
import type { Change, Judged, Run } from './runs.ts';

export type Seen = { readonly run: Run; readonly judged: Judged; readonly flag: Change | null };

/** The measurements of the runs of one source. */
export type Source = {
  readonly name: string;
  readonly runs: readonly Seen[];
  readonly successes: readonly Seen[];
  readonly flagged: readonly Seen[];
  readonly degraded: readonly Seen[];
  readonly loops: readonly Seen[];
  readonly missed: readonly Seen[];
  /** loops with a row of five, and those that were not detected by the fifth call */
  readonly rows: readonly Seen[];
  readonly late: readonly Seen[];
  /** failed runs that are not labelled as loops, and those judged STUCK or FAILING */
  readonly others: readonly Seen[];
  readonly othersFlagged: readonly Seen[];
};

const isFlag = ({ to }: Change): boolean => to === 'STUCK' || to === 'FAILING';

export const seen = (run: Run, judged: Judged): Seen => ({ run, judged, flag: judged.changes.find(isFlag) ?? null });

export const bySource = (all: readonly Seen[]): readonly Source[] =>
  [...Map.groupBy(all, ({ run }) => run.src)].map(([name, runs]) => {
    const successes = runs.filter(({ run }) => run.success);
    const loops = runs.filter(({ run }) => run.label === 'loop');
    const rows = loops.filter(({ run }) => fifthOfARow(run.calls) !== null);
    const others = runs.filter(({ run }) => !run.success && run.label !== 'loop');
    return {
      name,
      runs,
      successes,
      flagged: successes.filter(({ flag }) => flag !== null),
      degraded: successes.filter(({ judged }) => judged.worst === 'DEGRADED'),
      loops,
      missed: loops.filter(({ flag }) => flag === null),
      rows,
      late: rows.filter(({ run, flag }) => flag === null || flag.call > (due(run) ?? 0)),
      others,
      othersFlagged: others.filter(({ flag }) => flag !== null),
    };
  });

/** The share of a run's calls that were made when it was flagged, in the median of flagged runs; null without one. */
export const medianShare = (flagged: readonly Seen[]): number | null => {
  const shares = flagged.map(({ run, flag }) => (flag?.call ?? 0) / run.calls.length).sort((a, b) => a - b);
  return shares[Math.floor(shares.length / 2)] ?? null;
};

/** The call by which a loop must be detected: the earlier of the two limits. */
const due = ({ calls }: Run): number | null => {
  const both = [fifthOfARow(calls), fourthTurn(calls)].filter((call) => call !== null);
  return both.length === 0 ? null : Math.min(...both);
};

export const HANG_S = 3_600;
const GAP_S = 5;

/** The run with an hour of silence after its middle call, and 5 s between the other calls. */
export const hanging = (run: Run): Run => {
  const middle = hungAfter(run);
  return {
    ...run,
    calls: run.calls.map((call, i) => {
      const ts = GAP_S * i + (i < middle ? 0 : HANG_S);
      // With an unknown start, the call after the silence could have taken all of it.
      return { ...call, ts, started_at: ts, deadline_at: null };
    }),
  };
};

/** The duration of the silence when the run is first judged STUCK, seconds; null if it is not. */
export const silenceUntilStuck = (run: Run, { changes }: Judged): number | null => {
  const from = GAP_S * (hungAfter(run) - 1);
  const found = changes.find(({ to, at }) => to === 'STUCK' && at > from && at < from + HANG_S);
  return found === undefined ? null : found.at - from;
};

export const hungAfter = ({ calls }: Run): number => Math.max(1, Math.floor(calls.length / 2));
