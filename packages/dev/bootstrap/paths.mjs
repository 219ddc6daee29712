import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './bundles.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
export const cache = path.join(root, '.cache');
export const toolchainSpec = path.join(here, 'toolchain');

export const hashOf = (files) => {
  const hash = createHash('sha256');
  for (const file of files) hash.update(path.relative(root, file)).update(existsSync(file) ? readFileSync(file) : '-');
  return hash.digest('hex').slice(0, 16);
};
