import { DESCRIBED } from './described.ts';
import type { Seen, Source } from './measure.ts';

export const nameOf = ({ run }: Seen): string => `${run.src} ${run.run_id}`;

/**
 * The figures of the page beside the sources. `hangs`: seconds of silence until STUCK, one for each successful run with
 * two calls or more.
 */
export type Hangs = { readonly found: number; readonly of: number; readonly earliest: number; readonly latest: number };

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
const share = (some: number, all: number): string =>
  all === 0 ? '–' : `${some} of ${all} (${((100 * some) / all).toFixed(1)} %)`;

const table = (sources: readonly Source[]): string =>
  [
    row([
      'source',
      'runs',
      'successful',
      'of them flagged',
      'of them DEGRADED',
      'loops caught',
      'by the fifth call of a row',
      'other failed runs flagged',
    ]),
    row(Array.from({ length: 8 }, () => '---')),
    ...sources.map((s) =>
      row([
        s.name,
        s.runs.length,
        s.successes.length,
        share(s.flagged.length, s.successes.length),
        share(s.degraded.length, s.successes.length),
        share(s.loops.length - s.missed.length, s.loops.length),
        share(s.rows.length - s.late.length, s.rows.length),
        share(s.othersFlagged.length, s.others.length),
      ]),
    ),
  ].join('\n');

const described = (all: readonly Seen[]): string =>
  all.length === 0
    ? 'None.'
    : all
        .map((one) => {
          const { to = '', call = 0, signals = [] } = one.flag ?? {};
          return `- **${nameOf(one)}**, ${to} at call ${call} of ${one.run.calls.length} (${signals.join(', ')}): ${DESCRIBED[nameOf(one)] ?? 'not described'}`;
        })
        .join('\n');

const missedLines = (all: readonly Seen[]): string =>
  all.length === 0
    ? 'None.'
    : all.map((one) => `- ${nameOf(one)}, ${one.run.calls.length} calls, at worst ${one.judged.worst}`).join('\n');

/** docs/accuracy.md. */
export const page = (sources: readonly Source[], hangs: Hangs): string => `# Accuracy

Written by \`npm run bench accuracy\`, from recorded runs of real agents judged by \`vigil evaluate --json\` under the policy \`vigil\`. The runs are
not part of the product: VIGIL_TRACES names their folder. Without them the
benchmark reports that and leaves this page as it is.

Sources: princeton-nlp/intercode (bash, ctf, python) and sierra-research/tau-bench (airline), both under the MIT licence, with every tool call and
its result. They carry no times, so calls count as 5 seconds apart, and nothing in this table comes from silence. A rule labels a run as \`loop\`: six or more
identical calls in a row (tool, arguments, result without its digits), or a cycle of calls that repeats four times.

Flagged: judged STUCK or FAILING at any call.

${table(sources)}

The aim: at most 1 in 100 successful runs of each source flagged; at least 95 of 100 loops caught, a row at its fifth call.

## Successful runs that are flagged

${described(sources.flatMap(({ flagged }) => flagged))}

## Loops that are missed

${missedLines(sources.flatMap(({ missed }) => missed))}

## Silence

An hour of silence after the middle call of each successful run of two calls or more is found in ${share(hangs.found, hangs.of)}, after ${hangs.earliest.toFixed(3)} to ${hangs.latest.toFixed(3)} seconds. The
policy's limit is 360 s, exclusive. The limit follows from two timed sources: their successful runs (161 and 51) needed at most 310 s between two finished
calls. A declared deadline moves the limit for its call to the deadline and 60 s.

## The choice of the limits

- **Five in a row, four turns of a cycle** for STUCK; one less of each for DEGRADED. Results are compared by their exact hash and by the hash with
  masked digits. One real loop of twenty calls changed nothing but the line number of its error. The rows of 3 of the 366
  loops here differ in numbers only.
- **A new result ends it.** A result that these arguments have not had lately, or a successful mutation, ends every row. So editing and testing again is
  not a loop, however often the test fails in the same way. Nor is scrolling, a retry after a different wait, or a poll whose answer changes in more than numbers.
- **Failures in a row** are DEGRADED from the ninth and FAILING from the 25th. As FAILING the ninth would flag one more successful run, and half of
  its failed runs try something else each time.
- **Unknown facts do not count against a run**: no heartbeats are recorded, so their absence is not judged, nor is the time after the last call.
`;
