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
import { endUnwell, type Json, print, show } from '../../terminal.ts';

type InstallOptions = {
  readonly client: readonly string[];
  readonly user?: true;
  readonly print?: true;
  readonly uninstall?: true;
  readonly http?: string;
  readonly json?: boolean;
};

const addressOf = (text: string): URL => {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new Refusal(`--http ${text} is not an address; write one like http://127.0.0.1:7600`);
  return url;
};

/** Clients that can post their hooks. */
const posting: readonly string[] = adapters.filter(({ install }) => install.http !== null).map(({ name }) => name);

const hookOf = ({ name, install }: Adapter, http: string | undefined): ((event: string) => Hook) => {
  if (http === undefined) return (event) => install.command(commandFor(name), event);
  const { http: posted } = install;
  if (posted === null)
    throw new Refusal(
      `${install.title} has no hooks that post to an address; leave out --http, or name --client ${posting.join(', ')}`,
    );
  const url = new URL(`/v1/hooks/${name}`, addressOf(http)).href;
  return (event) => posted(url, event);
};

type Installed = {
  readonly client: string;
  readonly file: string;
  readonly outcome: 'written' | 'removed' | 'unchanged' | 'printed';
  /** for people */
  readonly lines: readonly string[];
};

const installOne = (adapter: Adapter, { user, print: isPrinted, uninstall, http }: InstallOptions): Installed => {
  const { name, install } = adapter;
  const change = changeOf(adapter, user ? 'user' : 'project', uninstall ? undefined : hookOf(adapter, http));
  const { file, before } = change;
  const after = uninstall ? withoutHooks(before, file) : change.after;
  const installed = (outcome: Installed['outcome'], lines: readonly string[]) => ({
    client: name,
    file,
    outcome,
    lines,
  });
  if (isPrinted) {
    process.stdout.write(after);
    return installed('printed', []);
  }
  if (after === before) return installed('unchanged', [`${install.title}: ${plain(file)} is as it should be already`]);
  if (!uninstall) return installed('written', writeHook(change));
  restoreSettings(file, after);
  return installed('removed', [`${install.title}: the hook is removed from ${plain(file)}`]);
};

const installAll = (options: InstallOptions): void => {
  if (options.json && options.print) throw new Refusal('--print prints the file itself: leave out --json.');
  const names = options.http !== undefined && options.client.length === 0 ? posting : options.client;
  const chosen = options.uninstall && names.length === 0 ? adapters : clientsOf(names, here());
  const all = chosen.map((adapter) => installOne(adapter, options));
  if (options.print) return;
  if (options.json) {
    show(
      true,
      all.map(({ lines: _, ...one }) => one),
      () => [],
    );
    return;
  }
  print(all.flatMap(({ lines }) => lines));
  if (all.some(({ outcome }) => outcome === 'written') && options.http === undefined) print([cloneNote()]);
};

const isCurrent = ({ event, hook }: { event: string; hook: Hook }, { name, install }: Adapter): boolean =>
  'url' in hook || isDeepStrictEqual(hook, install.command(commandFor(name), event));

/** `isWhole`: the hook is in the file for all events. `line`: for people. */
type Status = {
  readonly client: string;
  readonly scope: Scope;
  readonly file: string;
  readonly isWhole: boolean;
  readonly what: string;
  readonly line: string;
};

const statusOf = (adapter: Adapter, scope: Scope): Status => {
  const { name, install, hooks } = adapter;
  const file = install.files(here())[scope];
  const line = (isWhole: boolean, what: string) => ({
    ...{ client: name, scope, file, isWhole, what },
    line: plain(`${install.title.padEnd(12)} ${scope.padEnd(8)} ${what}  ${file}`),
  });
  const again = `vigil hook install --client ${name} --${scope}`;
  try {
    const found = installed(readSettings(file), file);
    if (found.events.length === 0) return line(false, 'not installed');
    const missing = hooks.events.filter((event) => !found.events.includes(event));
    if (missing.length > 0) return line(false, `without ${missing.join(', ')}: ${again}`);
    if (found.hooks.every((one) => isCurrent(one, adapter)))
      return line(true, `installed for ${hooks.events.length} events`);
    const others = [...new Set(found.hooks.map(({ hook }) => targetOf(hook)))];
    return line(false, `runs another vigil (${others.join('; ')}): ${again}`);
  } catch (error) {
    if (error instanceof Refusal) return line(false, error.message);
    throw error;
  }
};

const status = ({ json }: Json): void => {
  const found = adapters.flatMap((adapter) => (['project', 'user'] as const).map((scope) => statusOf(adapter, scope)));
  show(json, json ? found.map(({ line: _, ...one }) => one) : found, () => found.map(({ line }) => line));
  if (!found.some(({ isWhole }) => isWhole)) endUnwell();
};

const clientOption = (): Option =>
  new Option('--client <name>', 'repeatable (default: those that are found)')
    .choices(clientNames)
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
    .option('--json', 'for programs')
    .action(installAll);
  hook.command('status').description('in which settings the hook is').option('--json', 'for programs').action(status);
};
