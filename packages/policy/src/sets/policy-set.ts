import { compile } from '../compile/compile.ts';
import type { CompiledPolicy, Vocabulary } from '../compile/compiled.ts';
import { CorrectThePolicy } from '../document/mistakes.ts';
import { ASSIGNMENT, type Assignment, readAssignment, unknownIn } from './assignment.ts';

/**
 * The origin of a document, and its author, reason and time (epoch milliseconds; null if it is in force since the
 * start).
 */
export type Provenance = {
  readonly origin: 'preset' | 'file' | 'applied';
  readonly by: string;
  readonly why: string | null;
  readonly at: number | null;
};
export type HeldPolicy = Provenance & { readonly policy: CompiledPolicy };

/** Everything that is in force at a time. */
export type PolicySet = {
  /** in order of name */
  readonly policies: readonly HeldPolicy[];
  readonly assignment: Provenance & { readonly assignment: Assignment };
};

/** A document to apply under a name; null removes the applied one. */
export type Application = {
  readonly name: string;
  /** canonical JSON */
  readonly document: string | null;
  readonly by: string;
  readonly why: string;
  readonly at: number;
};

/** Throws CorrectThePolicy if the assignment names an unknown policy. */
export const policySet = (policies: readonly HeldPolicy[], assignment: PolicySet['assignment']): PolicySet => {
  const names = policies.map(({ policy }) => policy.name);
  const unknown = unknownIn(assignment.assignment, names);
  if (unknown.length > 0) throw new CorrectThePolicy(ASSIGNMENT, unknown);
  const inOrder = [...policies].sort((a, b) => (a.policy.name < b.policy.name ? -1 : 1));
  return { policies: inOrder, assignment };
};

/**
 * The set that is in force once a document is applied; `files`: the documents of the files. Throws CorrectThePolicy;
 * then nothing changes.
 */
export const applied = (
  set: PolicySet,
  files: PolicySet,
  application: Application,
  vocabulary: Vocabulary,
): PolicySet => {
  const { name, document, by, why, at } = application;
  const who: Provenance = { origin: 'applied', by, why, at };
  if (name === ASSIGNMENT) {
    const assignment =
      document === null
        ? { ...files.assignment, at }
        : { ...who, assignment: readAssignment(JSON.parse(document), name) };
    return policySet(set.policies, assignment);
  }
  const others = set.policies.filter(({ policy }) => policy.name !== name);
  const own = document === null ? fromFiles(files, name, at) : [{ ...who, policy: named(name, document, vocabulary) }];
  return policySet([...others, ...own], set.assignment);
};

const fromFiles = (files: PolicySet, name: string, at: number): readonly HeldPolicy[] =>
  files.policies.filter(({ policy }) => policy.name === name).map((held) => ({ ...held, at }));

const named = (name: string, document: string, vocabulary: Vocabulary): CompiledPolicy => {
  const policy = compile(parsed(name, document), name, vocabulary);
  if (policy.name === name) return policy;
  throw new CorrectThePolicy(name, [`policy: ${policy.name} was applied under the name ${name}: write ${name}`]);
};

const parsed = (name: string, document: string): unknown => {
  try {
    return JSON.parse(document);
  } catch (error) {
    throw new CorrectThePolicy(name, [
      `document: is not JSON (${(error as Error).message}): apply it with \`vigil policy apply\``,
    ]);
  }
};
