import path from 'node:path';
import type { Import } from './imports.ts';
import type { File, Workspace } from './workspace.ts';

/** The imports of a file from its own package. */
const ownImports = ({ imports }: File): readonly Import[] => imports.filter(({ target }) => target.startsWith('.'));

const filesOf = (imports: readonly Import[], file: File, { files }: Workspace): readonly File[] =>
  imports
    .map(({ target }) => files.get(path.resolve(path.dirname(file.path), target)))
    .filter((found) => found !== undefined);

/** The files of its own package that a file needs at run time. */
const neededBy = (file: File, workspace: Workspace): readonly File[] =>
  filesOf(
    ownImports(file).filter(({ typeOnly }) => !typeOnly),
    file,
    workspace,
  );

/** The files of its own package that a file imports, types included. */
const importedBy = (file: File, workspace: Workspace): readonly File[] => filesOf(ownImports(file), file, workspace);

/** A file and all that it needs of its own package at run time. */
export const reachedFrom = (start: readonly File[], workspace: Workspace): ReadonlySet<File> => {
  const reached = new Set<File>(start);
  for (const file of reached) for (const next of neededBy(file, workspace)) reached.add(next);
  return reached;
};

/** Two files may import each other's types. */
const MOST_IN_TYPE_CYCLE = 2;

type Graph = (file: File) => readonly File[];

/** One cycle for each file that closes one: its files in order, the first again at the end. */
const cyclesIn = (files: Iterable<File>, graph: Graph): readonly (readonly File[])[] => {
  const done = new Set<File>();
  const cycles: File[][] = [];
  const visit = (file: File, path: readonly File[]): void => {
    const start = path.indexOf(file);
    if (start !== -1) cycles.push([...path.slice(start), file]);
    if (start !== -1 || done.has(file)) return;
    for (const next of graph(file)) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  return cycles;
};

/** The files that `start` imports and that import it in turn, over any number of files; `start` is one of them. */
const cyclicGroupOf = (start: File, reach: (file: File) => ReadonlySet<File>): ReadonlySet<File> =>
  new Set([...reach(start)].filter((file) => reach(file).has(start)));

const groupsIn = (files: Iterable<File>, graph: Graph): readonly (readonly File[])[] => {
  const reached = new Map<File, ReadonlySet<File>>();
  const reach = (start: File): ReadonlySet<File> => {
    const known = reached.get(start);
    if (known !== undefined) return known;
    const found = new Set<File>([start]);
    for (const file of found) for (const next of graph(file)) found.add(next);
    reached.set(start, found);
    return found;
  };
  const grouped = new Set<File>();
  const groups: (readonly File[])[] = [];
  for (const file of files) {
    if (grouped.has(file)) continue;
    const group = [...cyclicGroupOf(file, reach)];
    for (const member of group) grouped.add(member);
    if (group.length > MOST_IN_TYPE_CYCLE) groups.push(group);
  }
  return groups;
};

/** Cycles of imports that remain at run time: the files of each in order, the first again at the end. */
export const runtimeCycles = (workspace: Workspace): readonly (readonly File[])[] =>
  cyclesIn(workspace.files.values(), (file) => neededBy(file, workspace));

/** Groups of more than two files that import each other in cycles, imports of types included. */
export const typeCycles = (workspace: Workspace): readonly (readonly File[])[] =>
  groupsIn(workspace.files.values(), (file) => importedBy(file, workspace));
