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

/** Where the packed files go, ready for `npm install FILE`. */
const packed = path.resolve(root, process.argv[2] ?? 'dist');
/** A folder for this run only, because another run may pack at the same time. */
const work = path.join(cacheDir, `pack-${process.pid}`);
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

/** What publint finds wrong with a packed file: wrong entries, missing files, types that code does not have. */
const problemsOf = async (folder: string): Promise<readonly string[]> => {
  const { name, version } = readManifest(path.relative(root, folder));
  const file = path.join(packed, `${name.slice(1).replace('/', '-')}-${version}.tgz`);
  const { buffer } = new Uint8Array(readFileSync(file));
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: buffer } });
  return messages.map((message) => `${name}: ${formatMessage(message, pkg ?? {})}`);
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
  const manifest = packedManifest(one, parts, published, process.env.GITHUB_REPOSITORY ?? null);
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
  cpSync(path.join(root, one.folder, 'README.md'), path.join(folder, 'README.md'));
  const licenses = licensesOf(modules);
  if (licenses !== '') writeFileSync(path.join(folder, 'THIRD-PARTY-LICENSES.md'), licenses);
  return folder;
};

const pack = (folders: readonly string[]): void => {
  const args = ['pack', '--ignore-scripts', '--pack-destination', packed, ...folders];
  const { status, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0)
    throw new Refusal(`npm cannot pack ${folders.join(', ')}; is it on the PATH? Its output:\n${stderr}`);
};

const main = async (): Promise<void> => {
  rmSync(packed, { recursive: true, force: true });
  mkdirSync(packed, { recursive: true });
  const types = emitAll();
  const folders: string[] = [];
  for (const one of PUBLISHED) folders.push(await build(one, types));
  pack(folders);
  const problems = (await Promise.all(folders.map(problemsOf))).flat();
  if (problems.length > 0) throw new Refusal(problems.join('\n'));
  for (const file of readdirSync(packed)) {
    const kib = Math.ceil(readFileSync(path.join(packed, file)).length / 1024);
    console.log(`${path.relative(root, path.join(packed, file))}  ${kib} KiB`);
  }
};

main()
  .catch(endWith)
  .finally(() => rmSync(work, { recursive: true, force: true }));
