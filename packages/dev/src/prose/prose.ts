import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import {
  TextlintKernel,
  type TextlintKernelOptions,
  type TextlintKernelPlugin,
  type TextlintKernelRule,
} from '@textlint/kernel';
import { SentenceSplitterSyntax, split } from 'sentence-splitter';
import { StringSource } from 'textlint-util-to-string';
import { codePages, helpTexts, messagePages, yamlPages } from './code.ts';

// Both are CommonJS; the second has no types.
const require = createRequire(import.meta.url);
const markdown: { default: TextlintKernelPlugin['plugin'] } = require('@textlint/textlint-plugin-markdown');
const prh: { default: TextlintKernelRule['rule'] } = require('textlint-rule-prh');

const SENTENCE_MAX = 30;

/** The words and constructions that pages, comments and test names do not use, each with a replacement. */
const WORDS = path.join(import.meta.dirname, 'words.yml');

type Node = ConstructorParameters<typeof StringSource>[0];

/** The text of a paragraph or a cell. Inline code counts as one word. */
const sourceOf = (node: Node): StringSource =>
  new StringSource(node, { replacer: ({ node, maskValue }) => (node.type === 'Code' ? maskValue('X') : undefined) });

const countWords = (text: string): number => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/**
 * A textlint rule: reports a sentence above `max` words in a paragraph, a list item or a cell of a table. The published
 * rules count characters, or ignore tables.
 */
const sentenceLength = (max: number): TextlintKernelRule['rule'] => {
  const rule: TextlintKernelRule['rule'] = ({ Syntax, RuleError, report, locator }) => {
    const check = (node: Parameters<typeof report>[0]): void => {
      const source = sourceOf(node as Node);
      for (const { type, raw, range } of split(source.toString())) {
        const count = countWords(raw);
        if (type !== SentenceSplitterSyntax.Sentence || count <= max) continue;
        const padding = locator.at(source.originalIndexFromIndex(range[0]) ?? 0);
        const message = `divide this sentence of ${count} words, the limit is ${max}: ${raw.slice(0, 60)}…`;
        report(node, new RuleError(message, { padding }));
      }
    };
    return { [Syntax.Paragraph]: check, [Syntax.TableCell]: check };
  };
  return rule;
};

const options: TextlintKernelOptions = {
  ext: '.md',
  plugins: [{ pluginId: 'markdown', plugin: markdown.default }],
  rules: [
    {
      ruleId: 'words',
      rule: prh.default,
      options: { rulePaths: [WORDS], checkLink: true, checkEmphasis: true },
    },
    { ruleId: 'sentence-length', rule: sentenceLength(SENTENCE_MAX) },
  ],
};

/** Problems of one page, each as "line: problem, and replacement". */
export const problemsOf = async (text: string): Promise<readonly string[]> => {
  // A line break in a cell ends a sentence.
  const { messages } = await new TextlintKernel().lintText(text.replaceAll('<br>', '! '), options);
  return messages.map(({ line, message }) => `${line}: ${message}`);
};

/** Folders without pages of this repository. */
const isExcluded = (file: string): boolean => /(^|\/)(node_modules|\.[a-z]+)(\/|$)/.test(file);

/** Every page of the repository. */
const pagesOf = (root: string): readonly { readonly file: string; readonly text: string }[] =>
  globSync('**/*.md', { cwd: root, exclude: isExcluded })
    .sort()
    .map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }));

/**
 * Problems of all pages, of the help of `vigil`, of messages, comments and names of tests, and of YAML files below
 * `root`, each as "file:line: problem, and replacement".
 */
export const proseProblems = async (root: string): Promise<readonly string[]> => {
  const problems: string[] = [];
  for (const { file, text } of [...pagesOf(root), ...codePages(root), ...messagePages(root), ...yamlPages(root)]) {
    const found = await problemsOf(text);
    problems.push(...found.map((one) => `${file}:${one}`));
  }
  for (const { file, line, text } of helpTexts(root)) {
    const found = await problemsOf(text);
    problems.push(...found.map((one) => `${file}:${line}: ${one.slice(one.indexOf(' ') + 1)}`));
  }
  return problems;
};

/** Subjects are checked from the commit after this one. */
const BASE = 'ede6d68';
const SUBJECT_MAX = 72;

/** Problems of the lines of `git log --format='%h %s'`: subjects that are too long. */
export const subjectProblems = (commits: string): readonly string[] =>
  commits.split('\n').flatMap((line) => {
    const [commit = '', ...words] = line.split(' ');
    const { length } = words.join(' ');
    return length <= SUBJECT_MAX
      ? []
      : [
          `commit ${commit}: the subject has ${length} characters; write at most ${SUBJECT_MAX}, and the reason below it`,
        ];
  });

/** Problems of the subjects since BASE; null if the checkout does not contain BASE (a shallow clone, an archive). */
export const commitProblems = (root: string): readonly string[] | null => {
  const args = ['log', '--no-merges', '--format=%h %s', `${BASE}..HEAD`];
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? subjectProblems(stdout) : null;
};
