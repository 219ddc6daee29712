import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'oxc-parser';

export type Import = {
  readonly target: string;
  readonly line: number;
  /** imported names; empty if the whole module is imported */
  readonly names: readonly string[];
};

export type Source = {
  readonly file: string;
  /** its imports at run time: static, dynamic and re-exported */
  readonly imports: readonly Import[];
  /** the text with its comments blanked, line for line */
  readonly code: string;
};

type Module = ReturnType<typeof parseSync>['module'];
type Found = Omit<Import, 'line'> & { readonly offset: number };

const staticImports = (module: Module): readonly Found[] =>
  module.staticImports
    .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
    .map(({ moduleRequest, entries }) => ({
      target: moduleRequest.value,
      offset: moduleRequest.start,
      names: entries.flatMap(({ importName }) => importName.name ?? []),
    }));

/** `export … from`; names that are imported and later exported are already among the imports. */
const reExports = (module: Module): readonly Found[] =>
  module.staticExports
    .filter(({ start }) => !module.staticImports.some((known) => known.start === start))
    .flatMap(({ entries }) => entries)
    .flatMap(({ moduleRequest, isType }) =>
      moduleRequest && !isType ? [{ target: moduleRequest.value, offset: moduleRequest.start, names: [] }] : [],
    );

const dynamicImports = (module: Module, text: string): readonly Found[] =>
  module.dynamicImports
    .map(({ moduleRequest: { start, end } }) => ({ literal: text.slice(start, end), offset: start }))
    .filter(({ literal }) => /^['"`][^$]*$/.test(literal))
    .map(({ literal, offset }) => ({ target: literal.slice(1, -1), offset, names: [] }));

const withoutComments = (text: string, comments: readonly { readonly start: number; readonly end: number }[]): string =>
  comments.reduce(
    (code, { start, end }) => code.slice(0, start) + code.slice(start, end).replaceAll(/[^\n]/g, ' ') + code.slice(end),
    text,
  );

/** @throws Error when it cannot be parsed */
const sourceOf = (file: string): Source => {
  const text = readFileSync(file, 'utf8');
  const { module, errors, comments } = parseSync(file, text);
  if (errors[0] !== undefined) throw new Error(`${file} cannot be parsed: ${errors[0].message}`);
  const found = [...staticImports(module), ...reExports(module), ...dynamicImports(module, text)];
  const imports = found.map(({ offset, ...rest }) => ({ ...rest, line: text.slice(0, offset).split('\n').length }));
  return { file, imports, code: withoutComments(text, comments) };
};

/** The files of these patterns below `root`, and their relative imports at run time. */
export const sourcesFrom = (root: string, patterns: readonly string[]): readonly Source[] => {
  const reached = new Set(globSync(patterns, { cwd: root }).map((file) => path.join(root, file)));
  const sources: Source[] = [];
  for (const file of reached) {
    const source = sourceOf(file);
    sources.push(source);
    const own = source.imports.filter(({ target }) => target.startsWith('.'));
    for (const { target } of own) reached.add(path.resolve(path.dirname(file), target));
  }
  return sources;
};
