import path from 'node:path';
import { runtimeCycles, typeCycles } from './graph.ts';
import { importProblem } from './import-rules.ts';
import { purityProblems } from './purity.ts';
import { type File, readWorkspace, type Workspace } from './workspace.ts';

const importProblems = (workspace: Workspace): readonly string[] =>
  [...workspace.files.values()].flatMap((file) =>
    file.imports.flatMap((found) => {
      const problem = importProblem(file, found, workspace);
      return problem === null
        ? []
        : [`${path.relative(workspace.root, file.path)}:${found.line} imports "${found.target}": ${problem}`];
    }),
  );

const namesOf = (files: readonly File[], { root }: Workspace, between: string): string =>
  files.map((file) => path.relative(root, file.path)).join(between);

const cycleProblems = (workspace: Workspace): readonly string[] => {
  const cycles = runtimeCycles(workspace);
  // A group that has a cycle at run time is reported once.
  const known = new Set(cycles.flat());
  const groups = typeCycles(workspace).filter((group) => !group.some((file) => known.has(file)));
  return [
    ...cycles.map((cycle) => `a cycle of imports: ${namesOf(cycle, workspace, ' → ')}`),
    ...groups.map((group) => {
      const names = namesOf(group, workspace, ', ');
      return `a cycle of type imports over more than two files: ${names}; move the shared types to a file that imports none of these`;
    }),
  ];
};

/**
 * Imports that the design forbids, each as "file:line what: why", over the packages and services below `root`. Read
 * from the syntax tree: dependency-cruiser passes silently with TypeScript 7.
 */
export const boundaryProblems = (root: string): readonly string[] => {
  const workspace = readWorkspace(root);
  return [...importProblems(workspace), ...cycleProblems(workspace), ...purityProblems(workspace)];
};
