import { type Command, InvalidArgumentError } from 'commander';
import { withWriteOptions } from '../control/options.ts';
import { ADMINISTRATION } from '../groups.ts';

const EXAMPLES = `
check, diff of files, and import need no servers; the others need the dashboard. FILE is a policy's YAML or an assign.yaml.
To diff, a word with a folder or with .yaml is a file; any other word is the name of a policy in force first.

Examples:
  vigil policy list                                   policies in force, their source, the number of agents
  vigil policy show vigil > mine.yaml                 a policy as YAML
  vigil policy check policies/                        every mistake of every file, and warnings
  vigil policy diff vigil mine.yaml                   differences by path, old and new
  vigil policy apply mine.yaml --why "builds are slow today" --dry-run
  vigil policy apply policies/ --remove mine          put files into force, withdraw "mine"
  vigil policy import botbox .botbox.json > botbox.yaml
  vigil policy import botbox .botbox.json --migrate --write`;

/** Judgement is loaded by these commands only: every other one starts without it. */
const policies = () => import('../../policy/policies.ts');
const files = () => import('../../policy/files.ts');

const names = (name: string, before: readonly string[] = []): readonly string[] => {
  if (!/^[A-Za-z0-9._-]+$/.test(name)) throw new InvalidArgumentError("Give a policy's name.");
  return [...before, name];
};

export const register = (program: Command): void => {
  const policy = program
    .command('policy')
    .helpGroup(ADMINISTRATION)
    .description('policies, by which Vigil judges agents')
    .addHelpText('after', EXAMPLES);
  policy
    .command('list')
    .description('the policies in force')
    .option('--json', 'for programs')
    .action(async (options) => (await policies()).list(options));
  policy
    .command('show <name>')
    .description('a policy in force as YAML; assign.yaml assigns policies to agents')
    .option('--json', 'for programs')
    .action(async (name, options) => (await policies()).showOne(name, options));
  policy
    .command('check <file...>')
    .description('report every mistake in files; exits with 1 if there is one')
    .option('--json', 'for programs')
    .action(async (paths, options) => (await files()).check(paths, options));
  policy
    .command('diff <before> <after>')
    .description('compare two policies, each a file or the name of one in force; exits with 1 if they differ')
    .option('--json', 'for programs')
    .action(async (before, after, options) => (await policies()).diff(before, after, options));
  const apply = policy
    .command('apply [file...]')
    .description('put files, or all of a directory, into force; exits with 1 if one is refused')
    .option('--remove <name>', 'withdraw the applied policy of this name; repeatable', names)
    .option('--dry-run', 'check, and show the changes');
  withWriteOptions(apply).action(async (paths, options) => (await policies()).apply(paths, options));
  policy
    .command('import <kind> <file>')
    .description(
      "import another tool's file as a policy (adr-110, botbox, gascity, omniclaude), and list keys without counterpart",
    )
    .option('--migrate', "botbox only: add the proposal's defaults to the file if it has no agents.health")
    .option('--write', 'with --migrate: write the file, instead of printing it')
    .option('--json', 'for programs')
    .action(async (kind, file, options) => (await files()).importFile(kind, file, options));
};
