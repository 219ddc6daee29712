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

/** The documents of a YAML (or JSON) text as plain data. What cannot be read goes to `mistakes`, with its place and what to write instead. */
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
  `document: its aliases stand for too much (${message}): write out what they stand for`;

/** Aliases and merges that refer to nothing. */
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
        here(pair.value ?? pair.key, '<< takes sections of settings only: write an alias of one, or a list of such');
    },
  });
  return found;
};

const astray = (alias: Alias, document: Document, within: readonly unknown[]): string | null => {
  const to = alias.resolve(document);
  if (to === undefined)
    return `*${alias.source} refers to an anchor that stands nowhere before it: where a text is meant, write it in quotes, as '*${alias.source}'`;
  return within.includes(to) ? `*${alias.source} stands inside of what it refers to: write out what is meant` : null;
};

const isMerge = (pair: Pair): pair is Pair<Scalar, Node | null> =>
  isScalar(pair.key) && pair.key.type === Scalar.PLAIN && pair.key.source === '<<';

/** An alias that is astray is named as such. */
const isMergeable = (value: Node | null, document: Document): boolean => {
  const isSection = (node: unknown) => {
    const meant = isAlias(node) ? node.resolve(document) : node;
    return isMap(meant) || (isAlias(node) && meant === undefined);
  };
  const meant = isAlias(value) ? value.resolve(document) : value;
  return isSeq(meant) ? meant.items.every(isSection) : isSection(value);
};
