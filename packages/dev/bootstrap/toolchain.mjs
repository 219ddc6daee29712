import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isRecent, MIN_NODE } from './bundles.mjs';
import { Refusal, run } from './command.mjs';
import { onceForAll } from './lock.mjs';
import { cache, hashOf, requireDisk, toolchainSpec } from './paths.mjs';

const platform = `${process.platform}-${process.arch}`;
const spec = ['package.json', 'package-lock.json'].map((name) => path.join(toolchainSpec, name));
const dir = path.join(cache, `toolchain-${hashOf(spec)}`);
const marker = path.join(dir, '.ready');
const bundled = path.join(dir, 'node_modules', `node-${platform}`);
const bundledNode = path.join(bundled, 'bin/node');
const bundledPnpm = path.join(dir, 'node_modules/@pnpm', `exe.${platform}`, 'pnpm');

const NPM_CI = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
// Without a network, npm itself waits for over a minute.
const NPM_RETRY = ['--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'];

const npmCi = () => {
  // npm start passes npm's path; a bare "node run.mjs" uses npm from PATH.
  const own = process.env.npm_execpath;
  const viaNode = own !== undefined && /npm-cli\.c?js$/.test(own);
  const args = [...(viaNode ? [own] : []), ...NPM_CI, ...NPM_RETRY];
  return run('fetching the pinned Node and pnpm (once, 250 MB)', viaNode ? process.execPath : 'npm', args, {
    cwd: dir,
  });
};

const fetchToolchain = async () => {
  requireDisk(2000);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  for (const file of spec) copyFileSync(file, path.join(dir, path.basename(file)));
  await npmCi();
  // npm reports success after a failed download of an optional package, so check the result itself.
  const missing = [bundledNode, bundledPnpm].filter((file) => !existsSync(file));
  if (missing.length === 0) return writeFileSync(marker, '');
  rmSync(dir, { recursive: true, force: true });
  const names = missing.map((file) => (file === bundledNode ? 'Node' : 'pnpm')).join(' and ');
  throw new Refusal(`npm could not fetch ${names} for ${platform}: is the npm registry reachable (npm ping)?`);
};

/** @returns {Promise<{ node: string, pnpm: string, headers: string | undefined }>} paths; `headers` where the C headers of `node` lie */
export const toolchain = async () => {
  const recent = isRecent();
  if (!readFileSync(spec[1], 'utf8').includes(`"node_modules/node-${platform}"`)) {
    if (recent) return { node: process.execPath, pnpm: 'pnpm', headers: undefined };
    throw new Refusal(
      `this is Node ${process.version} and no Node for ${platform} is pinned here: install Node ${MIN_NODE.join('.')} or newer and pnpm, then run the command again`,
    );
  }
  await onceForAll('toolchain', () => existsSync(marker), fetchToolchain);
  return { node: recent ? process.execPath : bundledNode, pnpm: bundledPnpm, headers: recent ? undefined : bundled };
};
