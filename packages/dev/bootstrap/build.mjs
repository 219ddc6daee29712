// Bundles the programs that Vigil starts. Usage: build.mjs NODE, with the Node that runs them. The caller holds the lock.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { bundles, root, stampOf } from './bundles.mjs';
import { isAlive } from './lock.mjs';
import { buildPage, PAGE_FILES } from './page.mjs';

const OURS = /\/(?:packages|services)\/[^/]+\/src\//;

const services = readdirSync(path.join(root, 'services'));

/** A module for programs on any Node. */
const library = { target: 'node18', input: { sdk: 'packages/sdk/src/index.ts' } };

/**
 * The hook and the commands that only ask a server run on the machine's own Node; everything else runs on the pinned
 * one. The keys are the names of the built files.
 */
const programs = [
  { target: 'node18', input: { hook: 'packages/hook/src/main.ts' } },
  { target: 'node20', input: { vigil: 'packages/cli/src/main.ts' } },
  { target: 'node24', input: { 'demo-agent': 'packages/dev/src/fleet/agent/main.ts' } },
  { target: 'node24', input: Object.fromEntries(services.map((name) => [name, `services/${name}/src/main.ts`])) },
  { target: 'node24', input: { embedded: 'packages/embedded/src/main.ts' } },
];

/** Files that affect the build, besides the bundled sources. */
const SETTINGS = [
  'packages/dev/bootstrap/build.mjs',
  'packages/dev/bootstrap/bundles.mjs',
  'packages/dev/bootstrap/page.mjs',
  'packages/dev/bootstrap/toolchain/package-lock.json',
  'node_modules/.bootstrap-stamp',
  'package.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
];

/** A bundled module finds the files beside its source: policies, schemas, programs that it starts. */
const sourcePaths = {
  name: 'source-paths',
  transform: {
    filter: { id: OURS, code: 'import.meta.' },
    handler: (code, file) => ({
      code: code
        .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(file)))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href)),
      // The line numbers do not change.
      map: null,
    }),
  },
};

/**
 * Modules that are not bundled: OpenTelemetry's SDK, which patches modules as they are loaded, with the module that
 * opens it; and the terminal, which is a native add-on.
 */
const unbundled = {
  name: 'unbundled',
  resolveId: {
    filter: { id: /(?:^|\/)(?:traces\.ts|@lydell\/node-pty)$/ },
    async handler(source, importer) {
      const { id } = await this.resolve(source, importer, { skipSelf: true });
      return { id, external: 'absolute' };
    },
  },
};

/**
 * The state of every source before it was read, so that a file that is written in the meantime makes the build stale.
 */
