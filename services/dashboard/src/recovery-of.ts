import type { PolicyRef, RecoverySettings } from '@vigil/events';
import { VOCABULARY } from '@vigil/health';
import { CorrectThePolicy, republished } from '@vigil/policy';
import type { AgentRow, ReadModel } from '@vigil/read-model';

type Recovers = { readonly policy: PolicyRef | null; readonly recovery: RecoverySettings | null };

export const nothingKnown: Recovers = { policy: null, recovery: null };

/** How the policy that an agent is judged by recovers its task. Nothing, where the agent has none yet or its document is not known. */
export async function recoveryOf(
  { policyName, policyHash }: Pick<AgentRow, 'policyName' | 'policyHash'>,
  model: Pick<ReadModel, 'policyDocument'>,
): Promise<Recovers> {
  if (!policyName || !policyHash) return nothingKnown;
  const document = await model.policyDocument(policyHash);
  if (document === null) return nothingKnown;
  try {
    const { recovery } = republished(document, VOCABULARY);
    return { policy: { name: policyName, hash: policyHash }, recovery };
  } catch (error) {
    // Published by another version: a person's request is not refused for it.
    if (error instanceof CorrectThePolicy) return nothingKnown;
    throw error;
  }
}
