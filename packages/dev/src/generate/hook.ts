import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { sourceOf } from '../boundaries/imports.ts';

const OUT = 'packages/sdk/generated';
const ENTRY = 'packages/sdk/src/hook/main.ts';
/** Where what lies in a folder goes, below OUT. */
const FOLDERS = { 'packages/sdk/src/': '', 'packages/circuit-breaker/src/': 'circuit-breaker/' };
/** What the hook may import of the workspace beside its own package. */
const PACKAGES: Readonly<Record<string, string>> = {
  '@vigil/circuit-breaker': 'packages/circuit-breaker/src/index.ts',
};
const HEADER = (from: string) =>
  `// Generated from ${from} by \`npm run generate\`: for Node 18, which reads no TypeScript.\n`;

/** The file that an import means; null: one of Node's. */
const meant = (file: string, target: string): string | null =>
  target.startsWith('.') ? path.join(path.dirname(file), target) : (PACKAGES[target] ?? null);

const reached = (root: string, file: string, known: Map<string, string>): Map<string, string> => {
  if (known.has(file)) return known;
  const text = readFileSync(path.join(root, file), 'utf8');
  known.set(file, text);
  for (const { target, typeOnly } of sourceOf(file, text).imports) {
    const next = typeOnly ? null : meant(file, target);
    if (next !== null) reached(root, next, known);
  }
  return known;
};

const placeOf = (file: string): string => {
  const found = Object.entries(FOLDERS).find(([from]) => file.startsWith(from));
  if (found === undefined) throw new Error(`${file} is in no folder that the hook may import`);
  return found[1] + file.slice(found[0].length).replace(/\.ts$/, '.mjs');
};

const importOf = (file: string, target: string): string => {
  const to = path.relative(path.dirname(placeOf(file)), placeOf(meant(file, target) ?? target));
  return to.startsWith('.') ? to : `./${to}`;
};

/** Types become white space, of which nothing has to be kept. */
const plain = (file: string, text: string): string => {
  const code = stripTypeScriptTypes(text).replace(
    /(from|import\() ?'(\.[^']*|@vigil\/[^']*)'/g,
    (_, how: string, target: string) => `${how} '${importOf(file, target)}'`,
  );
  const lines = code.split('\n').map((line) => line.trimEnd());
  return (
    HEADER(file) +
    lines
      .filter((line) => line !== '')
      .join('\n')
      .concat('\n')
  );
};

/** `vigil hook` in plain JavaScript, file by file: it runs on the machine's own Node, without the start of another. */
export const hookFiles = (root: string): readonly (readonly [file: string, text: string])[] =>
  [...reached(root, ENTRY, new Map())].map(([file, text]) => [path.join(OUT, placeOf(file)), plain(file, text)]);
