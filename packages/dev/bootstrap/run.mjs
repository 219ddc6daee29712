// Bootstrap: plain JavaScript for any Node >= 18. Makes the pinned toolchain and the
// dependencies present, then runs a TypeScript entry (or a package script) on the pinned Node.
//   node tools/bootstrap/run.mjs scripts/start.ts [args…]     run an entry
//   node tools/bootstrap/run.mjs --pnpm [args…]               run the pinned pnpm
//   node tools/bootstrap/run.mjs --exec tsc -p tsconfig.json  run a tool of node_modules/.bin
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const MIN_NODE = [24, 12, 0]; // type stripping is stable and silent from here on
const NPM_RETRY = ['--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'];
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const spec = path.join(path.dirname(fileURLToPath(import.meta.url)), 'toolchain');
const cache = process.env.VIGIL_CACHE_DIR ?? path.join(root, '.cache');

class Refusal extends Error {}
const say = (text) => process.stderr.write(`[bootstrap] ${text}\n`);
const hashOf = (files) => {
  const hash = createHash('sha256');
  for (const file of files) hash.update(file).update(existsSync(file) ? readFileSync(file) : '-');
  return hash.digest('hex').slice(0, 16);
};
const atLeast = (version, wanted) => {
  const have = version.replace(/^v/, '').split('.').map(Number);
  for (let i = 0; i < 3; i++) if (have[i] !== wanted[i]) return have[i] > wanted[i];
  return true;
};
const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/** One at a time, also between processes; a lock whose owner is gone is taken over. */
const withLock = async (name, done, work) => {
  if (done()) return;
  mkdirSync(cache, { recursive: true });
  const lock = path.join(cache, `${name}.lock`);
  for (let told = false; ; ) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const owner = Number(existsSync(lock) ? readFileSync(lock, 'utf8') : 0);
      let alive = false;
      try {
        alive = owner > 0 && process.kill(owner, 0);
      } catch (e) {
        alive = e.code === 'EPERM';
      }
      if (!alive) {
        rmSync(lock, { force: true });
        continue;
      }
      if (!told) say(`waiting for process ${owner}, which is installing ${name}`);
      told = true;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  try {
    if (!done()) work();
  } finally {
    rmSync(lock, { force: true });
  }
};

const run = (command, args, options) => {
  const result = spawnSync(command, args, { encoding: 'utf8', ...options });
  if (result.status === 0) return;
  const said = `${result.stdout ?? ''}${result.stderr ?? ''}${result.error ?? ''}`.trim();
  throw new Refusal(
    `${path.basename(command)} ${args.slice(0, 2).join(' ')} failed (exit ${result.status}):\n${said.split('\n').slice(-25).join('\n')}`,
  );
};

const npm = (args, cwd) => {
  // npm start hands over its own path; a bare "node run.mjs" takes npm from PATH.
  const own = process.env.npm_execpath;
  const viaNode = own !== undefined && /npm-cli\.c?js$/.test(own);
  run(viaNode ? process.execPath : 'npm', viaNode ? [own, ...args] : args, { cwd });
};

