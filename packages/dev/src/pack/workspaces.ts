import { globSync } from 'node:fs';
import path from 'node:path';
import { root } from '../paths.ts';
import { type Manifest, readManifest } from './manifest.ts';

/** The packages of this repository, as their package.json files describe them. */
export type Workspaces = {
  /** The source of an import such as `@vigil/sdk/hashes`; undefined for any other package. */
  readonly sourceOf: (id: string) => string | undefined;
  /** The packages of these folders, and those that they depend on. */
  readonly partsOf: (folders: readonly string[]) => readonly { readonly folder: string; readonly manifest: Manifest }[];
};

const workspaceDependencies = ({ dependencies, peerDependencies }: Manifest): readonly string[] =>
  Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => name.startsWith('@vigil/'));

export const readWorkspaces = (): Workspaces => {
  // The client for Python has no package.json.
  const folders = globSync('packages/*/package.json', { cwd: root }).map((file) => path.dirname(file));
  const byName = new Map(
    folders.map((folder) => [readManifest(folder).name, { folder, manifest: readManifest(folder) }]),
  );
  const sources = new Map(
    [...byName].flatMap(([name, { folder, manifest }]) =>
      Object.entries(manifest.exports ?? {}).map(([entry, file]): [string, string] => [
        path.join(name, entry),
        path.join(folder, file),
      ]),
    ),
  );
  const reached = (names: readonly string[]): ReadonlySet<string> => {
    const found = new Set(names);
    // A set visits what is added while it is iterated.
    for (const name of found)
      for (const next of workspaceDependencies(byName.get(name)?.manifest as Manifest))
        if (byName.has(next)) found.add(next);
    return found;
  };
  return {
    sourceOf: (id) => sources.get(id),
    partsOf: (start) =>
      [...reached(start.map((folder) => readManifest(folder).name))].flatMap((name) => byName.get(name) ?? []),
  };
};
