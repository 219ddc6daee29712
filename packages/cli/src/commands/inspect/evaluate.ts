import { type Command, Option } from 'commander';
import { FORMAT_NAMES, FORMATS } from '../../evaluate/formats.ts';
import { durationOption } from '../control/options.ts';
import { ADMINISTRATION } from '../groups.ts';

type Options = {
  readonly policy: string;
  readonly gap: number;
  readonly format?: string;
  readonly json?: boolean;
};

const EXAMPLES = `
Vigil recognizes FILE by its content, plain or gzipped; - is standard input. The formats:
  ${FORMATS.join('\n  ')}
A recorded run has calls with tool, args and result. It may have src, task, success, label, ended_at and cut_off. A call may have err, ts (seconds),
args_h, res_h, resn_h and the call fields of a heartbeat. outcome: running is a call in flight; a call without an end is none.
A run counts as finished at its last call. If that call is in flight, or with cut_off: true, the time until ended_at is judged too.
In a session each agent is judged, with its sub-agents. Missing fields are unknown, and without ended_at nothing is
judged after the last entry. A call with an unknown start may have taken the whole time before its end, so that time is not silence.

--json prints a line for each run: {"run_id", "worst", "changes": [{"to", "call", "at", "signals"}], "file", "line"}; call: calls folded so
far, at: seconds since the first. After the runs of a file follows {"file", "policy", "can_flag", "unfed": [{"signal", "missing"}]}. It names the
signals of the policy that the file cannot make fire. can_flag false: nothing in it can be judged STUCK or FAILING.
It needs no servers. Exits with 1 if a file cannot be read whole; the rest is still judged.

Examples:
  vigil evaluate runs.jsonl.gz
  vigil evaluate ~/.claude/projects/*/*.jsonl
  codex exec --json 'fix the tests' | tee run.jsonl; vigil evaluate --format codex-stream run.jsonl
  vigil evaluate --policy coditect --json runs.jsonl | jq 'select(.run_id and .worst != "HEALTHY")'
  zcat runs/*.gz | vigil evaluate --policy ./strict.yaml --gap 30s -`;

export const register = (program: Command): void => {
  program
    .command('evaluate')
    .helpGroup(ADMINISTRATION)
    .description('judge recorded runs and sessions, offline')
    .argument('<file...>', 'recorded runs, ATIF trajectories, session files or output of clients')
    .option('--policy <policy>', "a preset's name, or the path of a policy", 'vigil')
    .addOption(
      new Option('--gap <duration>', 'from call to call where no times are recorded; never counts as silence')
        .argParser(durationOption)
        .default(5_000, '5s'),
    )
    .addOption(new Option('--format <format>', 'instead of recognizing it by the content').choices(FORMAT_NAMES))
    .option('--json', 'a line of JSON for each run or agent')
    .addHelpText('after', EXAMPLES)
    // Judgement is loaded by this command only: every other one starts without it.
    .action(async (files: readonly string[], options: Options) =>
      (await import('../../evaluate/evaluate.ts')).evaluateFiles(files, options),
    );
};
