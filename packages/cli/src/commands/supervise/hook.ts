import { isDeepStrictEqual } from 'node:util';
import { type Adapter, adapters } from '@vigil/adapters';
import { type Command, Option } from 'commander';
import { Refusal } from '../../errors.ts';
import {
  changeOf,
  clientNames,
  clientsOf,
  cloneNote,
  commandFor,
  here,
  type Scope,
  writeHook,
} from '../../hook/install.ts';
import { type Hook, installed, targetOf, withoutHooks } from '../../hook/settings.ts';
import { readSettings, restoreSettings } from '../../hook/settings-file.ts';
import { plain } from '../../render/plain.ts';
import { endUnwell, print } from '../../terminal.ts';

type InstallOptions = {
  readonly client: readonly string[];
  readonly user?: true;
  readonly print?: true;
  readonly uninstall?: true;
  readonly http?: string;
};

const addressOf = (text: string): URL => {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new Refusal(`--http ${text} is not an address; write one like http://127.0.0.1:7600`);
  return url;
};

/** Clients that can post their hooks. */
const posting: readonly string[] = adapters.filter(({ install }) => install.http !== null).map(({ name }) => name);

const hookOf = ({ name, install }: Adapter, http: string | undefined): Hook => {
  if (http === undefined) return install.command(commandFor(name));
  if (install.http === null)
    throw new Refusal(
      `${install.title} has no hooks that post to an address; leave out --http, or name --client ${posting.join(', ')}`,
    );
  return install.http(new URL(`/v1/hooks/${name}`, addressOf(http)).href);
};

/** Whether a hook was written. */
const installOne = (adapter: Adapter, { user, print: show, uninstall, http }: InstallOptions): boolean => {
  const { title } = adapter.install;
  const change = changeOf(adapter, user ? 'user' : 'project', uninstall ? undefined : hookOf(adapter, http));
  const { file, before } = change;
  const after = uninstall ? withoutHooks(before, file) : change.after;
  if (show) process.stdout.write(after);
  else if (after === before) print([`${title}: ${plain(file)} is as it should be already`]);
  else if (uninstall) {
    restoreSettings(file, after);
    print([`${title}: the hook is removed from ${plain(file)}`]);
  } else {
    writeHook(change);
    return true;
  }
  return false;
};

const installAll = (options: InstallOptions): void => {
  const names = options.http !== undefined && options.client.length === 0 ? posting : options.client;
  const chosen = options.uninstall && names.length === 0 ? adapters : clientsOf(names, here());
  const written = chosen.filter((adapter) => installOne(adapter, options));
  if (written.length > 0 && options.http === undefined) print([cloneNote()]);
};

const isCurrent = (hook: Hook, { name, install }: Adapter): boolean =>
  'url' in hook || isDeepStrictEqual(hook, install.command(commandFor(name)));

/** One line a file; `isWhole`: the hook is in it for all events. */
const statusOf = (adapter: Adapter, scope: Scope): { readonly isWhole: boolean; readonly line: string } => {
  const { name, install, hooks } = adapter;
  const file = install.files(here())[scope];
  const line = (isWhole: boolean, what: string) => ({
    isWhole,
    line: plain(`${install.title.padEnd(12)} ${scope.padEnd(8)} ${what}  ${file}`),
  });
  const again = `vigil hook install --client ${name} --${scope}`;
  try {
    const found = installed(readSettings(file), file);
    if (found.events.length === 0) return line(false, 'not installed');
    const missing = hooks.events.filter((event) => !found.events.includes(event));
    if (missing.length > 0) return line(false, `without ${missing.join(', ')}: ${again}`);
    if (found.hooks.every((hook) => isCurrent(hook, adapter)))
      return line(true, `installed for ${hooks.events.length} events`);
    const others = [...new Set(found.hooks.map(targetOf))];
    return line(false, `runs another vigil (${others.join('; ')}): ${again}`);
  } catch (error) {
    if (error instanceof Refusal) return line(false, error.message);
    throw error;
  }
};

const status = (): void => {
  const found = adapters.flatMap((adapter) => (['project', 'user'] as const).map((scope) => statusOf(adapter, scope)));
  print(found.map(({ line }) => line));
  if (!found.some(({ isWhole }) => isWhole)) endUnwell();
};

const clientOption = (): Option =>
  new Option('--client <name>', `${clientNames.join(', ')}; repeatable (default: those that are found)`)
    .default([], '')
    .argParser((one: string, before: readonly string[]) => {
      if (!clientNames.includes(one))
        throw new Refusal(`--client ${one} is unknown; there are ${clientNames.join(', ')}`);
      return [...before, one];
    });

export const register = (program: Command): void => {
  const hook = program
    .command('hook')
    .description(
      'the hook of coding agents: reads an event from stdin, reports it, answers; silent where Vigil does not run',
    )
    .action(() => {
      throw new Refusal('a coding agent runs this with an event on stdin; vigil hook install sets it up');
    });
  hook
    .command('install')
    .description('write the hook into the settings of coding agents; everything else in them stays as it is')
    .addOption(clientOption())
    .addOption(new Option('--project', 'of the project in this folder (default)').conflicts('user'))
    .option('--user', 'of all your sessions')
    .option(
      '--http <address>',
      'Claude Code: post to this gateway instead of running a command; no supervisor is needed',
    )
    .option('--print', 'print what the file would be, and change nothing')
    .option('--uninstall', 'take the hook out again')
    .action(installAll);
  hook.command('status').description('in which settings the hook is').action(status);
};
