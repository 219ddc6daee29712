import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkFiles } from '../compile/check.ts';
import { parseYaml } from '../compile/compile.ts';
import { load, mistakesOf, VOCABULARY } from '../fixture.ts';
import { readPolicySet } from '../sets/files.ts';

const GLOB = 'policy: u\nexclude: [*-bot, *gone]\nsignals: {}\nstates: {}\n';
const inQuotes = [
  "line 2, column 11: *-bot is an alias without an anchor before it: to write a text, put it in quotes, as '*-bot'",
  "line 2, column 18: *gone is an alias without an anchor before it: to write a text, put it in quotes, as '*gone'",
];
const parsing = (text: string) => mistakesOf(() => parseYaml(text, 'test.yaml'));

test('an alias without an anchor is a mistake with its line, and so is an unquoted glob', () => {
  expect(mistakesOf(() => load(GLOB))).toEqual(inQuotes);
  expect(parsing('a: *later\nb: &later 5')).toEqual([expect.stringMatching(/^line 1, column 4: \*later is an alias /)]);
  expect(parsing("exclude: ['*-bot']")).toEqual([]);
});

test('an anchor that contains its own alias is a mistake, and one that is used after its end is allowed', () => {
  expect(parsing('signals: &s {\n  no_calls: { after: 5m, x: *s } }')).toEqual([
    'line 2, column 29: *s is an alias inside its own anchor: write the value out',
  ]);
  expect(parseYaml('a: &s { x: 1 }\nb: *s', 'test.yaml')).toEqual({ a: { x: 1 }, b: { x: 1 } });
});

test('only sections can be merged', () => {
  const merged =
    'line 1, column 5: << merges only sections of settings: write an alias of a section, or a list of such aliases';
  expect(parsing('<<: 5')).toEqual([merged]);
  expect(parsing('<<: [{}, 5]')).toEqual([merged]);
  expect(parsing('"<<": 5')).toEqual([]);
  expect(parseYaml('a: &s { x: 1 }\nb: { <<: *s }\nc: { <<: [*s, { y: 2 }] }', 'test.yaml')).toEqual({
    a: { x: 1 },
    b: { x: 1 },
    c: { x: 1, y: 2 },
  });
});

test('aliases that expand to too much are a mistake', () => {
  const lines = ['a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]'];
  for (let i = 1; i < 9; i++)
    lines.push(
      `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
    );
  expect(parsing(lines.join('\n'))).toEqual([
    'document: its aliases expand to too much (Excessive alias count indicates a resource exhaustion attack): write the values out',
  ]);
});

test('two documents in one file are a mistake; an end marker after the first does not begin a second', () => {
  expect(parsing('policy: a\n---\npolicy: b\n')).toEqual([
    'document: 2 documents are in this file, separated by ---: write each into a file of its own',
  ]);
  expect(parsing('---\npolicy: a\n...\n')).toEqual([]);
  expect(parseYaml('# nothing\n', 'test.yaml')).toBeNull();
});

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'vigil-yaml-'));
  writeFileSync(path.join(folder, 'glob.yaml'), GLOB);
  writeFileSync(path.join(folder, 'other.yaml'), 'policy: o\ncolour: red\nsignals: {}\nstates: {}\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

test('a check and a start also report the mistakes of the other files, each with its file', () => {
  const [glob, other] = ['glob.yaml', 'other.yaml'].map((name) => path.join(folder, name));
  const all = [...inQuotes.map((mistake) => `${glob}: ${mistake}`), expect.stringContaining(`${other}: colour: `)];
  expect(mistakesOf(() => checkFiles([folder], VOCABULARY, []))).toEqual(all);
  expect(mistakesOf(() => readPolicySet(folder, { fallback: 'o', requestable: [] }, VOCABULARY))).toEqual(
    expect.arrayContaining(all),
  );
});
