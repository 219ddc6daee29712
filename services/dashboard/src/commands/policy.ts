import { type Draft, Topic } from '@vigil/events';
import { VOCABULARY } from '@vigil/health';
import { ASSIGNMENT, CorrectThePolicy, canonicalJson, compile, readAssignment } from '@vigil/policy';
import type { ReadModel } from '@vigil/read-model';
import { Problem } from '../problem.ts';
import type { Of } from './command.ts';

/**
 * A document to be applied, or taken back. Throws Problem 422 with every mistake that can be seen in it alone; the evaluator sees the rest. Throws
 * Problem 404 where there is nothing to take back.
 */
export const applyPolicy = async (
  { name, document, by, why }: Of<'apply_policy'>,
  model: Pick<ReadModel, 'policies'>,
): Promise<Draft<typeof Topic.applyPolicy>> => {
  if (document === null) await requireApplied(name, model);
  else check(name, document);
  const payload = { name, document: document && canonicalJson(document), by, why };
  return { topic: Topic.applyPolicy, type: 'APPLY_POLICY', key: name, payload };
};

const requireApplied = async (name: string, model: Pick<ReadModel, 'policies'>): Promise<void> => {
  const policies = await model.policies();
  if (policies.some((policy) => policy.name === name && policy.origin === 'applied')) return;
  throw new Problem(
    404,
    'not_applied',
    `Nothing is applied under the name ${name}: \`vigil policy list\` lists the applied policies and their origin.`,
    'name',
  );
};

const check = (name: string, document: NonNullable<Of<'apply_policy'>['document']>): void => {
  try {
    if (name === ASSIGNMENT) readAssignment(document, name);
    else if (compile(document, name, VOCABULARY).name !== name)
      throw new CorrectThePolicy(name, [`policy: is not ${name}: apply it under its own name`]);
  } catch (error) {
    if (error instanceof CorrectThePolicy) throw new Problem(422, 'bad_policy', error.message, 'document');
    throw error;
  }
};
