import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../paths.ts';
import { codeMessages, codeProse, helpIn, yamlProse } from './code.ts';
import { problemsOf, subjectProblems } from './prose.ts';

const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ');

test('a sentence of 30 words passes', async () => {
  expect(await problemsOf(`${words(30)}.`)).toEqual([]);
});

test.each([`${words(31)}.`, `- ${words(31)}.`, `| head |\n|---|\n| ${words(31)} |`])(
  'a sentence of 31 words is reported in a paragraph, a list and a table',
  async (text) => {
    expect(await problemsOf(text)).toEqual([expect.stringMatching(/^\d: divide this sentence of 31 words/)]);
  },
);

test('inline code counts as one word', async () => {
  expect(await problemsOf(`${words(29)} \`vigil run --name a --task b\`.`)).toEqual([]);
});

test('each listed construction is reported with its line and a replacement', async () => {
  expect(await problemsOf('# Page\n\nThe file is written anew.')).toEqual(['3: anew => again']);
});

test.each([
  'The gateway **tells** it.',
  'See [who is told](page.md).',
  '# What it says',
  '| head |\n|---|\n| who hears it |',
  '"5x" is no duration.',
])('"%s" is reported', async (text) => {
  expect(await problemsOf(text)).toHaveLength(1);
});

test.each(['`vigil tell`', '```\nsay\n```', '> He said so.', 'It is no longer there.', 'There is no topic.'])(
  '"%s" passes',
  async (text) => {
    expect(await problemsOf(text)).toEqual([]);
  },
);

test('a commit subject of 72 characters passes, one of 73 is reported', () => {
  expect(subjectProblems(`abc ${'x'.repeat(72)}\n`)).toEqual([]);
  expect(subjectProblems(`abc ${'x'.repeat(73)}\n`)).toEqual([expect.stringContaining('commit abc')]);
});

test('the glossary has at most 25 words, each once', () => {
  const text = readFileSync(path.join(root, 'docs/glossary.md'), 'utf8');
  const words = [...text.matchAll(/^\| (?!word \|)(\w[^|]*?) \|/gm)].map(([, word]) => word);
  expect(words.length).toBeLessThanOrEqual(25);
  expect(new Set(words).size).toBe(words.length);
});

test('the help of a command is checked: descriptions, options, arguments, and texts in constants with their examples', () => {
  const source = [
    'const EXAMPLES = `\nNeeds Kafka.\n\n  vigil one --why "nobody says"`;',
    "program.command('one').description('does one thing').option('--why <text>', 'the reason').addHelpText('after', EXAMPLES);",
    "new Argument('<what>', 'what to do');",
    "log.info('not help');",
  ].join('\n');
  const found = helpIn('one.ts', source);
  expect(found[0]).toEqual({ file: 'one.ts', line: 1, text: '\nNeeds Kafka.\n\nvigil one --why "nobody says".' });
  const texts = found.map(({ text }) => text);
  for (const text of ['does one thing', 'the reason', 'what to do']) expect(texts).toContain(text);
  expect(texts).not.toContain('not help');
});

test('comments and test names are checked in their lines; code and other strings are not', () => {
  const source = [
    '/** One comment. */',
    'const said = "a string"; // another comment',
    '/**',
    ' * A long',
    ' * comment.',
    ' */',
    "test.each(rows)('a name of %s', () => {});",
    ['describe.skipIf(no)(`a name of $', '{said}`, () => {});'].join(''),
    "log.info('not a name');",
  ].join('\n');
  const lines = codeProse('one.ts', source).split('\n');
  expect(lines.map((line) => line.trim())).toEqual([
    ...['One comment.', 'another comment', '', 'A long', 'comment.', '', 'a name of %s.', 'a name of X.', ''],
  ]);
});

test('messages are checked in their lines: literals of three words, without templates of several lines', () => {
  const source = [
    "throw new Error('one two three');",
    "log.info('one two');",
    ['log.info(`$', '{name} goes on`);'].join(''),
    'const QUERY = `SELECT one two',
    'FROM three four five`;',
    "// a comment isn't a message",
    "const LINES = 'it is\\none two three';",
  ].join('\n');
  const lines = codeMessages('one.ts', source).split('\n');
  expect(lines.map((line) => line.trim())).toEqual([
    ...['one two three.', '', 'X goes on.', '', '', '', 'it is. one two three.'],
  ]);
});

test('a listed word in a message is reported with its line', async () => {
  expect(await problemsOf(codeMessages('one.ts', "\n\nlog.warn('it is written anew');"))).toEqual(['3: anew => again']);
});

test('comments and texts of YAML are checked in their lines; a literal block is a program', () => {
  const source = [
    '# one comment',
    'name: a plain text # beside it',
    'quoted: "in quotes"',
    'run: |',
    '  a program',
    'folded: >',
    '  a long',
    '  text',
    '',
    '# the end',
  ].join('\n');
  const lines = yamlProse(source).split('\n');
  expect(lines.map((line) => line.trim())).toEqual([
    ...[
      'one comment',
      'name. a plain text. beside it',
      'quoted. in quotes.',
      'run.',
      '',
      'folded.',
      'a long',
      'text.',
      '',
    ],
    'the end',
  ]);
});

test('a listed word in a comment is reported with its line', async () => {
  expect(await problemsOf(codeProse('one.ts', 'const a = 1;\n\n/** It is written anew. */'))).toEqual([
    '3: anew => again',
  ]);
});
