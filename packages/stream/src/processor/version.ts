import { readFileSync } from 'node:fs';
import path from 'node:path';

const manifest = path.resolve(import.meta.dirname, '../../../../package.json');

/** Vigil's version: what a release counts up. */
export const VERSION: string = JSON.parse(readFileSync(manifest, 'utf8')).version;
