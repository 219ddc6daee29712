import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { staleFiles } from './generate/files.ts';
import { root } from './paths.ts';

const stale = staleFiles(root);
for (const [file, text] of stale) {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
  console.log(`written ${file}`);
}
if (stale.size === 0) console.log('every generated file is up to date');
