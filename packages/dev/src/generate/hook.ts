import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { sourceOf } from '../boundaries/imports.ts';

const SOURCES = 'packages/sdk/src';
const OUT = 'packages/sdk/generated';
const ENTRY = 'hook/main.ts';
const HEADER = (from: string) =>
  `// Generated from ${from} by \`npm run generate\`: for Node 18, which reads no TypeScript.\n`;

const reached = (root: string, file: string, known: Map<string, string>): Map<string, string> => {
  if (known.has(file)) return known;
  const text = readFileSync(path.join(root, SOURCES, file), 'utf8');
  known.set(file, text);
  for (const { target, typeOnly } of sourceOf(file, text).imports)
    if (target.startsWith('.') && !typeOnly) reached(root, path.join(path.dirname(file), target), known);
  return known;
};

/** Types become white space, of which nothing has to be kept. */
const plain = (file: string, text: string): string => {
  const code = stripTypeScriptTypes(text).replace(/(from|import\() ?'(\.[^']*)\.ts'/g, "$1 '$2.mjs'");
  const lines = code.split('\n').map((line) => line.trimEnd());
  return (
    HEADER(`${SOURCES}/${file}`) +
    lines
      .filter((line) => line !== '')
      .join('\n')
      .concat('\n')
  );
};

/** `vigil hook` in plain JavaScript, file by file: it runs on the machine's own Node, without the start of another. */
export const hookFiles = (root: string): readonly (readonly [file: string, text: string])[] =>
  [...reached(root, ENTRY, new Map())].map(([file, text]) => [
    path.join(OUT, file.replace(/\.ts$/, '.mjs')),
    plain(file, text),
  ]);
