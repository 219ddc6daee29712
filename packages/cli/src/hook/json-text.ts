import { createScanner, findNodeAtLocation, type Node, parseTree, visit } from 'jsonc-parser';

export type Path = readonly (string | number)[];

const treeOf = (text: string): Node | undefined => parseTree(text, [], { allowTrailingComma: true });
const nodeAt = (text: string, path: Path): Node | undefined => {
  const tree = treeOf(text);
  return tree === undefined ? undefined : findNodeAtLocation(tree, [...path]);
};
const endOf = ({ offset, length }: Node): number => offset + length;

const lineOf = (text: string, offset: number): string => text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
const unitOf = (text: string): string => /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
const isOneLine = (text: string, node: Node): boolean => !text.slice(node.offset, endOf(node)).includes('\n');

/** The indentation of the content: that of the existing content, if it begins a line. */
const indentIn = (text: string, node: Node, depth: number): string => {
  const line = node.children?.[0] ? lineOf(text, node.children[0].offset) : null;
  return line !== null && line.trim() === '' ? line : unitOf(text).repeat(depth);
};

/** An item as this file would write it. */
const written = (text: string, name: string | null, value: unknown, indent: string | null): string => {
  const json = indent === null ? JSON.stringify(value) : JSON.stringify(value, null, unitOf(text));
  const named = name === null ? json : `${JSON.stringify(name)}:${indent === null ? '' : ' '}${json}`;
  return named.replaceAll('\n', `\n${indent ?? ''}`);
};

const asWritten = (text: string, added: string): string =>
  text.includes('\r\n') ? added.replaceAll('\n', '\r\n') : added;

const inserted = (text: string, offset: number, added: string): string =>
  text.slice(0, offset) + asWritten(text, added) + text.slice(offset);

/** Marks an item that was put into an empty place, so that the place stays when the item is removed. */
const MARK = ' ';

/** Adds an item at the end of the list or object at `path`; nothing else is touched. `name`: of a field, null in a list. */
export const appended = (text: string, path: Path, name: string | null, value: unknown): string => {
  const node = nodeAt(text, path);
  if (node === undefined) return text;
  const last = node.children?.at(-1);
  if (last !== undefined) {
    const indent = isOneLine(text, node) ? null : indentIn(text, node, path.length + 1);
    const added = `,${indent === null ? '' : `\n${indent}`}${written(text, name, value, indent)}`;
    return inserted(text, endOf(last), added);
  }
  const [indent, outer] = [unitOf(text).repeat(path.length + 1), unitOf(text).repeat(path.length)];
  if (path.length === 0 && node.length === '{}'.length)
    return inserted(text, node.offset + 1, `\n${indent}${written(text, name, value, indent)}\n${outer}`);
  return inserted(text, node.offset + 1, MARK + written(text, name, value, text.trim().includes('\n') ? indent : null));
};

/** Puts another value in the place of the one at `path`. */
export const replaced = (text: string, path: Path, value: unknown): string => {
  const node = nodeAt(text, path);
  return node === undefined ? text : text.slice(0, node.offset) + JSON.stringify(value) + text.slice(endOf(node));
};

/** What stands between two items, without the comma: comments, or nothing. */
const between = (text: string, from: number, to: number): string => {
  const scanner = createScanner(text, true);
  scanner.setPosition(from);
  scanner.scan();
  const next = scanner.getTokenOffset();
  const left =
    next < to && text[next] === ',' ? text.slice(from, next) + text.slice(next + 1, to) : text.slice(from, to);
  return left.trim() === '' ? '' : left;
};

/** Takes the item at `path` out, with the comma that it needed; comments stay. What `appended` had written around it goes, too. */
export const without = (text: string, path: Path): string => {
  const value = nodeAt(text, path);
  const item = value?.parent?.type === 'property' ? value.parent : value;
  const siblings = item?.parent?.children;
  if (item?.parent === undefined || siblings === undefined) return text;
  const at = siblings.indexOf(item);
  const [before, after] = [siblings[at - 1], siblings[at + 1]];
  const [from, to] = [before ? endOf(before) : item.parent.offset + 1, after ? after.offset : endOf(item.parent) - 1];
  if (before !== undefined) return text.slice(0, from) + between(text, from, item.offset) + text.slice(endOf(item));
  if (after !== undefined) return text.slice(0, item.offset) + between(text, endOf(item), to) + text.slice(to);
  if (text.slice(from, item.offset) === MARK) return text.slice(0, from) + text.slice(endOf(item));
  const around = between(text, from, item.offset) + between(text, endOf(item), to);
  return around === '' && path.length > 1
    ? without(text, path.slice(0, -1))
    : text.slice(0, from) + around + text.slice(to);
};

/** The second of two fields of one name, where findNodeAtLocation finds the first and a reader of JSON the last. */
export type Twice = { readonly name: string; readonly offset: number };

/** The first duplicate field below `name`; null: there is none. */
export const namedTwice = (text: string, name: string): Twice | null => {
  const seen = new Set<string>();
  const found: Twice[] = [];
  visit(text, {
    onObjectProperty: (field, offset, _length, _line, _column, pathOf) => {
      const path = [...pathOf(), field];
      const key = JSON.stringify(path);
      if (path[0] === name && seen.has(key)) found.push({ name: field, offset });
      seen.add(key);
    },
  });
  return found[0] ?? null;
};
