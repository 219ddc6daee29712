import { readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../paths.ts';
import type { Entry, Published } from './published.ts';

export type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
};

export const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8')) as Manifest;

/** The name of the built files of an entry, without an extension. */
export const fileOf = ({ name }: Entry): string => (name === '.' ? 'index' : name.replace(/^\.\//, ''));

/** The types of a package name those of Node, which any version has. */
const ANY_VERSION: Readonly<Record<string, string>> = { '@types/node': '>=20' };

const versionOf = (dependency: string, { dependencies = {} }: Manifest, published: readonly Manifest[]): string => {
  const ours = published.find(({ name }) => name === dependency);
  const version = ours?.version ?? ANY_VERSION[dependency] ?? dependencies[dependency];
  if (version === undefined) throw new Error(`no package.json of a workspace has ${dependency}: correct published.ts`);
  return version;
};

/** Where the version of a dependency is: in the package itself, or in a part that is built into it. */
const dependenciesOf = (
  { dependencies }: Published,
  parts: readonly Manifest[],
  published: readonly Manifest[],
): Readonly<Record<string, string>> => {
  const all = { dependencies: Object.assign({}, ...parts.map((part) => part.dependencies ?? {})) } as Manifest;
  return Object.fromEntries([...dependencies].sort().map((name) => [name, versionOf(name, all, published)]));
};

const exportsOf = ({ entries, exportedFiles }: Published): Readonly<Record<string, unknown>> => ({
  ...Object.fromEntries(
    entries.map((entry) => [
      entry.name,
      { types: `./dist/${fileOf(entry)}.d.ts`, default: `./dist/${fileOf(entry)}.js` },
    ]),
  ),
  ...Object.fromEntries(exportedFiles.map((file) => [`./${file}`, `./${file}`])),
  './package.json': './package.json',
});

/**
 * package.json of the packed package. `parts`: of the workspaces that are built into it; `published`: of all packages;
 * `repository`: OWNER/NAME at GitHub, without which npm refuses a provenance; null where nothing is published.
 */
export const packedManifest = (
  one: Published,
  parts: readonly Manifest[],
  published: readonly Manifest[],
  repository: string | null,
): Readonly<Record<string, unknown>> => {
  const { name, version } = readManifest(one.folder);
  return {
    name,
    version,
    description: one.description,
    license: 'Apache-2.0',
    ...(repository === null ? {} : { repository: `github:${repository}` }),
    type: 'module',
    engines: { node: one.node },
    ...(one.bin === null ? {} : { bin: { [one.bin.name]: `./dist/${one.bin.name}.js` } }),
    exports: exportsOf(one),
    sideEffects: false,
    dependencies: dependenciesOf(one, parts, published),
    publishConfig: { access: 'public', provenance: true },
  };
};
