import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runsOn } from './node-version.mjs';

// Every `vigil` command imports this file, so it contains only what a start needs.

export const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
/** A link to the newest build, which is replaced as a whole. */
export const bundles = path.join(root, '.cache/bundles');

/** A cheap fingerprint of a file, which changes when the file is written. */
export const stampOf = (file) => {
  const { mtimeMs, size } = statSync(path.join(root, file), { throwIfNoEntry: false }) ?? { mtimeMs: 0, size: -1 };
  return [mtimeMs, size];
};

const read = (command) => {
  const manifest = JSON.parse(readFileSync(path.join(bundles, 'manifest.json'), 'utf8'));
  const { inputs, commands } = manifest;
  const isUnchanged = (file) => {
    const [mtimeMs, size] = stampOf(file);
    return mtimeMs === inputs[file][0] && size === inputs[file][1];
  };
  // The bundles of a copied clone contain the paths of the original.
  return manifest.root === root && (commands[command]?.sources ?? Object.keys(inputs)).every(isUnchanged)
    ? manifest
    : null;
};

/**
 * The manifest of the newest build; null if there is none, or if one of its sources (or those of a named command) has
 * changed.
 */
export const freshBuild = (command) => {
  try {
    return read(command);
  } catch {
    // There is none, or it is another version's.
    return null;
  }
};

/** Whether the Node of this process runs the command: one that only asks a server needs no recent Node. */
export const runsHere = ({ commands }, command) => runsOn(commands[command]?.node);