const inputs = new Map([...SETTINGS, ...PAGE_FILES].map((file) => [file, stampOf(file)]));
const notedInputs = {
  name: 'noted-inputs',
  load: {
    filter: { id: { include: /\/(?:packages|services)\//, exclude: /\/node_modules\// } },
    handler(file) {
      const name = path.relative(root, file);
      inputs.set(name, stampOf(name));
    },
  },
};

const COMMANDS = path.join(root, 'packages/cli/src/commands');

/** The commands in each file, and the Node that they need, as listed in commands.ts. */
const namesByFile = () => {
  const list = readFileSync(path.join(COMMANDS, 'commands.ts'), 'utf8');
  const entries = list.matchAll(/names: \[([^\]]+)\],\s*node: '(\w+)',\s*load: \(\) => import\('([^']+)'\)/g);
  return new Map(
    [...entries].map(([, names, node, file]) => [
      path.join(COMMANDS, file),
      { names: names.match(/[\w-]+/g) ?? [], node },
    ]),
  );
};

/**
 * `sources` of each command of `vigil`, so that a command checks no others at its start. `node`: whether it runs on
 * any Node from 20.16 on, or on the pinned one.
 */
const commands = {};
const notedCommands = {
  name: 'noted-commands',
  buildEnd() {
    const list = this.getModuleInfo(path.join(COMMANDS, 'commands.ts'));
    if (list === null) return;
    const reached = (file, found) => {
      if (found.has(file) || !OURS.test(file)) return found;
      found.add(file);
      const { importedIds, dynamicallyImportedIds } = this.getModuleInfo(file);
      for (const next of importedIds) reached(next, found);
      if (file !== list.id) for (const next of dynamicallyImportedIds) reached(next, found);
      return found;
    };
    const entries = namesByFile();
    for (const file of list.dynamicallyImportedIds) {
      if (!entries.has(file)) throw new Error(`commands.ts names no command of ${file}`);
      const found = reached(path.join(COMMANDS, '../main.ts'), new Set());
      const sources = [...reached(file, found)].map((source) => path.relative(root, source));
      const { names, node } = entries.get(file);
      for (const name of names) commands[name] = { node, sources: [...SETTINGS, ...sources] };
    }
  },
};

const bundle = async (folder, { target, input }) => {
  const build = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    plugins: [notedInputs, notedCommands, sourcePaths, unbundled],
    // A bundler cannot follow how its CommonJS build loads its parts.
    resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
    transform: { target },
    // Vigil's modules have no side effects, so a re-exporting index costs nothing.
    treeshake: { moduleSideEffects: [{ test: OURS, sideEffects: false }] },
    checks: { eval: false },
  });
  await build.write({
    dir: path.join(folder, 'modules'),
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  });
  await build.close();
};

/**
 * Turns the compile cache on before the program is loaded, and notes that a process runs from this build. Node warns of
 * deprecated calls outside node_modules, and a bundle contains such calls of its dependencies.
 */
const starter = (folder, name) =>
  [
    `import { rmSync, writeFileSync } from 'node:fs';`,
    `import module from 'node:module';`,
    '',
    `const user = ${JSON.stringify(path.join(folder, 'users/'))} + process.pid;`,
    'try {',
    `  writeFileSync(user, '');`,
    `  process.once('exit', () => rmSync(user, { force: true }));`,
    '} catch {',
    '  // A build that this user may not write to is not theirs to replace.',
    '}',
    // An older Node has none.
    `module.enableCompileCache?.(${JSON.stringify(path.join(folder, 'compile-cache'))});`,
    'process.noDeprecation = true;',
    `await import('./modules/${name}.mjs');`,
    '',
  ].join('\n');

const isUsed = (folder) => {
  const users = path.join(folder, 'users');
  return existsSync(users) && readdirSync(users).some((pid) => isAlive(Number(pid)));
};

/**
 * Removes the builds that no process uses. The current one stays until the next build, because a process may just be
 * starting.
 */
const removeUnusedBuilds = (cache) => {
  const current = existsSync(bundles) ? readlinkSync(bundles) : '';
  for (const name of readdirSync(cache)) {
    const folder = path.join(cache, name);
    if (/^bundles-\d+$/.test(name) && name !== current && !isUsed(folder)) rmSync(folder, { recursive: true });
  }
};

const cache = path.dirname(bundles);
mkdirSync(cache, { recursive: true });
removeUnusedBuilds(cache);
const folder = path.join(realpathSync(cache), `bundles-${Date.now()}`);
mkdirSync(path.join(folder, 'users'), { recursive: true });
for (const build of [library, ...programs]) await bundle(folder, build);
await buildPage(path.join(folder, 'page'), [notedInputs]);
for (const name of programs.flatMap(({ input }) => Object.keys(input)))
  writeFileSync(path.join(folder, `${name}.mjs`), starter(folder, name));
const manifest = { root, node: process.argv[2], inputs: Object.fromEntries(inputs), commands };
writeFileSync(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
// One rename replaces the old build by the new one, also for processes that start in the meantime.
rmSync(`${bundles}.new`, { force: true });
symlinkSync(path.basename(folder), `${bundles}.new`);
renameSync(`${bundles}.new`, bundles);
