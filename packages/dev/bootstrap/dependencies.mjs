import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { run } from './command.mjs';
import { onceForAll } from './lock.mjs';
import { hashOf, requireDisk, root } from './paths.mjs';

const stampFile = path.join(root, 'node_modules/.bootstrap-stamp');

const patches = () => {
  const dir = path.join(root, 'packages/stream/src/kafka');
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((name) => name.endsWith('.patch'))
    .sort()
    .map((name) => path.join(dir, name));
};

/** Installs node_modules by the lock file; nothing runs when the stamp shows that it is up to date. */
export const dependencies = async (pnpm, env) => {
  const inputs = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json'].map((name) => path.join(root, name));
  const stamp = hashOf([...inputs, ...patches()]);
  const isFresh = () => existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
  await onceForAll('dependencies', isFresh, async () => {
    requireDisk(1000);
    rmSync(stampFile, { force: true });
    const install = ['install', '--frozen-lockfile', '--prefer-offline'];
    await run('installing the dependencies of pnpm-lock.yaml', pnpm, install, {
      cwd: root,
      env: { ...env, CI: 'true' },
    });
    writeFileSync(stampFile, stamp);
  });
};
