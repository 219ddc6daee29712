import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Adapter } from '@vigil/adapters';
import type { Place } from '@vigil/adapters/adapter';
import { plain } from '../render/plain.ts';
import { replaceFile } from '../replace-file.ts';
import { print } from '../terminal.ts';
import { clientsOf } from './clients.ts';
import { withHooks } from './settings.ts';
import { readSettings } from './settings-file.ts';

export type Scope = 'project' | 'user';

const launcher = fileURLToPath(new URL('../../../dev/bootstrap/vigil.mjs', import.meta.url));
const quoted = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`;

/** Where the settings outlive this clone, or are shared with a machine that has none, nothing happens. */
export const commandFor = (client: string): string =>
  `test ! -e ${quoted(launcher)} || exec node ${quoted(launcher)} hook --client ${client}`;

export const here = (): Place => ({ cwd: process.cwd(), home: homedir(), env: process.env });

/** What the installation of a hook would do. */
export type PlannedHook = {
  /** the client's name in its reports */
  readonly client: string;
  readonly title: string;
  readonly file: string;
  readonly events: number;
  readonly isCurrent: boolean;
};

type Change = PlannedHook & { readonly adapter: Adapter; readonly after: string };

const changesFor = (scope: Scope): readonly Change[] =>
  clientsOf([], here()).map((adapter) => {
    const { install, hooks, name } = adapter;
    const file = install.files(here())[scope];
    const before = readSettings(file);
    const after = withHooks(before, file, install.command(commandFor(name)), hooks.events);
    return {
      adapter,
      client: name,
      title: install.title,
      file,
      events: hooks.events.length,
      isCurrent: after === before,
      after,
    };
  });

/** The hooks of the clients that are found. Throws Refusal where none is. */
export const plannedHooks = (scope: Scope): readonly PlannedHook[] =>
  changesFor(scope).map(({ adapter: _, after: __, ...planned }) => planned);

/** Writes the hooks of the clients that are found. */
export const installHooks = (scope: Scope): void => {
  for (const { adapter, file, after, isCurrent } of changesFor(scope)) {
    if (isCurrent) continue;
    replaceFile(file, after);
    const { title, remains } = adapter.install;
    print([`${title}: the hook is set in ${plain(file)}`, ...(remains === null ? [] : [`${title}: ${remains}`])]);
  }
};
