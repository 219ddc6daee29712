import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/** Calls of commander whose strings are help. */
const CALLS = new Set(['description', 'option', 'requiredOption', 'argument', 'addHelpText', 'Option', 'Argument']);

export type HelpText = { readonly file: string; readonly line: number; readonly text: string };

const lineOf = (source: string, offset: number): number => source.slice(0, offset).split('\n').length;

/** The strings of one file that `vigil --help` shows: arguments of commander's calls, and templates of constants. */
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

/** Every text of help below `root`. */
export const helpTexts = (root: string): readonly HelpText[] =>
  globSync('packages/cli/src/{main,commands/*}.ts', { cwd: root, exclude: (file) => file.endsWith('.test.ts') })
    .sort()
    .flatMap((file) => helpIn(file, readFileSync(path.join(root, file), 'utf8')));