const toolchain = async () => {
  const files = ['package.json', 'package-lock.json'].map((name) => path.join(spec, name));
  const dir = path.join(cache, `toolchain-${hashOf(files)}`);
  const marker = path.join(dir, '.ready');
  const platform = `${os.platform()}-${os.arch()}`;
  const bundled = path.join(dir, 'node_modules', `node-${platform}`);
  const bundledNode = path.join(bundled, 'bin', 'node');
  const bundledPnpm = path.join(dir, 'node_modules', '@pnpm', `exe.${platform}`, 'pnpm');
  const own = atLeast(process.version, MIN_NODE);
  const pinned = readFileSync(files[1], 'utf8').includes(`"node_modules/node-${platform}"`);
  if (!pinned) {
    // No pinned build for this platform: the user's own Node and pnpm have to do.
    if (!own)
      throw new Refusal(
        `this is Node ${process.version} and no Node for ${platform} is pinned here: install Node ${MIN_NODE.join('.')} or newer, then run the command again`,
      );
    return { node: process.execPath, pnpm: 'pnpm', headers: undefined };
  }
  await withLock(
    'toolchain',
    () => existsSync(marker),
    () => {
      const since = Date.now();
      say('fetching the pinned Node and pnpm (once; about 250 MB on disk)');
      rmSync(dir, { recursive: true, force: true });
      mkdirSync(dir, { recursive: true });
      for (const file of files) copyFileSync(file, path.join(dir, path.basename(file)));
      npm(
        ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', ...NPM_RETRY],
        dir,
      );
      // npm treats a failed download of an optional package as success: look at the result itself.
      const missing = [bundledNode, bundledPnpm].filter((file) => !existsSync(file));
      if (missing.length > 0) {
        rmSync(dir, { recursive: true, force: true });
        throw new Refusal(
          `npm could not fetch ${missing.map((file) => path.relative(dir, file).split(path.sep).slice(1, -1).join('/')).join(' and ')}: is the npm registry reachable? (try: npm ping)`,
        );
      }
      writeFileSync(marker, '');
      say(`toolchain ready in ${seconds(since)}`);
    },
  );
  return { node: own ? process.execPath : bundledNode, pnpm: bundledPnpm, headers: own ? undefined : bundled };
};

const environment = ({ node, headers }) => {
  const env = {
    ...process.env,
    PATH: [path.dirname(node), path.join(root, 'node_modules', '.bin'), process.env.PATH].join(path.delimiter),
  };
  for (const key of Object.keys(env)) {
    // What "npm start" exports about itself must not steer pnpm; registry, proxy and CA settings stay.
    if (
      /^npm_(lifecycle|package|command|execpath|node_execpath|config_(user_agent|prefix|global_prefix|local_prefix|node_gyp|noproxy|npm_version|init_module|globalconfig|nodedir|yes))/i.test(
        key,
      )
    )
      delete env[key];
  }
  if (headers !== undefined) env.npm_config_nodedir = headers; // this package ships the C headers too
  return env;
};

const dependencies = async (tools) => {
  const stampFile = path.join(root, 'node_modules', '.bootstrap-stamp');
  const patches = path.join(root, 'patches');
  const inputs = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json'].map((name) => path.join(root, name));
  if (existsSync(patches))
    inputs.push(
      ...readdirSync(patches)
        .sort()
        .map((name) => path.join(patches, name)),
    );
  const stamp = `${hashOf(inputs)} ${tools.node}`;
  const fresh = () => existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
  await withLock('dependencies', fresh, () => {
    const since = Date.now();
    say('installing dependencies from pnpm-lock.yaml');
    run(tools.pnpm, ['install', '--frozen-lockfile', '--prefer-offline'], {
      cwd: root,
      env: { ...environment(tools), CI: 'true' },
    });
    writeFileSync(stampFile, stamp);
    say(`dependencies ready in ${seconds(since)}`);
  });
};

const hand = (command, args, env) => {
  const child = spawn(command, args, { stdio: 'inherit', env });
  // A terminal sends Ctrl-C to the whole group: stay until the child has shut down. Pass on what only we get.
  let interrupts = 0;
  process.on('SIGINT', () => {
    interrupts += 1;
    if (!process.stdin.isTTY || interrupts > 2) child.kill('SIGINT');
  });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // npm does not pass a SIGTERM on to its script: when the parent is gone, shut down as well.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 500).unref();
  child.on('error', (error) => {
    say(error.message);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (os.constants.signals[signal] ?? 1)));
};

const main = async () => {
  const [first, ...rest] = process.argv.slice(2);
  if (first === undefined) throw new Refusal('usage: run.mjs ENTRY.ts [args…] | --pnpm [args…] | --exec TOOL [args…]');
  const tools = await toolchain();
  const env = environment(tools);
  if (first === '--pnpm') return hand(tools.pnpm, rest, env);
  await dependencies(tools);
  if (first === '--exec') return hand(path.join(root, 'node_modules', '.bin', rest[0]), rest.slice(1), env);
  return hand(tools.node, [path.resolve(root, first), ...rest], env);
};

main().catch((error) => {
  say(error instanceof Refusal ? error.message : error.stack);
  process.exit(1);
});
