import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Expression, parseSync, Visitor } from 'oxc-parser';
import { CST, Lexer } from 'yaml';

/** Files whose comments and test names are checked. */
const CHECKED = '{packages,services,test,docs/examples}/**/*.{ts,tsx,mjs}';
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

/** A page with as many lines as `source`: `add` writes a text into the lines where `source` has it. */
export const pageOf = (
  source: string,
): { readonly add: (offset: number, text: string) => void; readonly text: () => string } => {
  const lines = source.split('\n').map(() => '');
  return {
    add: (offset, text) => {
      const first = source.slice(0, offset).split('\n').length - 1;
      for (const [place, line] of text.split('\n').entries()) lines[first + place] += `${line.trim()} `;
    },
    text: () => lines.join('\n'),
  };
};

/** The comments and test names of one file as a page. Each text is in its original line. */
export const codeProse = (file: string, source: string): string => {
  const { add, text: page } = pageOf(source);
  const { program, comments } = parseSync(file, source);
  for (const { start, value } of comments) add(start, value.replaceAll(/^\s*\* ?/gm, ''));
  const visitor = new Visitor({
    CallExpression({ callee, arguments: [name], start }) {
      const text = TEST_FUNCTIONS.has(functionOf(callee) ?? '') ? textOf(name, source) : null;
      if (text !== null) add(name?.start ?? start, `${text}.`);
    },
  });
  visitor.visit(program);
  return page();
};

/** Three words beside each other. */
const SENTENCE = /(?:\p{L}+,? ){2}\p{L}/u;

/**
 * The messages of one file as a page, each in its original line: its string and template literals that have three words
 * beside each other. A template of several lines is a program (SQL, a script), or a help text, which `helpIn` reads.
 */
export const codeMessages = (file: string, source: string): string => {
  const { add, text: page } = pageOf(source);
  const addMessage = (offset: number, raw: string): void => {
    if (SENTENCE.test(raw) && !raw.includes('\n'))
      add(offset, `${raw.replaceAll('\\n', '. ').replaceAll(/\\(['"`])/g, '$1')}.`);
  };
  const visitor = new Visitor({
    Literal({ value, start, end }) {
      if (typeof value === 'string') addMessage(start, source.slice(start + 1, end - 1));
    },
    JSXText({ value, start }) {
      addMessage(start, value.replaceAll(/\s+/g, ' '));
    },
    TemplateLiteral({ quasis, start }) {
      addMessage(start, quasis.map(({ value }) => value.raw).join('X'));
    },
  });
  visitor.visit(parseSync(file, source).program);
  return page();
};

/** The comments and texts of one YAML file as a page, each in its original line. A literal block (`|`) is a program. */
export const yamlProse = (source: string): string => {
  const { add, text: page } = pageOf(source);
  let offset = 0;
  let previous: CST.TokenType | null = null;
  let isProgram = false;
  for (const token of new Lexer().lex(source)) {
    const kind = CST.tokenType(token);
    if (kind === 'block-scalar-header') isProgram = token.startsWith('|');
    else if (kind === 'comment') add(offset, token.replace(/^#+ ?/, ''));
    else if (kind === 'double-quoted-scalar' || kind === 'single-quoted-scalar') add(offset, `${token.slice(1, -1)}.`);
    else if (previous === 'scalar') {
      if (!isProgram) add(offset, `${token.trimEnd()}.`);
      isProgram = false;
    }
    // The lexer adds marks of one control character, which the source does not have.
    if (kind !== 'scalar' && kind !== 'doc-mode' && kind !== 'flow-error-end') offset += token.length;
    previous = kind;
  }
  return page();
};

type Page = { readonly file: string; readonly text: string };

const pagesOf = (root: string, pattern: string, textOf: (file: string, source: string) => string): readonly Page[] =>
  globSync(pattern, { cwd: root, exclude: (file) => file.endsWith('node_modules') })
    .filter((file) => !EXCLUDED.test(file))
    .sort()
    .map((file) => ({ file, text: textOf(file, readFileSync(path.join(root, file), 'utf8')) }))
    .filter(({ text }) => text.trim() !== '');

/** Every checked file below `root`, as a page of comments and test names. */
export const codePages = (root: string): readonly Page[] => pagesOf(root, CHECKED, codeProse);

/** Files without messages of Vigil: tests, what they share, and generated code. */
const WITHOUT_MESSAGES = /\.(?:test|fixture|contract)\.ts$|\/(?:testing|generated)\//;

/** Every file of production code below `root`, as a page of its messages. */
export const messagePages = (root: string): readonly Page[] =>
  pagesOf(root, '{packages,services}/**/*.{ts,tsx,mjs}', (file, source) =>
    WITHOUT_MESSAGES.test(file) ? '' : codeMessages(file, source),
  );

/** Every YAML file below `root`, as a page of comments and texts. */
export const yamlPages = (root: string): readonly Page[] =>
  pagesOf(root, '{*,{packages,deploy,docs,.github}/**/*}.yaml', (_, source) => yamlProse(source));

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
    // A line of an example or a table is a sentence by itself.
    const sentences = text.replaceAll(/^ {2,}(.*\S)$/gm, '$1.');
    texts.push({ file, line: lineOf(source, offset), text: sentences });
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
