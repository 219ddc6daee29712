import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './bundles.mjs';
import { Refusal } from './command.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
export const cache = path.join(root, '.cache');
export const toolchainSpec = path.join(here, 'toolchain');

export const hashOf = (files) => {
  const hash = createHash('sha256');
  for (const file of files) hash.update(path.relative(root, file)).update(existsSync(file) ? readFileSync(file) : '-');
  return hash.digest('hex').slice(0, 16);
};

/** Refuses before an install is half done on a full disk. */
export const requireDisk = (wantedMb) => {
  const { bavail, bsize } = statfsSync(root);
  const freeMb = Math.floor((bavail * bsize) / 1e6);
  if (freeMb < wantedMb)
    throw new Refusal(
      `${freeMb} MB are free on the disk of ${root} and ${wantedMb} MB are needed: make room, then run the command again`,
    );
};
