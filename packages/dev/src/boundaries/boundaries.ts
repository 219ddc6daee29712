import path from 'node:path';
import { cyclesOf } from './graph.ts';
import { importProblem } from './import-rules.ts';
import { purityProblems } from './purity.ts';
import { readWorkspace, type Workspace } from './workspace.ts';

const importProblems = (workspace: Workspace): readonly string[] =>
  [...workspace.files.values()].flatMap((file) =>
    file.imports.flatMap((found) => {
      const problem = importProblem(file, found, workspace);
      return problem === null
        ? []
        : [`${path.relative(workspace.root, file.path)}:${found.line} imports "${found.target}": ${problem}`];
    }),
  );

const cycleProblems = (workspace: Workspace): readonly string[] =>
  cyclesOf(workspace).map(
    (cycle) => `a cycle of imports: ${cycle.map((file) => path.relative(workspace.root, file.path)).join(' → ')}`,
  );

/**
 * Imports that the design forbids, each as "file:line what: why", over the packages and services below `root`.
 * Read from the syntax tree: dependency-cruiser passes silently with TypeScript 7.
 */
export const boundaryProblems = (root: string): readonly string[] => {
  const workspace = readWorkspace(root);
  return [...importProblems(workspace), ...cycleProblems(workspace), ...purityProblems(workspace)];
};
