import { type Draft, Topic } from '@vigil/events';
import { VOCABULARY } from '@vigil/health';
import { ASSIGNMENT, CorrectThePolicy, canonicalJson, compile, readAssignment } from '@vigil/policy';
import { Problem } from '../problem.ts';
import type { Of } from './command.ts';

/** A document to be applied, or taken back. Throws Problem 422 with every mistake that can be seen in it alone; the evaluator sees the rest. */
export const applyPolicy = ({ name, document, by, why }: Of<'apply_policy'>): Draft<typeof Topic.applyPolicy> => {
  if (document !== null) check(name, document);
  const payload = { name, document: document && canonicalJson(document), by, why };
  return { topic: Topic.applyPolicy, type: 'APPLY_POLICY', key: name, payload };
};

const check = (name: string, document: Of<'apply_policy'>['document']): void => {
  try {
    if (name === ASSIGNMENT) readAssignment(document, name);
    else if (compile(document, name, VOCABULARY).name !== name)
      throw new CorrectThePolicy(name, [`policy: is not ${name}: apply it under its own name`]);
  } catch (error) {
    if (error instanceof CorrectThePolicy) throw new Problem(422, 'bad_policy', error.message, 'document');
    throw error;
  }
};
