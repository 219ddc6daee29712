import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { generatedFiles } from './generate/files.ts';

const root = path.resolve(import.meta.dirname, '../../..');
for (const [file, text] of generatedFiles(root)) {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
  console.log(`written ${file}`);
}
