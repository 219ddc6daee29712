import { DESCRIBED, DESCRIBED_CODITECT, type Descriptions } from './described.ts';
import { medianShare, type Seen, type Source } from './measure.ts';
import type { EmptyMarks } from './outcomes.ts';

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

const described = (all: readonly Seen[], descriptions: Descriptions): string =>
  all.length === 0
    ? 'None.'
    : all
        .map((one) => {
          const { to = '', call = 0, signals = [] } = one.flag ?? {};
          return `- **${nameOf(one)}**, ${to} at call ${call} of ${one.run.calls.length} (${signals.join(', ')}): ${descriptions[nameOf(one)] ?? 'not described'}`;
        })
        .join('\n');

const missedLines = (all: readonly Seen[]): string =>
  all.length === 0
    ? 'None.'
    : all.map((one) => `- ${nameOf(one)}, ${one.run.calls.length} calls, at worst ${one.judged.worst}`).join('\n');

export type Preset = { readonly policy: string; readonly sources: readonly Source[] };

const all = (sources: readonly Source[], pick: (source: Source) => readonly Seen[]): readonly Seen[] =>
  sources.flatMap(pick);

/** The signals that flag the most runs, with their numbers. */
const signalsOf = (flagged: readonly Seen[]): string => {
  const counts = Map.groupBy(
    flagged.flatMap(({ flag }) => flag?.signals.slice(0, 1) ?? []),
    (signal) => signal,
  );
  const most = [...counts].map(([name, all]) => [name, all.length] as const).sort((a, b) => b[1] - a[1]);
  return most.length === 0
    ? '–'
    : most
        .slice(0, 4)
        .map(([name, count]) => `${name} ${count}`)
        .join(', ');
};

const presetsTable = (presets: readonly Preset[]): string =>
  [
    row(['policy', 'successful runs flagged', 'by', 'failed runs flagged', 'by', 'made calls when flagged, median']),
    row(Array.from({ length: 6 }, () => '---')),
    ...presets.map(({ policy, sources }) => {
      const failed = all(sources, ({ runs }) => runs.filter(({ run }) => !run.success));
      const found = failed.filter(({ flag }) => flag !== null);
      const flagged = all(sources, ({ flagged }) => flagged);
      const early = medianShare(found);
      return row([
        policy,
        share(flagged.length, all(sources, ({ successes }) => successes).length),
        signalsOf(flagged),
        share(found.length, failed.length),
        signalsOf(found),
        early === null ? '–' : `${Math.round(100 * early)} % of the run`,
      ]);
    }),
  ].join('\n');

const accusedShare = (sources: readonly Source[]): string =>
  share(all(sources, ({ flagged }) => flagged).length, all(sources, ({ successes }) => successes).length);

/** What `coditect` flags. `asMarked`: with the marks that show nothing. */
export type OfCoditect = {
  readonly coditect: readonly Source[];
  readonly marks: { readonly empty: readonly EmptyMarks[]; readonly asMarked: readonly Source[] };
};

const emptyWords = ({ name, calls, successes }: EmptyMarks): string =>
  `${name} marks all ${calls} calls as failed, also those of its ${successes} successful runs. So its marks show nothing, and the outcomes of its calls count as unknown.`;

