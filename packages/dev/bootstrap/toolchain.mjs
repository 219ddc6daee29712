import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Refusal } from './command.mjs';
import { onceForAll } from './lock.mjs';
import { isRecent, MIN_NODE } from './node-version.mjs';
import { installLocked, isInstalled, requireDisk } from './npm-install.mjs';
import { cache, hashOf, toolchainSpec } from './paths.mjs';

const platform = `${process.platform}-${process.arch}`;
const spec = ['package.json', 'package-lock.json'].map((name) => path.join(toolchainSpec, name));
const dir = path.join(cache, `toolchain-${hashOf(spec)}`);
const bundled = path.join(dir, 'node_modules', `node-${platform}`);
const bundledNode = path.join(bundled, 'bin/node');
const bundledPnpm = path.join(dir, 'node_modules/@pnpm', `exe.${platform}`, 'pnpm');

const fetchToolchain = () => {
  requireDisk(cache, 2000);
  return installLocked(dir, {
    what: 'fetching the pinned Node and pnpm (once, 250 MB)',
    files: Object.fromEntries(spec.map((file) => [path.basename(file), readFileSync(file)])),
    wanted: { Node: bundledNode, pnpm: bundledPnpm },
    platform,
  });
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
  await onceForAll(cache, 'toolchain', () => isInstalled(dir), fetchToolchain);
  return { node: recent ? process.execPath : bundledNode, pnpm: bundledPnpm, headers: recent ? undefined : bundled };
};
