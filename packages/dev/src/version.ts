import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './paths.ts';
import { endWith, Refusal } from './refusal.ts';
import { versionedFiles, withVersion } from './versions.ts';

const versionOf = (): string => JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).version;

/** Changesets raises the version of the repository and writes CHANGELOG.md; every package gets that version. */
const main = (): void => {
  const before = versionOf();
  const { status } = spawnSync(path.join(root, 'node_modules/.bin/changeset'), ['version'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Refusal(`changeset version ended with ${status}; its output has the reason`);
  const version = versionOf();
  if (version === before)
    throw new Refusal('no changeset is there: write one with npm run changeset, then run this again');
  for (const file of versionedFiles(root)) {
    const text = readFileSync(path.join(root, file), 'utf8');
    writeFileSync(path.join(root, file), withVersion(text, version));
  }
  console.log(`every package has version ${version}`);
};

try {
  main();
} catch (error) {
  endWith(error);
}
