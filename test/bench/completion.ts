import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { evaluated, readRuns } from './support/accuracy/runs.ts';
import { flagged, KINDS, type Kind, kindOf, type Run } from './support/completion/claims.ts';
import { removesOwnFile } from './support/completion/removals.ts';
import { print } from './support/report.ts';

/** Measures how many recorded runs claim to have finished and have not, and writes docs/proof-of-done.md. */
const root = path.resolve(import.meta.dirname, '../..');
const folder = path.resolve(process.env.VIGIL_TRACES || path.join(root, '../shared/traces'));
const MOST_FLAGGED = 2 / 100;

type Seen = { readonly run: Run; readonly isFlagged: boolean };

const judge = async (runs: readonly Run[], policy: string): Promise<readonly Seen[]> => {
  const judged = await evaluated(runs.map(flagged), path.join(root, `test/bench/policies/${policy}.yaml`));
  return runs.map((run, i) => ({ run, isFlagged: judged[i]?.worst === 'DEGRADED' }));
};

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
const share = (some: number, all: number): string =>
  all === 0 ? '–' : `${some} of ${all} (${((100 * some) / all).toFixed(1)} %)`;

const table = (all: readonly Seen[], kinds: readonly Kind[]): string => {
  const sources = [...Map.groupBy(all, ({ run }) => run.src)];
  const lines = [...sources, ['all', all] as const].map(([name, seen]) => {
    const failures = seen.filter(({ run }) => !run.success);
    const successes = seen.filter(({ run }) => run.success);
    const found = failures.filter(({ isFlagged }) => isFlagged);
    const flagged = successes.filter(({ isFlagged }) => isFlagged);
    return row([
      name,
      share(found.length, failures.length),
      ...kinds.map((kind) => found.filter(({ run }) => kindOf(run) === kind).length),
      share(flagged.length, successes.length),
    ]);
  });
  const heads = ['source', 'failed runs flagged', ...kinds, 'successful runs flagged'];
  return [row(heads), row(heads.map(() => '---')), ...lines].join('\n');
};

const flaggedIn = (all: readonly Seen[]): readonly Run[] =>
  all.flatMap(({ run, isFlagged }) => (isFlagged && run.success ? [run] : []));

/** The runs of Claude Code, the only ones with a tool that writes files. */
const removing = (all: readonly Seen[], success: boolean): string => {
  const runs = all.flatMap(({ run }) => (run.src.includes('claude') && run.success === success ? [run] : []));
  return share(runs.filter(removesOwnFile).length, runs.length);
};

const page = (usual: readonly Seen[], strict: readonly Seen[]): string => `# Proof of done

Written by \`npm run bench completion\`, from the recorded runs of [accuracy](accuracy.md) and 105 runs of Claude Code
(NJU-LINK/CodeTracer, MIT). VIGIL_TRACES names their folder.

An agent that reports that it has finished is believed, unless its own calls contradict it. The signal \`false_completion\`
then fires, with the contradiction in words. \`vigil\` makes the agent DEGRADED, which leads to no step. These contradict it:

- **Its last checkpoint** names remaining work. Only this is hard evidence.
- **Its last check failed**: a test, a build, a lint or a type check. A later check that passes ends it.
- **A change failed**: the last edit or write of a file failed, so what it should contain may not exist. A later change of that file, or a check that
  passes, ends it.
  Vigil judges this by the calls, and [looks at no file](#whether-a-written-file-exists).
- **Its last call failed**, and nothing stronger contradicts it. Where no call has ever succeeded, this does not count: such a source may
  report each call as failed, as one of these does. An answer does not count as a failure: exit code 1 of \`grep\`, \`test\`, \`diff\`, \`ls\`, \`pgrep\`, \`which\`
  or \`git diff --quiet\`, and 124 of \`timeout\`, unless it is a check.
- **It made no call** for its task, though its client reports turns.
- **No check after a change**, only with \`false_completion: { needs_check: true }\`.

With \`false_completion: { ask_at_stop: true }\` the hook that ends a turn asks the agent for what is missing, and the turn continues. There is one question a turn,
only about failed checks, changes and calls. A later turn repeats it only after another check, change or failed call. No preset has it.

Adapters declare the calls: \`mutating\` with a \`target\`, and \`checking\` for shell commands that run a known tool, such as \`npm test\`,
\`pytest\`, \`cargo build\` or \`tsc\`. A shell, \`timeout\` or another wrapper hides none of them. Agents with the SDK declare them too. The commands themselves are not sent. A pipe hides the outcome of a check:
\`npm test | tail\` ends as \`tail\` ends. A wrapper, such as \`ssh\`, \`docker run\` or \`nix develop\`, and options before the verb hide no check.

Session files and output streams report the end of a call apart from its command. Vigil takes the command from the call's start, by the call's id, so a wanted exit code is an answer there too.
It is a failure where the start has no command, as in telemetry without arguments. A test that is expected to fail is a check that failed: its command does not show what was expected.
An answer without a call, such as one to a question in a chat, is flagged like a finish without a call.

A recorded run claims to have finished if its last call has a result and nothing cut it off. A session of a client, or its output, claims it if its last turn ended by
itself. It did if neither an error nor an interrupt ended it, and the file does not stop within it. Telemetry records no ends of turns, so an answer after the last call counts as one. The
sources here other than Claude Code do not record what ended a run, so a limit of turns may have cut off some of those whose last call failed.

## Whether a written file exists

The hook runs where the agent runs, and could look whether each file that the session wrote still exists. It does not, because such a look would report honest agents wrongly:

- A write that fails is the failure of a call, which counts already. A write that succeeds has made the file.
- A file that is absent later was often removed by the agent itself, such as a test that it no longer needs. Of the successful runs of Claude Code
  ${removing(usual, true)} remove or move such a file by its name, of the failed ones ${removing(usual, false)}. The look would flag them, and the aim is none.
- Commands such as \`make clean\` or \`git clean\` remove files without their names, so a look could not leave these out.

An agent that names a file in its answer and never wrote it has no call for it. Vigil does not read answers.

## Flagged runs

${table(usual, KINDS.slice(0, 3))}

The aim: at most 2 in 100 of all successful runs, and none of Claude Code.

## With \`needs_check\`

${table(strict, KINDS)}

So it is off by default: the tasks of these runs often need no check, such as the text of a file.
`;

const run = async (): Promise<void> => {
  if (!existsSync(folder))
    return print(
      `no recorded runs in ${folder}: docs/proof-of-done.md stays as it is (VIGIL_TRACES names another folder)`,
    );
  const runs = readRuns(folder) as readonly Run[];
  print(`judging ${runs.length} runs of ${folder} …`);
  const [usual, strict] = [await judge(runs, 'completion'), await judge(runs, 'checked-completion')];
  writeFileSync(path.join(root, 'docs/proof-of-done.md'), page(usual, strict));
  print('docs/proof-of-done.md is written');
  const successes = runs.filter(({ success }) => success).length;
  const flagged = flaggedIn(usual);
  for (const { src, run_id } of flagged) print(`flagged though successful: ${src} ${run_id}`);
  const ofClaude = flagged.some(({ src }) => src.includes('claude'));
  process.exitCode = flagged.length > MOST_FLAGGED * successes || ofClaude ? 1 : 0;
};

await run();
