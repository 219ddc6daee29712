import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { compile, loadPolicy, parseYaml } from '../compile/compile.ts';
import type { CompiledPolicy, Vocabulary } from '../compile/compiled.ts';
import { CorrectThePolicy } from '../document/mistakes.ts';
import { ASSIGNMENT, type Assignment, asRequested, type Requestable, readAssignment } from './assignment.ts';
import { type HeldPolicy, type PolicySet, type Provenance, policySet } from './policy-set.ts';

/** Vigil's own policies: presets/*.yaml. */
export const PRESETS: string = path.resolve(import.meta.dirname, '../../presets');

export const presetNames = (): readonly string[] =>
  readdirSync(PRESETS)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => path.basename(file, '.yaml'));

/**
 * Every *.yaml of the directories, in order of name; the mistakes of all files in one message. A later file replaces an
 * earlier one with the same name.
 */
export const readPolicies = (directories: readonly string[], vocabulary: Vocabulary): readonly CompiledPolicy[] => {
  const found = new Map<string, CompiledPolicy>();
  const fileOf = new Map<string, string>();
  const mistakes: string[] = [];
  for (const file of directories.flatMap(policyFiles)) {
    const policy = noting(mistakes, file, () => loadPolicy(textOf(file), path.basename(file), vocabulary));
    if (!policy) continue;
    const other = fileOf.get(policy.name);
    if (other && path.dirname(other) === path.dirname(file))
      mistakes.push(`${file}: policy: ${policy.name} is the name of ${path.basename(other)} too: rename one of them`);
    fileOf.set(policy.name, file);
    found.set(policy.name, policy);
  }
  if (mistakes.length > 0) throw new CorrectThePolicy(directories.join(', '), mistakes);
  return [...found.values()];
};

/**
 * The presets, and the policies and assign.yaml of `directory`. Without an assign.yaml, agents get the policy that they
 * request if it is `requestable`, else `fallback`. Throws CorrectThePolicy with the mistakes of all files.
 */
export const readPolicySet = (
  directory: string | null,
  { fallback, requestable }: { readonly fallback: string; readonly requestable: Requestable },
  vocabulary: Vocabulary,
): PolicySet => {
  const held = (origin: 'preset' | 'file'): Provenance => ({ origin, by: 'health-evaluator', why: null, at: null });
  const mistakes: string[] = [];
  const found = new Map<string, HeldPolicy>();
  for (const [origin, from] of [
    ['preset', PRESETS],
    ['file', directory],
  ] as const) {
    const policies = from === null ? [] : (noting(mistakes, null, () => readPolicies([from], vocabulary)) ?? []);
    for (const policy of policies) found.set(policy.name, { ...held(origin), policy });
  }
  const written = directory === null ? null : noting(mistakes, null, () => assignmentIn(directory));
  const assignment = written
    ? { ...held('file'), assignment: written }
    : { ...held('preset'), assignment: asRequested(fallback, requestable) };
  const names = [...found.keys()];
  if (mistakes.length === 0 && !written && !names.includes(fallback))
    mistakes.push(
      `the default policy ${fallback} is not loaded: name one of ${names.join(', ')}, or put ${fallback}.yaml into the policy directory`,
    );
  for (const name of written || mistakes.length > 0 || requestable === 'any' ? [] : requestable)
    if (!names.includes(name))
      mistakes.push(`the requestable policy ${name} is not loaded: name one of ${names.join(', ')}, or any`);
  const file = path.join(directory ?? '', ASSIGNMENT);
  const set = mistakes.length > 0 ? null : noting(mistakes, file, () => policySet([...found.values()], assignment));
  if (set) return set;
  throw new CorrectThePolicy(directory ?? PRESETS, mistakes);
};

/** The policy of a published document (canonical JSON). */
export const republished = (document: string, vocabulary: Vocabulary): CompiledPolicy =>
  compile(JSON.parse(document), 'published policy', vocabulary);

const assignmentIn = (directory: string): Assignment | null => {
  const file = path.join(directory, ASSIGNMENT);
  if (!readdirSync(directory).includes(ASSIGNMENT)) return null;
  const mistakes: string[] = [];
  const assignment = noting(mistakes, file, () => readAssignment(parseYaml(textOf(file), ASSIGNMENT), ASSIGNMENT));
  if (assignment) return assignment;
  throw new CorrectThePolicy(directory, mistakes);
};

/** Runs `read`. If it throws mistakes, notes them and returns undefined. */
export const noting = <T>(mistakes: string[], file: string | null, read: () => T): T | undefined => {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CorrectThePolicy)) throw error;
    mistakes.push(...error.mistakes.map((mistake) => (file === null ? mistake : `${file}: ${mistake}`)));
    return undefined;
  }
};

const textOf = (file: string): string => readFileSync(file, 'utf8');

/** The files of a directory with this ending, in order of name. */
export const namesIn = (directory: string, end: string): readonly string[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith(end))
    .sort()
    .map((name) => path.join(directory, name));

const policyFiles = (directory: string): readonly string[] =>
  namesIn(directory, '.yaml').filter((file) => path.basename(file) !== ASSIGNMENT);
