import { existsSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Refusal, run } from './command.mjs';

/** Refuses before an install is half done on a full disk. */
export const requireDisk = (folder, wantedMb) => {
  const { bavail, bsize } = statfsSync(folder);
  const freeMb = Math.floor((bavail * bsize) / 1e6);
  if (freeMb < wantedMb)
    throw new Refusal(
      `${freeMb} MB are free on the disk of ${folder} and ${wantedMb} MB are needed: make room, then run the command again`,
    );
};

const NPM_CI = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
// Without a network, npm itself waits for over a minute.
const NPM_RETRY = ['--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'];

const npmCi = (what, dir) => {
  // npm start passes npm's path; a bare "node run.mjs" uses npm from PATH.
  const own = process.env.npm_execpath;
  const viaNode = own !== undefined && /npm-cli\.c?js$/.test(own);
  const args = [...(viaNode ? [own] : []), ...NPM_CI, ...NPM_RETRY];
  return run(what, viaNode ? process.execPath : 'npm', args, { cwd: dir });
};

const marker = (dir) => path.join(dir, '.ready');

/** Whether an install into this folder has finished. */
export const isInstalled = (dir) => existsSync(marker(dir));

/**
 * Installs what a lock file names into a folder of its own. `files`: the contents of package.json and
 * package-lock.json; `wanted`: what the install is for, with the file that must exist after it.
 */
export const installLocked = async (dir, { what, files, wanted, platform }) => {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(dir, name), content);
  await npmCi(what, dir);
  // npm reports success after a failed download of an optional package, so check the result itself.
  const missing = Object.keys(wanted).filter((name) => !existsSync(wanted[name]));
  if (missing.length === 0) return writeFileSync(marker(dir), '');
  rmSync(dir, { recursive: true, force: true });
  throw new Refusal(
    `npm could not fetch ${missing.join(' and ')} for ${platform}: is the npm registry reachable (npm ping)?`,
  );
};
