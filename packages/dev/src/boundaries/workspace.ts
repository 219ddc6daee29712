import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Source, sourceOf } from './imports.ts';

/** A layer may import its own and lower layers only. */
export const LAYERS = ['packages', 'services'] as const;
type Layer = (typeof LAYERS)[number];

export type Member = {
  readonly dir: string;
  readonly layer: Layer;
  readonly name: string;
  readonly exports: ReadonlySet<string>;
  readonly dependencies: ReadonlySet<string>;
};

export type File = Source & { readonly path: string; readonly member: Member; readonly isTest: boolean };

export type Workspace = {
  readonly root: string;
  readonly members: ReadonlyMap<string, Member>;
  /** by absolute path */
  readonly files: ReadonlyMap<string, File>;
  /** dependencies of the root, which tests may use */
  readonly shared: ReadonlySet<string>;
};

type Manifest = { readonly name: string } & Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies'];

const manifestOf = (dir: string): Manifest => JSON.parse(readFileSync(path.join(dir, 'package.json'), 'utf8'));

const dependenciesOf = (manifest: Manifest): ReadonlySet<string> =>
  new Set(KINDS.flatMap((kind) => Object.keys(manifest[kind] ?? {})));

const foldersOf = (dir: string): readonly string[] =>
  readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(path.join(dir, entry.name, 'package.json')))
    .map((entry) => path.join(dir, entry.name));

const memberOf = (dir: string, layer: Layer): Member => {
  const manifest = manifestOf(dir);
  return {
    dir,
    layer,
    name: manifest.name,
    exports: new Set(Object.keys(manifest.exports ?? {})),
    dependencies: dependenciesOf(manifest),
  };
};

const IS_TEST = /\.(test|contract|fixture)\.ts$|(^|\/)testing(\.ts$|\/)/;

const sourcesOf = (dir: string): readonly string[] =>
  readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.[cm]?tsx?$/.test(entry.name) && !entry.name.endsWith('.d.ts'))
    .map((entry) => path.join(entry.parentPath, entry.name));

const filesOf = (member: Member): readonly File[] => {
  const src = path.join(member.dir, 'src');
  if (!existsSync(src)) return [];
  return sourcesOf(src).map((file) => ({
    ...sourceOf(file, readFileSync(file, 'utf8')),
    path: file,
    member,
    isTest: IS_TEST.test(path.relative(src, file)),
  }));
};

/** Every package and service below `root` with its sources. */
export const readWorkspace = (root: string): Workspace => {
  const members = LAYERS.flatMap((layer) => foldersOf(path.join(root, layer)).map((dir) => memberOf(dir, layer)));
  const files = members.flatMap(filesOf);
  return {
    root,
    members: new Map(members.map((member) => [member.name, member])),
    files: new Map(files.map((file) => [file.path, file])),
    shared: dependenciesOf(manifestOf(root)),
  };
};
