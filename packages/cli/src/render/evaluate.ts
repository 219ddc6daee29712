import type { Odd, Source, Tally } from '../evaluate/tally.ts';
import { type Column, table, type View } from './view.ts';

type Row = Source & { readonly name: string };

const COLUMNS: readonly Column<Row>[] = [
  { title: 'SOURCE', of: ({ name }) => name },
  { title: 'RUNS', of: ({ runs }) => String(runs) },
  { title: 'SUCCESSFUL', of: ({ successful }) => String(successful) },
  { title: 'DEGRADED', of: ({ worst }) => String(worst.DEGRADED) },
  { title: 'STUCK', of: ({ worst }) => String(worst.STUCK) },
  { title: 'FAILING', of: ({ worst }) => String(worst.FAILING) },
  { title: 'FLAGGED SUCCESSES', of: ({ flaggedSuccesses }) => String(flaggedSuccesses) },
  { title: 'LOOPS CAUGHT', of: ({ loops, caughtAt }) => (loops === 0 ? '-' : `${caughtAt.length} of ${loops}`) },
  { title: 'AT CALL (MEDIAN, LAST)', of: ({ caughtAt }) => atCall(caughtAt) },
];

/** Judged runs by source, by their worst state; then what stands against `success` and `label`. */
export function evaluatedLines(view: View, { sources, flagged, missed, unknown }: Tally): string[] {
  const rows = [...sources].map(([name, source]): Row => ({ name, ...source }));
  if (rows.length === 0) return ['No runs.'];
  const sum = (of: (source: Source) => number) => rows.reduce((total, row) => total + of(row), 0);
  const [successes, loops] = [sum(({ successful }) => successful), sum((row) => row.loops)];
  const flags = sum(({ flaggedSuccesses }) => flaggedSuccesses);
  const [unknowns, found] = [sum((row) => row.unknown), sum(({ flaggedUnknown }) => flaggedUnknown)];
  const caught = sum(({ caughtAt }) => caughtAt.length);
  return [
    ...table(view, COLUMNS, rows),
    '',
    successes === 0
      ? 'No run reports that it was successful.'
      : share(flags, successes, 'successful runs', 'judged STUCK or FAILING'),
    ...oddLines(flagged, flags),
    ...(found === 0 ? [] : [share(found, unknowns, 'runs of unknown outcome', 'judged STUCK or FAILING')]),
    ...oddLines(unknown, found),
    loops === 0 ? 'No run is labelled a loop.' : share(caught, loops, 'runs labelled loop', 'caught'),
    ...oddLines(missed, loops - caught),
  ];
}

const share = (some: number, all: number, what: string, how: string): string =>
  `${some} of ${all} ${what} ${how} (${((100 * some) / all).toFixed(1)} %).`;

function oddLines(odds: readonly Odd[], all: number): string[] {
  const lines = odds.map(({ runId, src, what }) => `  ${src} ${runId}: ${what}`);
  return all > odds.length ? [...lines, `  … and ${all - odds.length} more`] : lines;
}

function atCall(calls: readonly number[]): string {
  const sorted = calls.toSorted((a, b) => a - b);
  return sorted.length === 0 ? '-' : `${sorted[Math.floor((sorted.length - 1) / 2)]}, ${sorted.at(-1)}`;
}
