import { type Command, InvalidArgumentError } from 'commander';
import { ADMINISTRATION } from '../groups.ts';
import { instantOption } from './period.ts';

const EXAMPLES = `
Without FILE it reads the log itself (KAFKA_BROKERS, SCHEMA_REGISTRY_URL), outside any consumer group, and changes nothing.
FILE is what \`vigil replay export\` writes, or what \`vigil evaluate\` reads: recorded runs, session files and output of clients.
Each limit of the policy is tried with smaller and larger values, each signal alone. A finding is wrong if the agent continued by
itself or its run was successful. It is right if it lasted to the end of the record. Where a plan acted on the agent it is neither.
A limit that is wrong for too many agents or runs gets the smallest value that is not. A smaller one is proposed only if it saves
work and neither it nor the next smaller one is ever wrong. Compare the proposal on the log: vigil replay what-if.

Examples:
  vigil tune --policy vigil --from 7d
  vigil tune --policy ./mine.yaml --out tuned.yaml ~/.claude/projects/*/*.jsonl
  vigil tune --policy omniclaude runs.jsonl.gz --json`;

const percent = (text: string): number => {
  const value = Number(text.replace(/%$/, ''));
  if (text.trim() === '' || !(value >= 0 && value <= 100))
    throw new InvalidArgumentError('Give a percentage from 0 to 100.');
  return value;
};

export const register = (program: Command): void => {
  program
    .command('tune')
    .helpGroup(ADMINISTRATION)
    .description("propose a policy's limits from a fleet's own history, with the evidence")
    .argument('[file...]', 'exported spans, recorded runs, session files or output of clients; none: the log')
    .option('--policy <policy>', "a preset's name, or the path of a policy", 'vigil')
    .option('--most-wrong <percent>', 'of the agents or runs that may have a wrong finding of a limit', percent, 1)
    .option('--out <file>', 'write the proposed policy into a new file')
    .option('--from <time>', 'of the log from then on: 2h ago, or a time such as 2026-11-27T14:00Z', instantOption)
    .option('--to <time>', 'until then', instantOption)
    .option('--agent <agent>', 'of one agent')
    .option('--json', 'for programs')
    .addHelpText('after', EXAMPLES)
    // Judgement is loaded by this command only: every other one starts without it.
    .action(async (files, options) => (await import('../../tune/tune.ts')).tunePolicy(files, options));
};
