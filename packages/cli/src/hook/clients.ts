import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { type Adapter, adapters } from '@vigil/adapters';
import type { Place } from '@vigil/adapters/adapter';
import { Refusal } from '../errors.ts';

/** Names of the clients whose hooks can be installed. */
export const clientNames: readonly string[] = adapters.map(({ name }) => name);

const canRun = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const isOnPath = (binary: string, path: string | undefined): boolean =>
  (path ?? '').split(delimiter).some((dir) => dir !== '' && canRun(join(dir, binary)));

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
    `no coding agent is found: none of ${binaries} is on the PATH, and none has a settings folder here or in ${place.home}. Name one with --client.`,
  );
};
