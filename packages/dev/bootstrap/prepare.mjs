import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freshBuild, root } from './bundles.mjs';
import { Refusal, report, run } from './command.mjs';
import { onceForAll } from './lock.mjs';
import { requireDisk } from './npm-install.mjs';
import { cache, hashOf } from './paths.mjs';
import { toolchain } from './toolchain.mjs';

// The variables that "npm start" exports must not affect pnpm; registry, proxy and CA settings stay.
const NPM_OWN =
  /^npm_(lifecycle|package|command|execpath|node_execpath|config_(user_agent|prefix|global_prefix|local_prefix|node_gyp|noproxy|npm_version|init_module|globalconfig|nodedir|yes))/i;

const environment = ({ node, headers }) => {
  const kept = Object.entries(process.env).filter(([name]) => !NPM_OWN.test(name));
  const bins = [path.dirname(node), path.join(root, 'node_modules/.bin'), process.env.PATH];
  // The fetched Node ships its C headers, so that a native add-on can be built without a further download.
  const nodedir = headers === undefined ? {} : { npm_config_nodedir: headers };
  return { ...Object.fromEntries(kept), PATH: bins.join(path.delimiter), ...nodedir };
};

/** Installs the pinned tools if necessary, and returns them with the environment that finds them. */
export const tools = async () => {
  const found = await toolchain();
  return { ...found, env: environment(found) };
};

const stampFile = path.join(root, 'node_modules/.bootstrap-stamp');

const patches = () => {
  const dir = path.join(root, 'packages/stream/src/kafka');
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((name) => name.endsWith('.patch'))
    .sort()
    .map((name) => path.join(dir, name));
};

/** Installs node_modules by the lock file, unless the stamp shows that it is up to date. */
const dependencies = async (pnpm, env) => {
  const inputs = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json'].map((name) => path.join(root, name));
  const stamp = hashOf([...inputs, ...patches()]);
  const isFresh = () => existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
  await onceForAll(cache, 'dependencies', isFresh, async () => {
    requireDisk(root, 1000);
    rmSync(stampFile, { force: true });
    const install = ['install', '--frozen-lockfile', '--prefer-offline'];
    await run('installing the dependencies of pnpm-lock.yaml', pnpm, install, {
      cwd: root,
      env: { ...env, CI: 'true' },
    });
    writeFileSync(stampFile, stamp);
  });
};

/** The tools, and node_modules by the lock file. */
export const prepared = async () => {
  const found = await tools();
  await dependencies(found.pnpm, found.env);
  return found;
};

/** Builds the bundles again if a source has changed. */
export const prepareBundles = ({ node, env }) =>
  onceForAll(
    cache,
    'bundles',
    () => freshBuild(null) !== null,
    () => run('bundling Vigil', node, [path.join(root, 'packages/dev/bootstrap/build.mjs'), node], { cwd: root, env }),
  );

/** A refusal is one sentence; any other error is an internal one and keeps its stack. */
export const orRefuse = (error) => {
  report(error instanceof Refusal ? error.message : error.stack);
  process.exit(1);
};
