import path from 'node:path';
import type { File, Workspace } from './workspace.ts';

/** The files of its own package that a file needs at run time. */
const neighbours = (file: File, { files }: Workspace): readonly File[] =>
  file.imports
    .filter(({ target, typeOnly }) => target.startsWith('.') && !typeOnly)
    .map(({ target }) => files.get(path.resolve(path.dirname(file.path), target)))
    .filter((found) => found !== undefined);

/** A file and all that it needs of its own package at run time. */
export const reachedFrom = (start: readonly File[], workspace: Workspace): ReadonlySet<File> => {
  const reached = new Set<File>(start);
  for (const file of reached) for (const next of neighbours(file, workspace)) reached.add(next);
  return reached;
};

/** One cycle for each file that closes one: its files in order, the first again at the end. */
export const cyclesOf = (workspace: Workspace): readonly (readonly File[])[] => {
  const done = new Set<File>();
  const cycles: File[][] = [];
  const visit = (file: File, way: readonly File[]): void => {
    const at = way.indexOf(file);
    if (at !== -1) cycles.push([...way.slice(at), file]);
    if (at !== -1 || done.has(file)) return;
    for (const next of neighbours(file, workspace)) visit(next, [...way, file]);
    done.add(file);
  };
  for (const file of workspace.files.values()) visit(file, []);
  return cycles;
};
