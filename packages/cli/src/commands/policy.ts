import { type Command, InvalidArgumentError } from 'commander';
import { whoAmI } from '../terminal.ts';

const EXAMPLES = `
check, diff of files, and import need no servers; the rest asks the dashboard. FILE is a policy's YAML or an assign.yaml.

Examples:
  vigil policy list                                   what is in force, from where, how many agents it judges
  vigil policy show vigil > mine.yaml                 a policy as YAML
  vigil policy check policies/                        every mistake of every file; warnings beside them
  vigil policy diff vigil mine.yaml                   what differs, by path, old and new
  vigil policy apply mine.yaml --why "builds are slow today" --dry-run
  vigil policy apply policies/ --remove mine          files into force; what was applied as "mine" taken back
  vigil policy import botbox .botbox.json > botbox.yaml
  vigil policy import botbox .botbox.json --migrate --write`;

/** Judgement is loaded by these commands only: every other one starts without it. */
const policies = () => import('../policy/policies.ts');
const files = () => import('../policy/files.ts');

const names = (name: string, before: readonly string[] = []): readonly string[] => {
  if (!/^[A-Za-z0-9._-]+$/.test(name)) throw new InvalidArgumentError("Give a policy's name.");
  return [...before, name];
};

export function register(program: Command): void {
  const policy = program.command('policy').description('what agents are judged by').addHelpText('after', EXAMPLES);
  policy
    .command('list')
    .description('the policies in force')
    .option('--json', 'for programs')
    .action(async (options) => (await policies()).list(options));
  policy
    .command('show <name>')
    .description('a policy in force as YAML; assign.yaml says which agent gets which')
    .option('--json', 'for programs')
    .action(async (name, options) => (await policies()).showOne(name, options));
  policy
    .command('check <file...>')
    .description('find every mistake in files; ends with 1 where there is one')
    .option('--json', 'for programs')
    .action(async (paths, options) => (await files()).check(paths, options));
  policy
    .command('diff <before> <after>')
    .description(
      'what differs between two policies, each a file or the name of one in force; ends with 1 where something does',
    )
    .option('--json', 'for programs')
    .action(async (before, after, options) => (await policies()).diff(before, after, options));
  policy
    .command('apply [file...]')
    .description('put files into force, all of a directory; ends with 1 where one is refused')
    .option('--remove <name>', 'take back what was applied under this name; repeatable', names)
    .option('--dry-run', 'check, and say what would change')
    .option('--why <text>', 'the reason, for those who read it later', 'by hand')
    .option('--by <name>', 'who asks', whoAmI())
    .option('--json', 'for programs')
    .action(async (paths, options) => (await policies()).apply(paths, options));
  policy
    .command('import <kind> <file>')
    .description(
      "another tool's own file as a policy: adr-110, botbox, gascity or omniclaude; what has no counterpart is named",
    )
    .option('--migrate', "of botbox: the file itself with the proposal's defaults where it has no agents.health")
    .option('--write', 'with --migrate: into the file, instead of printing it')
    .option('--json', 'for programs')
    .action(async (kind, file, options) => (await files()).importFile(kind, file, options));
}
