import os from 'node:os';
import path from 'node:path';
import { Refusal } from '../command.mjs';
import { onceForAll } from '../lock.mjs';
import { MIN_NODE } from '../node-version.mjs';
import { installLocked, isInstalled, requireDisk } from '../npm-install.mjs';
import lock from '../toolchain/package-lock.json' with { type: 'json' };

const platform = `${process.platform}-${process.arch}`;
const name = `node-${platform}`;
const caches = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
const cache = path.join(caches, 'vigil');

/** What npm installs: the entry of this platform's Node, as the lock file of the clone has it, with its checksum. */
const filesFor = ({ version, ...entry }) => {
  const manifest = { name: 'vigil-node', private: true, dependencies: { [name]: version } };
  const { optional, ...required } = entry;
  const packages = { '': manifest, [`node_modules/${name}`]: { version, ...required } };
  return {
    'package.json': JSON.stringify(manifest),
    'package-lock.json': JSON.stringify({ name: 'vigil-node', lockfileVersion: 3, requires: true, packages }),
  };
};

/** The path of the pinned Node, which npm fetches once for all installs of this user. */
export const pinnedNode = async () => {
  const entry = lock.packages[`node_modules/${name}`];
  if (entry === undefined)
    throw new Refusal(
      `this is Node ${process.version} and no Node for ${platform} is pinned here: install Node ${MIN_NODE.join('.')} or newer, then run the command again`,
    );
  const dir = path.join(cache, `node-${entry.version}`);
  const node = path.join(dir, 'node_modules', name, 'bin/node');
  await onceForAll(
    cache,
    `node-${entry.version}`,
    () => isInstalled(dir),
    () => {
      requireDisk(cache, 500);
      const what = `fetching Node ${entry.version} into ${dir} (once, 120 MB)`;
      return installLocked(dir, { what, files: filesFor(entry), wanted: { Node: node }, platform });
    },
  );
  return node;
};
