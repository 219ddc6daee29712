import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser';

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

/** How far what is in it stands from the left: as what is there already, where that begins a line. */
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

/** Adds an item at the end of the list or object at `path`; nothing else is touched. `name`: of a field, null in a list. */
export const appended = (text: string, path: Path, name: string | null, value: unknown): string => {
  const node = nodeAt(text, path);
  if (node === undefined) return text;
  const last = node.children?.at(-1);
  if (last !== undefined) {
    const indent = isOneLine(text, node) ? null : indentIn(text, node, path.length + 1);
    const added = `,${indent === null ? '' : `\n${indent}`}${written(text, name, value, indent)}`;
    return text.slice(0, endOf(last)) + asWritten(text, added) + text.slice(endOf(last));
  }
  const [indent, outer] = [unitOf(text).repeat(path.length + 1), unitOf(text).repeat(path.length)];
  const added = `\n${indent}${written(text, name, value, indent)}\n${outer}`;
  return text.slice(0, node.offset + 1) + asWritten(text, added) + text.slice(endOf(node) - 1);
};

/** Puts another value in the place of the one at `path`. */
export const replaced = (text: string, path: Path, value: unknown): string => {
  const node = nodeAt(text, path);
  return node === undefined ? text : text.slice(0, node.offset) + JSON.stringify(value) + text.slice(endOf(node));
};

/** Takes the item at `path` out, with the comma that it needed. */
export const without = (text: string, path: Path): string => {
  const value = nodeAt(text, path);
  const item = value?.parent?.type === 'property' ? value.parent : value;
  const siblings = item?.parent?.children;
  if (item?.parent === undefined || siblings === undefined) return text;
  const at = siblings.indexOf(item);
  const [before, after] = [siblings[at - 1], siblings[at + 1]];
  if (before !== undefined) return text.slice(0, endOf(before)) + text.slice(endOf(item));
  if (after !== undefined) return text.slice(0, item.offset) + text.slice(after.offset);
  return text.slice(0, item.parent.offset + 1) + text.slice(endOf(item.parent) - 1);
};
