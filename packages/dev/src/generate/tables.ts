import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

type Column = { readonly name: string; readonly type: string; readonly isRequired: boolean };
type Table = { key: readonly string[]; groups: Map<string, Column[]> };

const FACT = ''; // the only group of a table without column groups
/** Tables that the projector writes about itself, which no event writes. */
const OF_THE_PROJECTOR: readonly string[] = ['cluster', 'positions', 'projected', 'history_days'];
const STATEMENT = /(CREATE|ALTER) TABLE (\w+) ?\(?\n?([^;]*?)\n?\)?;/g;
const COLUMN = /^(?:ADD COLUMN )?(\w+) (text|boolean|integer|bigint|jsonb|timestamptz|bytea)\b(.*)$/;

const groupOf = (table: Table, { name }: Column, current: string, isAdded: boolean): string => {
  if (!isAdded || name.startsWith(`${current}_`)) return current;
  const group = [...table.groups.keys()].find((one) => name.startsWith(`${one}_`)) ?? FACT;
  if (!table.groups.has(group))
    throw new Error(`${name} was added to no column group: begin its name with that of one`);
  return group;
};

/** Reads the columns that a statement lists; `group_order` begins a column group. */
const readColumns = (table: Table, text: string, isAdded: boolean): void => {
  let current = FACT;
  for (const line of text.split(/,\n|\n| (?=ADD COLUMN)/).map((one) => one.trim().replace(/,$/, ''))) {
    const key = /^PRIMARY KEY \((.*)\)$/.exec(line)?.[1];
    if (key !== undefined) table.key = key.split(', ');
    const [, name, type, rest] = COLUMN.exec(line) ?? [];
    if (name === undefined || type === undefined || rest === undefined) continue;
    if (rest === ' PRIMARY KEY') table.key = [name];
    const order = rest === ' COLLATE "C"' ? /^(\w+)_order$/.exec(name)?.[1] : undefined;
    const column = { name, type, isRequired: /NOT NULL|PRIMARY KEY/.test(rest) };
    const group = order ?? groupOf(table, column, current, isAdded);
    if (order !== undefined) current = order;
    const columns = table.groups.get(group) ?? [];
    table.groups.set(group, columns);
    if (order === undefined) columns.push(column);
  }
};

/** A renamed `…_order` column renames its column group, whose columns move to the new name. */
const renameColumn = (table: Table, from: string, to: string): void => {
  table.key = table.key.map((name) => (name === from ? to : name));
  const groupName = (group: string): string => (from === `${group}_order` ? to.replace(/_order$/, '') : group);
  const renamed = (column: Column): Column => (column.name === from ? { ...column, name: to } : column);
  table.groups = new Map([...table.groups].map(([group, columns]) => [groupName(group), columns.map(renamed)]));
};

const readTables = (folder: string): ReadonlyMap<string, Table> => {
  const tables = new Map<string, Table>();
  for (const file of readdirSync(folder).sort())
    for (const [, verb, name = '', text = ''] of readFileSync(path.join(folder, file), 'utf8').matchAll(STATEMENT)) {
      const table = tables.get(name) ?? { key: [], groups: new Map() };
      const newName = /^RENAME TO (\w+)$/.exec(text)?.[1];
      if (newName !== undefined) tables.delete(name);
      tables.set(newName ?? name, table);
      const [, from, to] = /^RENAME COLUMN (\w+) TO (\w+)$/.exec(text) ?? [];
      if (from !== undefined && to !== undefined) renameColumn(table, from, to);
      readColumns(table, text, verb === 'ALTER');
    }
  return tables;
};

/** The tables that events write, as data: the key and the columns of each column group, with their types. */
export const renderTables = (folder: string): string => {
  const written = [...readTables(folder)].filter(([name]) => !OF_THE_PROJECTOR.includes(name));
  const entries = written.map(([name, { key, groups }]) => {
    const isKey = (column: Column) => key.includes(column.name);
    const typed = (columns: readonly Column[]) =>
      Object.fromEntries(columns.map((one) => [one.name, `${one.type}${one.isRequired || isKey(one) ? '' : '?'}`]));
    const keys = typed([...groups.values()].flat().filter(isKey));
    const all = [...groups].map(([group, columns]) => [group, typed(columns.filter((one) => !isKey(one)))] as const);
    const columns = Object.fromEntries(all.filter(([group]) => group !== FACT || groups.size === 1));
    return `  ${name}: ${JSON.stringify({ key: keys, groups: columns })},`;
  });
  return [
    '// Generated from packages/read-model/migrations by `npm run generate`. Do not edit.',
    '/** The group of a fact table is named by the empty text. */',
    'export const tables = {',
    ...entries,
    '} as const;',
    '',
  ].join('\n');
};
