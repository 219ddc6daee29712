import { parseSync } from 'oxc-parser';

export type Import = {
  readonly target: string;
  readonly line: number;
  /** nothing of it is left at run time */
  readonly typeOnly: boolean;
  /** names taken from it; empty when it is taken whole */
  readonly names: readonly string[];
};

export type Source = {
  readonly imports: readonly Import[];
  /** the text with its comments blanked, line for line */
  readonly code: string;
};

type Module = ReturnType<typeof parseSync>['module'];
type Found = Omit<Import, 'line'> & { readonly offset: number };

const staticImports = (module: Module): readonly Found[] =>
  module.staticImports.map(({ moduleRequest, entries }) => ({
    target: moduleRequest.value,
    offset: moduleRequest.start,
    typeOnly: entries.length > 0 && entries.every((entry) => entry.isType),
    names: entries.flatMap(({ importName }) =>
      importName.name === null || importName.name === undefined ? [] : [importName.name],
    ),
  }));

/** `export … from`; what is imported first and exported later is already among the imports. */
const reExports = (module: Module): readonly Found[] =>
  module.staticExports
    .filter(({ start }) => !module.staticImports.some((known) => known.start === start))
    .flatMap(({ entries }) => entries)
    .flatMap(({ moduleRequest, isType }) =>
      moduleRequest ? [{ target: moduleRequest.value, offset: moduleRequest.start, typeOnly: isType, names: [] }] : [],
    );

const dynamicImports = (module: Module, text: string): readonly Found[] =>
  module.dynamicImports
    .map(({ moduleRequest }) => ({
      literal: text.slice(moduleRequest.start, moduleRequest.end),
      offset: moduleRequest.start,
    }))
    .filter(({ literal }) => /^['"`][^$]*$/.test(literal))
    .map(({ literal, offset }) => ({ target: literal.slice(1, -1), offset, typeOnly: false, names: [] }));

const withoutComments = (text: string, comments: readonly { readonly start: number; readonly end: number }[]): string =>
  comments.reduce(
    (code, { start, end }) => code.slice(0, start) + code.slice(start, end).replaceAll(/[^\n]/g, ' ') + code.slice(end),
    text,
  );

/** What a file imports, static, dynamic and re-exported. @throws Error when it cannot be parsed */
export const sourceOf = (file: string, text: string): Source => {
  const { module, errors, comments } = parseSync(file, text);
  if (errors[0] !== undefined) throw new Error(`${file} cannot be parsed: ${errors[0].message}`);
  const found = [...staticImports(module), ...reExports(module), ...dynamicImports(module, text)];
  const imports = found.map(({ offset, ...rest }) => ({ ...rest, line: text.slice(0, offset).split('\n').length }));
  return { imports, code: withoutComments(text, comments) };
};