/** docs/accuracy.md. */
export const page = (
  sources: readonly Source[],
  hangs: Hangs,
  presets: readonly Preset[],
  { coditect, marks }: OfCoditect,
): string => `# Accuracy

Written by \`npm run bench accuracy\`, from recorded runs of real agents judged by \`vigil evaluate --json\` under the policy \`vigil\`. The runs are
not part of the product: VIGIL_TRACES names their folder. Without them the
benchmark reports that and leaves this page as it is.

Sources, all under the MIT licence, with every tool call and its result: princeton-nlp/intercode (bash, ctf, python), sierra-research/tau-bench (airline)
and NJU-LINK/CodeTracer (Claude Code 2.0.29). Only the last has times. Its calls carry the flags and deadlines that Vigil's adapter sends: edits
are mutating, and a deadline is what the arguments declare. In the others, calls count as 5 seconds apart, and nothing comes from silence. A rule labels a run as \`loop\`: six or more
identical calls in a row (tool, arguments, result without its digits), or a cycle of calls that repeats four times.
${marks.empty.map(emptyWords).join('\n')}

Flagged: judged STUCK or FAILING at any call.

${table(sources)}

The aims, and where each is measured:

- At most 1 in 100 successful runs of each source is flagged, and none of Claude Code: the table above.
- At least 95 of 100 loops are caught, a row at its fifth call: the table above. Loops of any period up to twelve are found by the fifth repetition,
  also where edits are declared mutating: generated loops in \`packages/health/src/presets/repetition.test.ts\`.
- \`packages/health/src/presets/generated.test.ts\` has more generated runs. Its loops of these periods have 14 kinds of noise, such as times,
  ids, ports, temporary names and changing descriptions. It also has 180 rotations of few calls, and 14 kinds of productive work. \`vigil\` finds the loops, \`vigil\` and \`coditect\` find the rotations, and neither flags the work.
- \`packages/health/src/presets/varying-values.test.ts\` has forty more cases, with seeds. Loops with the values of 21 kinds of tools are found by the fifth repetition.
  Work of 18 kinds is never flagged. Before it was written, 4 of the 21 hid a loop, and no work was flagged.
- \`packages/health/src/presets/noise-in-calls.test.ts\` has 20 loops of all periods up to twelve, with noise in arguments, too, and work of 24 kinds.
  Of its first 20 loops 10 were missed; three of these are limits that are named below. No work was flagged, except by the failures in a row of \`coditect\`.
- \`packages/health/src/presets/kinds-of-calls.test.ts\` has 45 loops and 40 kinds of work of kinds that the other tests do not have, such as watches of pods, edits back and forth, cursors and clicks.
  At first 6 loops were missed: counts of restarts and of a rate limit, seconds before a line and a spinner hid them. 8 kinds of work were flagged, because positions,
  commits, checksums and lists of addresses were no news. Now all loops are found by the fifth repetition, and no work is flagged, except by the failures in a row of \`coditect\`.
- No productive repetition is STUCK. Its answers differ in figures: training logs, progress bars, shrinking failures, pages. The same test lists them,
  because no rule labels them in the recorded runs.

## Every preset

All sources together. A failed run is one that did not do its task; most of these made no loop and no pause that a monitor could see.

${presetsTable(presets)}

The presets of the five sources have the limits of their sources. \`coditect\` flags by "more than three failures in a row" and ends such an agent at once,
without a nudge. Its source promises fewer than 1 false positive in 100: it flags ${accusedShare(coditect)}, all by sentences of the source, as listed below. With the marks that show
nothing it would flag ${accusedShare(marks.asMarked)}. \`demo\` has limits of seconds, so a pause of a real agent is silence to it: it is for the demonstration only.

## Successful runs that are flagged

${described(
  sources.flatMap(({ flagged }) => flagged),
  DESCRIBED,
)}

## Successful runs that \`coditect\` flags

By cause: ${signalsOf(all(coditect, ({ flagged }) => flagged))}. The quoted sentences are those of its source.

${described(
  all(coditect, ({ flagged }) => flagged),
  DESCRIBED_CODITECT,
)}

## Loops that are missed

${missedLines(sources.flatMap(({ missed }) => missed))}

## Silence

An hour of silence after the middle call of each successful run of two calls or more is found in ${share(hangs.found, hangs.of)}, after ${hangs.earliest.toFixed(3)} to ${hangs.latest.toFixed(3)} seconds. The
policy's limit is 360 s, exclusive. The limit follows from two timed sources: their successful runs (161 and 51) needed at most 310 s between two finished
calls. A declared deadline moves the limit for its call to the deadline and 60 s.

## The choice of the limits

- **Five in a row, four turns of a cycle** for STUCK; one less of each for DEGRADED. Times, ids, addresses, counts of attempts and the positions of errors do not make a
  result different. Other figures do: a training log, a page that is turned, and fewer failed tests are progress. So do a cursor, the time left,
  a date without a time, and ten digits without a label of a time. A row whose results differ in figures only is DEGRADED at most.
  The recorded hashes mask all digits or none, so the loops here that differ in numbers only count as missed.
- **A new result ends it.** A result that these arguments have not had lately ends every row; so does a successful mutation, unless the same one was made before. So editing and testing again is
  not a loop, however often the test fails in the same way, but undoing and repeating an edit is. Nor is scrolling, a retry after a different wait, or a poll whose answer changes in more than numbers.
- **Failures in a row** are DEGRADED from the ninth and FAILING from the 25th. As FAILING the ninth would flag one more successful run, and half of
  its failed runs try something else each time.
- **Few calls in rotation** are STUCK from the twelfth in a row without a new answer: at most four different calls, in any order. No successful run has more than nine.
- **A wait is not a loop** for 30 minutes: a command that waits, in any wrapper, and the call right after it that succeeds. If that call fails, or two calls follow the wait, it is a loop like any other.
- **Unknown facts do not count against a run**: no heartbeats are recorded, so their absence is not judged, nor is the time after the last call.

## Known limits

- **A poll without a wait** (\`kubectl get pods\` again and again) with the same answer is a loop at the fifth call. A command that sleeps, or a wait before it, makes it a poll.
- **A wait hides a loop** of itself and one call that succeeds for 30 minutes.
- **A present time that is the only news** is noise, because a loop prints it, too. So \`tail -1 app.log\` is a loop at the fifth call if its lines differ in their times only.
  Under \`vigil\` the agent is nudged first, and a loop alone never ends it. A wait in the command (\`sleep 20; tail -1 app.log\`) makes it a poll, and \`except: [TOOL]\` of \`repeated_calls\` leaves a tool out.
- **An id in plain text is noise.** Where another id is the only news in an answer that is not JSON, the answer counts as the same. Exceptions are a list of lines that are nothing but ids or addresses,
  a checksum as \`sha256sum\` prints it, and a commit as \`git\` prints it. So a loop that amends a commit and prints its hash is not found.
- **Ten digits without a label** (\`1790000123 pending\`) are a count. A loop whose answers differ in them only is DEGRADED. Within brackets at the start of a line they are a time, as in a field of JSON whose name ends as that of a time.
- **A repetition for its durations**, such as a benchmark or a search for a flaky test, is a loop at the fifth call, because a duration is not progress.
- **A clock without a date** counts as noise, unless it is a position: \`out_time\`, \`position\`, ffmpeg's \`time=\` with hundredths, or before a slash and its total. The words left, remaining or ETA make it new, too.
- **Old dates**: a time that is more than a day older than its call is data and makes an answer new. Without the time of the call every time is noise. If a machine's clock is
  more than a day ahead of the tools on it, a loop with their times is DEGRADED at most.
- **Figures of a monitor** (\`free\`, \`top\`, \`ps\`) differ in each answer without news. A loop with them is DEGRADED at most, because they look like figures of progress.
- **A new call between two repetitions**, such as a note with another text, makes another call of each second one. The same call with the same answer is then found neither as a row nor
  as a cycle, but by failures, budgets and missing checkpoints. \`frequent_call: { times: 5, of: 10 }\` finds it, and is in no preset, because a test between two edits looks the same.
- **A hexadecimal figure of seven digits or more**, a process, a port or an address that is the only news in a text is noise. So is the line number of a failure: a compile error that moves up is the same error.
- **A single new word in each answer** makes it new, so a loop with a random word in its answers is found by failures, budgets and silence only.
- **An argument that changes in each call**, such as a trace id, makes another call. One answer to 24 such calls is DEGRADED. In commands, a comment, the ids of a request in its headers
  and a time against caches do not count, nor do arguments such as \`nonce\` and \`idempotency_key\`.
- **Cycles of more than twelve calls** are found from the 24th call without a new answer.
- **Cut results**: a client that cuts long results, or records none, hides what differs in them. Telemetry has results only where the client exports them.
- **\`codex exec --json\`** reports which files an edit changed and not the change, so two edits of one file look the same.
- **\`gemini --output-format stream-json\`** prints no exit codes, so its shell commands count neither as failures nor as repetitions. Its session file has them.
- **A new pod or random token in plain text is noise**, also where it is the only news. So is a seed of three digits or more. As a number in JSON, a seed is a figure like any other.
- **ATIF and OTLP** have the outcome of a call only where the source writes it (\`extra.is_error\`, \`error.type\`). So \`false_completion\` finds no failed checks there without them.
- **A check within another tool** (a script of any name, a tool of an MCP server) counts for \`false_completion\` only where the agent declares it as a check.
`;
