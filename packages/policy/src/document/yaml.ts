import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  Scalar,
  visit,
} from 'yaml';

/**
 * The documents of a YAML (or JSON) text as plain data. Unreadable parts are added to `mistakes`, with place and
 * remedy.
 */
export const documentsOf = (text: string, mistakes: string[]): unknown[] => {
  const lineCounter = new LineCounter();
  return [...parseAllDocuments(text, { merge: true, lineCounter })].map((document) => {
    const bad = misused(document, lineCounter);
    mistakes.push(...document.errors.map(({ message }) => message), ...bad);
    if (bad.length > 0) return null;
    try {
      return document.toJS();
    } catch (error) {
      mistakes.push(tooMuch(error as Error));
      return null;
    }
  });
};

const tooMuch = ({ message }: Error): string =>
  `document: its aliases expand to too much (${message}): write the values out`;

/** Invalid aliases and merges. */
const misused = (document: Document, lines: LineCounter): string[] => {
  const found: string[] = [];
  const here = (node: Node, message: string) => {
    const { line, col } = lines.linePos(node.range?.[0] ?? 0);
    found.push(`line ${line}, column ${col}: ${message}`);
  };
  visit(document, {
    Alias: (_, alias, path) => {
      const why = astray(alias, document, path);
      if (why !== null) here(alias, why);
    },
    Pair: (_, pair) => {
      if (isMerge(pair) && !isMergeable(pair.value, document))
        here(
          pair.value ?? pair.key,
          '<< merges only sections of settings: write an alias of a section, or a list of such aliases',
        );
    },
  });
  return found;
};

const astray = (alias: Alias, document: Document, within: readonly unknown[]): string | null => {
  const to = alias.resolve(document);
  if (to === undefined)
    return `*${alias.source} is an alias without an anchor before it: to write a text, put it in quotes, as '*${alias.source}'`;
  return within.includes(to) ? `*${alias.source} is an alias inside its own anchor: write the value out` : null;
};

const isMerge = (pair: Pair): pair is Pair<Scalar, Node | null> =>
  isScalar(pair.key) && pair.key.type === Scalar.PLAIN && pair.key.source === '<<';

/** Reports an invalid alias. */
const isMergeable = (value: Node | null, document: Document): boolean => {
  const isSection = (node: unknown) => {
    const meant = isAlias(node) ? node.resolve(document) : node;
    return isMap(meant) || (isAlias(node) && meant === undefined);
  };
  const meant = isAlias(value) ? value.resolve(document) : value;
  return isSeq(meant) ? meant.items.every(isSection) : isSection(value);
};
