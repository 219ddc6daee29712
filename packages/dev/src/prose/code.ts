import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Expression, parseSync, Visitor } from 'oxc-parser';

/** Folders whose comments and test names are checked. */
const CHECKED = ['packages', 'services', 'test'];
/** Recordings, and texts of scripted models. */
const EXCLUDED = /test\/clients\/(?:recordings|model)\//;
const TEST_FUNCTIONS = new Set(['describe', 'it', 'test']);

/** `test` of `test.each(rows)`. */
const functionOf = (callee: Expression): string | null => {
  if (callee.type === 'Identifier') return callee.name;
  if (callee.type === 'MemberExpression') return functionOf(callee.object);
  if (callee.type === 'CallExpression') return functionOf(callee.callee);
  return null;
};

const textOf = (argument: { readonly type: string } | undefined, source: string): string | null => {
  if (argument?.type !== 'Literal' && argument?.type !== 'TemplateLiteral') return null;
  const { start, end } = argument as Expression;
  return source.slice(start + 1, end - 1).replaceAll(/\$\{[^}]*\}/g, 'X');
};

/** The comments and test names of one file as a page. Each text is in its original line. */
export const codeProse = (file: string, source: string): string => {
  const lines = source.split('\n').map(() => '');
  const add = (offset: number, text: string): void => {
    const first = source.slice(0, offset).split('\n').length - 1;
    for (const [place, line] of text.split('\n').entries()) lines[first + place] += `${line.trim()} `;
  };
  const { program, comments } = parseSync(file, source);
  for (const { start, value } of comments) add(start, value.replaceAll(/^\s*\* ?/gm, ''));
  const visitor = new Visitor({
    CallExpression({ callee, arguments: [name], start }) {
      const text = TEST_FUNCTIONS.has(functionOf(callee) ?? '') ? textOf(name, source) : null;
      if (text !== null) add(name?.start ?? start, `${text}.`);
    },
  });
  visitor.visit(program);
  return lines.join('\n');
};

/** Every checked file below `root`, as a page of comments and test names. */
export const codePages = (root: string): readonly { readonly file: string; readonly text: string }[] =>
  globSync(`{${CHECKED.join()}}/**/*.ts`, { cwd: root, exclude: (file) => file.endsWith('node_modules') })
    .filter((file) => !EXCLUDED.test(file))
    .sort()
    .map((file) => ({ file, text: codeProse(file, readFileSync(path.join(root, file), 'utf8')) }));

/** Methods of commander whose strings are help texts. */
const CALLS = new Set(['description', 'option', 'requiredOption', 'argument', 'addHelpText', 'Option', 'Argument']);

export type HelpText = { readonly file: string; readonly line: number; readonly text: string };

const lineOf = (source: string, offset: number): number => source.slice(0, offset).split('\n').length;

/**
 * The strings of one file that `vigil --help` shows: arguments of commander's methods, and template literals in
 * constants.
 */
export const helpIn = (file: string, source: string): readonly HelpText[] => {
  const texts: HelpText[] = [];
  const add = (offset: number, text: string): void => {
    texts.push({ file, line: lineOf(source, offset), text: text.replaceAll(/^ {2,}.*$/gm, '') });
  };
  const addStrings = (
    args: readonly { readonly type: string; readonly start: number; readonly end: number }[],
  ): void => {
    for (const { type, start, end } of args)
      if (type === 'Literal' || type === 'TemplateLiteral') add(start, source.slice(start + 1, end - 1));
  };
  const visitor = new Visitor({
    CallExpression({ callee, arguments: args }) {
      const isHelp =
        callee.type === 'MemberExpression' && callee.property.type === 'Identifier' && CALLS.has(callee.property.name);
      if (isHelp) addStrings(args);
    },
    NewExpression({ callee, arguments: args }) {
      if (callee.type === 'Identifier' && CALLS.has(callee.name)) addStrings(args);
    },
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier' && /^[A-Z]+$/.test(id.name) && init?.type === 'TemplateLiteral') addStrings([init]);
    },
  });
  visitor.visit(parseSync(file, source).program);
  return texts;
};

/** Every help text below `root`. */
export const helpTexts = (root: string): readonly HelpText[] =>
  globSync('packages/cli/src/{main,commands/**/*}.ts', { cwd: root, exclude: (file) => file.endsWith('.test.ts') })
    .sort()
    .flatMap((file) => helpIn(file, readFileSync(path.join(root, file), 'utf8')));
