import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { licensesOf } from './pack/licenses.ts';
import { packedManifest, readManifest } from './pack/manifest.ts';
import { buildModules } from './pack/modules.ts';
import { PUBLISHED, type Published } from './pack/published.ts';
import { buildTypes, emitTypes } from './pack/types.ts';
import { readWorkspaces } from './pack/workspaces.ts';
import { cacheDir, root } from './paths.ts';
import { endWith, Refusal } from './refusal.ts';

/** The packed files, ready for `npm install FILE`. */
const packed = path.join(root, 'dist');
const work = path.join(cacheDir, 'pack');
const workspaces = readWorkspaces();

/** The folders of packages whose sources are part of a package, its own first. */
const partFoldersOf = ({ folder, entries, bin }: Published): readonly string[] => [
  folder,
  ...[...entries, ...(bin === null ? [] : [bin])].map(({ source }) => source.split('/').slice(0, 2).join('/')),
];

const partsOf = (one: Published) => workspaces.partsOf(partFoldersOf(one));

/** The declarations of the packages with types, and of the parts that these name. */
const emitAll = (): string => {
  const folders = PUBLISHED.filter((one) => one.entries.length > 0).flatMap(partsOf);
  return emitTypes([...new Set(folders.map(({ folder }) => folder))], path.join(work, 'types'));
};

const problemsOf = async (folder: string): Promise<readonly string[]> => {
  const { messages, pkg } = await publint({ pkgDir: folder, strict: true, pack: 'npm' });
  return messages.map((message) => `${pkg?.name}: ${formatMessage(message, pkg ?? {})}`);
};

/** Builds a package in a folder of its own. */
const build = async (one: Published, types: string): Promise<string> => {
  const folder = path.join(work, path.basename(one.folder));
  rmSync(folder, { recursive: true, force: true });
  const dist = path.join(folder, 'dist');
  const modules = await buildModules(one, dist, []);
  await buildTypes(one, types, workspaces, dist);
  for (const [file, place] of Object.entries(one.files))
    if (!place.startsWith('dist/')) cpSync(path.join(root, file), path.join(folder, place), { recursive: true });
  const parts = partsOf(one).map(({ manifest }) => manifest);
  const published = PUBLISHED.map((each) => readManifest(each.folder));
  const manifest = packedManifest(one, parts, published);
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
  cpSync(path.join(root, one.folder, 'README.md'), path.join(folder, 'README.md'));
  const licenses = licensesOf(modules);
  if (licenses !== '') writeFileSync(path.join(folder, 'THIRD-PARTY-LICENSES.md'), licenses);
  return folder;
};

const pack = (folder: string): void => {
  const args = ['pack', '--ignore-scripts', '--pack-destination', packed];
  const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Refusal(`npm cannot pack ${folder}; is it on the PATH? Its output:\n${stderr}`);
};

const main = async (): Promise<void> => {
  rmSync(packed, { recursive: true, force: true });
  mkdirSync(packed, { recursive: true });
  const types = emitAll();
  for (const one of PUBLISHED) {
    const folder = await build(one, types);
    const problems = await problemsOf(folder);
    if (problems.length > 0) throw new Refusal(problems.join('\n'));
    pack(folder);
  }
  for (const file of readdirSync(packed)) {
    const kib = Math.ceil(readFileSync(path.join(packed, file)).length / 1024);
    console.log(`dist/${file}  ${kib} KiB`);
  }
};

main().catch(endWith);
