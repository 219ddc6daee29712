import type { Input, JudgedRun } from '@vigil/health';
import { plainAll } from '../render/plain.ts';
import { type Column, table, type View } from '../render/view.ts';

/** A judged run, or a judged agent of a session. Null: unknown. */
export type Judgement = {
  readonly run_id: string;
  readonly src: string | null;
  readonly success: boolean | null;
  readonly label: string | null;
  readonly calls: number;
  /** the calls of a loop at the end of the first `call` calls; null: no loop, or unknown */
  readonly loopBy: (call: number) => number | null;
  /** what its record contains */
  readonly inputs: ReadonlySet<Input>;
  readonly judged: JudgedRun;
};

/** Runs that deserve a look: a flagged run that was successful, or may have been; a loop that was missed. */
export type Odd = { readonly runId: string; readonly src: string; readonly what: string };

/** The runs of one source. `caughtAt`: for each loop that was caught, its own calls by then. */
export type Source = {
  runs: number;
  successful: number;
  readonly worst: Record<'DEGRADED' | 'STUCK' | 'FAILING', number>;
  flaggedSuccesses: number;
  /** runs whose success is unknown */
  unknown: number;
  flaggedUnknown: number;
  loops: number;
  readonly caughtAt: number[];
};

/** The largest number of listed runs; the rest is counted. */
const LISTED = 20;
const FLAGS: readonly string[] = ['STUCK', 'FAILING'];
const CLAIM = 'false_completion';

/** Counts of judged runs: small, however many there are. */
export class Tally {
  readonly sources = new Map<string, Source>();
  readonly flagged: Odd[] = [];
  readonly missed: Odd[] = [];
  /** Flagged, and whether they were successful is not known. */
  readonly unknown: Odd[] = [];
  /** Runs that claim to have finished, and whose calls contradict it; and how many there are. */
  readonly claiming: Odd[] = [];
  claims = 0;

  add(run: Judgement): void {
    const { worst, changes } = run.judged;
    const src = run.src ?? '-';
    const source = this.#sourceOf(src);
    const flag = changes.find(({ to }) => FLAGS.includes(to));
    const odd = (what: string): Odd => ({ runId: run.run_id, src, what });
    source.runs += 1;
    if (worst === 'DEGRADED' || worst === 'STUCK' || worst === 'FAILING') source.worst[worst] += 1;
    const claim = changes.find(({ signals }) => signals.includes(CLAIM));
    if (claim) {
      this.claims += 1;
      list(this.claiming, odd(`${claim.to} after call ${claim.call}`));
    }
    const found = flag && odd(`${flag.to} at call ${flag.call}: ${flag.signals.join(', ')}`);
    if (run.success) {
      source.successful += 1;
      if (found) {
        source.flaggedSuccesses += 1;
        list(this.flagged, found);
      }
    }
    if (run.success === null) {
      source.unknown += 1;
      if (found) {
        source.flaggedUnknown += 1;
        list(this.unknown, found);
      }
    }
    if (run.label !== 'loop') return;
    source.loops += 1;
    if (flag) source.caughtAt.push(run.loopBy(flag.call) ?? flag.call);
    else list(this.missed, odd(`${run.calls} calls, at worst ${worst}`));
  }

  #sourceOf(name: string): Source {
    const known = this.sources.get(name);
    if (known) return known;
    const none = { DEGRADED: 0, STUCK: 0, FAILING: 0 };
    const counts = { runs: 0, successful: 0, flaggedSuccesses: 0, unknown: 0, flaggedUnknown: 0, loops: 0 };
    const fresh = { ...counts, worst: none, caughtAt: [] };
    this.sources.set(name, fresh);
    return fresh;
  }
}

const list = (odds: Odd[], odd: Odd): void => {
  if (odds.length < LISTED) odds.push(odd);
};

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
  { title: 'AT CALL OF THE LOOP (MEDIAN, LAST)', of: ({ caughtAt }) => atCall(caughtAt) },
];

/** Judged runs by source, by their worst state; then what stands against `success` and `label`. */
export const evaluatedLines = (
  view: View,
  { sources, flagged, missed, unknown, claiming, claims }: Tally,
): string[] => {
  // Names that a recorded file gives do not control the terminal.
  const rows = plainAll([...sources].map(([name, source]): Row => ({ name, ...source })));
  if (rows.length === 0) return ['No runs.'];
  const sum = (of: (source: Source) => number) => rows.reduce((total, row) => total + of(row), 0);
  const [successes, loops] = [sum(({ successful }) => successful), sum((row) => row.loops)];
  const flags = sum(({ flaggedSuccesses }) => flaggedSuccesses);
  const [unknowns, found] = [sum((row) => row.unknown), sum(({ flaggedUnknown }) => flaggedUnknown)];
  const caught = sum(({ caughtAt }) => caughtAt.length);
  return [
    ...table(view, COLUMNS, rows, 'No runs.'),
    '',
    successes === 0
      ? 'No run reports that it was successful.'
      : share(flags, successes, 'successful runs', 'judged STUCK or FAILING'),
    ...oddLines(flagged, flags),
    ...(found === 0 ? [] : [share(found, unknowns, 'runs of unknown outcome', 'judged STUCK or FAILING')]),
    ...oddLines(unknown, found),
    loops === 0 ? 'No run is labelled a loop.' : share(caught, loops, 'runs labelled loop', 'caught'),
    ...oddLines(missed, loops - caught),
    ...(claims === 0 ? [] : [`Runs that claim to be done although their calls contradict it (${CLAIM}): ${claims}.`]),
    ...oddLines(claiming, claims),
  ];
};

const share = (some: number, all: number, what: string, how: string): string =>
  `${some} of ${all} ${what} ${how} (${((100 * some) / all).toFixed(1)} %).`;

const oddLines = (odds: readonly Odd[], all: number): string[] => {
  const lines = plainAll(odds).map(({ runId, src, what }) => `  ${src} ${runId}: ${what}`);
  return all > odds.length ? [...lines, `  … and ${all - odds.length} more`] : lines;
};

const atCall = (calls: readonly number[]): string => {
  const sorted = calls.toSorted((a, b) => a - b);
  return sorted.length === 0 ? '-' : `${sorted[Math.floor((sorted.length - 1) / 2)]}, ${sorted.at(-1)}`;
};
