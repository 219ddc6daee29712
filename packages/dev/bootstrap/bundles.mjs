import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

// Every `vigil` command imports this file: it stays free of what a start does not need.

export const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
/** A link to the newest build; the build that it names is replaced as a whole. */
export const bundles = path.join(root, '.cache/bundles');

/** What changes when a file is written, and is cheap to read. */
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
  // A copied clone has the paths of the original in its bundles.
  return manifest.root === root && (commands[command] ?? Object.keys(inputs)).every(isUnchanged) ? manifest : null;
};

/** The manifest of the newest build; null where there is none, or a source of it (of the command, where one is named) has changed. */
export const freshBuild = (command) => {
  try {
    return read(command);
  } catch {
    // There is none, or it is another version's.
    return null;
  }
};

/** Type stripping is stable and silent from here on. */
export const MIN_NODE = [24, 12, 0];

export const isRecent = () => {
  const have = process.versions.node.split('.').map(Number);
  const first = MIN_NODE.findIndex((wanted, index) => have[index] !== wanted);
  return first === -1 || have[first] > MIN_NODE[first];
};
