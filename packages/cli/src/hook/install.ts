import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Adapter, adapters } from '@vigil/adapters';
import type { Place } from '@vigil/adapters/adapter';
import { Refusal } from '../errors.ts';
import { isOnPath } from '../on-path.ts';
import { plain } from '../render/plain.ts';
import { replaceFile } from '../replace-file.ts';
import { type Hook, withHooks } from './settings.ts';
import { readSettings } from './settings-file.ts';

/** Names of the clients whose hooks can be installed. */
export const clientNames: readonly string[] = adapters.map(({ name }) => name);

/** Its program is on the PATH, or it has a folder for its settings. */
const isFound = ({ install }: Adapter, place: Place): boolean => {
  const { project, user } = install.files(place);
  return isOnPath(install.binary, place.env.PATH) || [project, user].some((file) => existsSync(dirname(file)));
};

/** The clients by these names, or the installed ones. Throws Refusal if there is none. */
export const clientsOf = (names: readonly string[], place: Place): readonly Adapter[] => {
  const chosen =
    names.length > 0
      ? adapters.filter(({ name }) => names.includes(name))
      : adapters.filter((one) => isFound(one, place));
  if (chosen.length > 0) return chosen;
  const binaries = adapters.map(({ install }) => install.binary).join(', ');
  throw new Refusal(
    `no coding agent is found: none of ${binaries} is on the PATH, and none has a settings folder here or in ${place.home}. Install one, or name one: vigil hook install --client NAME`,
  );
};

export type Scope = 'project' | 'user';

const launcher = fileURLToPath(new URL('../../../dev/bootstrap/vigil.mjs', import.meta.url));
const quoted = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`;

/** Where the settings outlive this clone, or are shared with a machine that has none, nothing happens. */
export const commandFor = (client: string): string =>
  `test ! -e ${quoted(launcher)} || exec node ${quoted(launcher)} hook --client ${client}`;

export const here = (): Place => ({ cwd: process.cwd(), home: homedir(), env: process.env });

/** A hook in the settings file of a client. */
export type Change = {
  readonly adapter: Adapter;
  readonly file: string;
  readonly before: string;
  readonly after: string;
};

/** What the installation of a hook changes. Throws Refusal. */
export const changeOf = (
  adapter: Adapter,
  scope: Scope,
  hookOf = (event: string): Hook => adapter.install.command(commandFor(adapter.name), event),
): Change => {
  const file = adapter.install.files(here())[scope];
  const before = readSettings(file);
  return { adapter, file, before, after: withHooks(before, file, hookOf, adapter.hooks.events) };
};

/** For people, once the hooks are written: they run this clone. */
export const cloneNote = (): string =>
  plain(
    `The hooks run ${launcher}. Where that folder is moved or deleted, the hooks do nothing: install them again from its new place.`,
  );

/** Writes the hook, and gives what a person has to read or do. */
export const writeHook = ({ adapter: { install, hooks }, file, after }: Change): readonly string[] => {
  replaceFile(file, after);
  return [
    `${install.title}: the hook is set for ${hooks.events.length} events in ${plain(file)}; sessions that begin now have it`,
    ...(install.remains === null ? [] : [`${install.title}: ${install.remains}`]),
  ];
};
