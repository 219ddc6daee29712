import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { CorrectThePolicy } from '../document/mistakes.ts';
import { ASSIGNMENT, type Assignment, readAssignment, unknownIn } from '../sets/assignment.ts';
import { namesIn, noting } from '../sets/files.ts';
import { compile, parseYaml } from './compile.ts';
import type { Vocabulary } from './compiled.ts';

/** A document of a file without mistakes. `name`: the policy's, or assign.yaml; `document`: canonical JSON. */
export type Checked = {
  readonly file: string;
  readonly name: string;
  readonly hash: string;
  readonly document: string;
  readonly warnings: readonly string[];
};

/**
 * The documents of files and of the *.yaml of directories, policies before an assignment. `known`: policies that an assignment may name
 * besides them. Throws CorrectThePolicy with the mistakes of all files.
 */
export const checkFiles = (
  paths: readonly string[],
  vocabulary: Vocabulary,
  known: readonly string[],
): readonly Checked[] => {
  const mistakes: string[] = paths.flatMap(misnamedAt);
  const files = paths.flatMap(filesAt);
  const found = files.flatMap(
    (file) =>
      noting(mistakes, file, () => [checked(file, parseYaml(readFileSync(file, 'utf8'), file), vocabulary)]) ?? [],
  );
  const names = [...known, ...found.map(({ name }) => name)];
  for (const { file, assignment } of found)
    if (assignment) mistakes.push(...unknownIn(assignment, names).map((mistake) => `${file}: ${mistake}`));
  mistakes.push(...namedTwice(found));
  if (mistakes.length > 0) throw new CorrectThePolicy(paths.join(', '), mistakes);
  return [...found]
    .sort((a, b) => Number(a.name === ASSIGNMENT) - Number(b.name === ASSIGNMENT))
    .map(({ assignment: _, ...rest }) => rest);
};

const namedTwice = (found: readonly Checked[]): string[] =>
  found.flatMap(({ file, name }, i) => {
    const other = found.slice(0, i).find((before) => before.name === name);
    if (!other) return [];
    return `${file}: policy: ${name} is the name of ${other.file} too: rename one of them`;
  });

const checked = (
  file: string,
  written: unknown,
  vocabulary: Vocabulary,
): Checked & { readonly assignment?: Assignment } => {
  if (isObject(written) && 'channels' in written && !('policy' in written))
    throw new CorrectThePolicy(file, [
      'is a file of alert channels, not of a policy: leave it out, or give the folder of the policies; `vigil alert check` checks it',
    ]);
  if (isAssignment(file, written)) {
    const assignment = readAssignment(written, file);
    const { hash, document, warnings } = assignment;
    return { file, name: ASSIGNMENT, hash, document, warnings, assignment };
  }
  const { name, hash, document, warnings } = compile(written, file, vocabulary);
  return { file, name, hash, document, warnings };
};

const isAssignment = (file: string, written: unknown): boolean =>
  path.basename(file) === ASSIGNMENT ||
  (isObject(written) && !('policy' in written) && ('rules' in written || 'default' in written));

const isObject = (written: unknown): written is object => typeof written === 'object' && written !== null;

const isDirectory = (at: string): boolean => statSync(at).isDirectory();

const filesAt = (at: string): readonly string[] => (isDirectory(at) ? namesIn(at, '.yaml') : [at]);

/** Reports *.yml files, because the evaluator reads only *.yaml. */
const misnamedAt = (at: string): readonly string[] =>
  (isDirectory(at) ? namesIn(at, '.yml') : []).map(
    (file) => `${file}: is not read, because only the *.yaml files of a directory are: rename it`,
  );
