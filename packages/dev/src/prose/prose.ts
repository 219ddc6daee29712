import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import {
  TextlintKernel,
  type TextlintKernelOptions,
  type TextlintKernelPlugin,
  type TextlintKernelRule,
} from '@textlint/kernel';
import { codePages } from './code.ts';
import { helpTexts } from './help.ts';
import { pagesOf } from './pages.ts';
import { sentenceLength } from './sentence-length.ts';

// Both are CommonJS; the second has no types.
const require = createRequire(import.meta.url);
const markdown: { default: TextlintKernelPlugin['plugin'] } = require('@textlint/textlint-plugin-markdown');
const prh: { default: TextlintKernelRule['rule'] } = require('textlint-rule-prh');

const SENTENCE_MAX = 30;

/** The words and constructions that pages, comments and names of tests do not use, each with what to write. */
const WORDS = path.join(import.meta.dirname, 'words.yml');

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

/** Problems of one page, each as "line: what, and what to write". */
export const problemsOf = async (text: string): Promise<readonly string[]> => {
  // A line break in a cell ends a sentence.
  const { messages } = await new TextlintKernel().lintText(text.replaceAll('<br>', '! '), options);
  return messages.map(({ line, message }) => `${line}: ${message}`);
};

/**
 * Problems of all pages, of the help of `vigil`, and of comments and names of tests below `root`, each as "file:line: what, and what to write".
 */
export const proseProblems = async (root: string): Promise<readonly string[]> => {
  const problems: string[] = [];
  for (const page of pagesOf(root)) {
    const found = await problemsOf(readFileSync(path.join(root, page), 'utf8'));
    problems.push(...found.map((one) => `${page}:${one}`));
  }
  for (const { file, text } of codePages(root)) {
    const found = await problemsOf(text);
    problems.push(...found.map((one) => `${file}:${one}`));
  }
  for (const { file, line, text } of helpTexts(root)) {
    const found = await problemsOf(text);
    problems.push(...found.map((one) => `${file}:${line}: ${one.slice(one.indexOf(' ') + 1)}`));
  }
  return problems;
};
