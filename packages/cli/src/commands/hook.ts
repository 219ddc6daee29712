import { fileURLToPath } from 'node:url';
import { EVENTS } from '@vigil/sdk/hook';
import { type Command, Option } from 'commander';
import { Refusal } from '../errors.ts';
import { installed, withHooks, withoutHooks } from '../hook/settings.ts';
import { leaveSettings, readSettings, settingsFile } from '../hook/settings-file.ts';
import { plain } from '../render/plain.ts';
import { replaceFile } from '../replace-file.ts';
import { endUnwell, print } from '../terminal.ts';

type Whose = 'project' | 'user';
type InstallOptions = { readonly user?: true; readonly print?: true; readonly uninstall?: true };

const launcher = fileURLToPath(new URL('../../../dev/bootstrap/vigil.mjs', import.meta.url));
const quoted = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`;
/** Where the settings outlive this clone, or are shared with a machine that has none, nothing happens. */
const command = `test ! -e ${quoted(launcher)} || exec node ${quoted(launcher)} hook`;

const fileOf = (whose: Whose): string => settingsFile(whose, process.cwd(), process.env);

const install = ({ user, print: show, uninstall }: InstallOptions): void => {
  const file = fileOf(user ? 'user' : 'project');
  const before = readSettings(file);
  const after = uninstall ? withoutHooks(before, file) : withHooks(before, file, command, EVENTS);
  if (show) process.stdout.write(after);
  else if (after === before) print([`${plain(file)} is as it should be already`]);
  else {
    (uninstall ? leaveSettings : replaceFile)(file, after);
    print([
      `${plain(file)}: the hook is ${uninstall ? 'removed' : `set for ${EVENTS.length} events`}; sessions that begin now have it so`,
    ]);
  }
};

/** One line a file; true: the hook is in it, whole. */
const statusOf = (whose: Whose): { readonly whole: boolean; readonly line: string } => {
  const file = fileOf(whose);
  const say = (whole: boolean, what: string) => ({ whole, line: plain(`${whose.padEnd(8)} ${what}  ${file}`) });
  try {
    const { events, commands } = installed(readSettings(file), file);
    if (events.length === 0) return say(false, 'not installed');
    const missing = EVENTS.filter((event) => !events.includes(event));
    if (missing.length > 0) return say(false, `without ${missing.join(', ')}: vigil hook install --${whose}`);
    return commands.every((one) => one === command)
      ? say(true, `installed for ${EVENTS.length} events`)
      : say(false, `runs another vigil (${commands.join('; ')}): vigil hook install --${whose}`);
  } catch (error) {
    if (error instanceof Refusal) return say(false, error.message);
    throw error;
  }
};

const status = (): void => {
  const found = (['project', 'user'] as const).map(statusOf);
  print(found.map(({ line }) => line));
  if (!found.some(({ whole }) => whole)) endUnwell();
};

export function register(program: Command): void {
  const hook = program
    .command('hook')
    .description("Claude Code's hook: reads an event from stdin, reports it, answers; silent where Vigil is not there")
    .action(() => {
      throw new Refusal('Claude Code runs this with an event on stdin; vigil hook install sets it up');
    });
  hook
    .command('install')
    .description('write the hook into .claude/settings.json; everything else in it stays as it is')
    .addOption(new Option('--project', 'of the project in this folder (default)').conflicts('user'))
    .option('--user', 'of all your sessions: ~/.claude/settings.json')
    .option('--print', 'print what the file would be, and change nothing')
    .option('--uninstall', 'take the hook out again')
    .action(install);
  hook.command('status').description('in which settings the hook is').action(status);
}
