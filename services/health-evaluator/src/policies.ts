import {
  type AgentState,
  type Announcement,
  agentHealth,
  type Observation,
  policiesOf,
  type Sweep,
  sweepOf,
  VOCABULARY,
} from '@vigil/health';
import { ASSIGNMENT, type PolicySet, type Requestable, readPolicySet } from '@vigil/policy';
import { Refused, type Rules } from '@vigil/stream';

/** The policies in force: the documents, and the evaluation that results. */
export type InForce = Rules<AgentState, Observation, Announcement> & { readonly set: PolicySet };

/** The presets, and the policies and assign.yaml of `directory`. `without`: what holds where there is no assign.yaml. Throws Refused with every mistake: starting again would change nothing. */
export const loadPolicies = (
  directory: string | undefined,
  without: { readonly fallback: string; readonly requestable: Requestable },
): PolicySet => {
  try {
    return readPolicySet(directory ?? null, without, VOCABULARY);
  } catch (error) {
    throw new Refused(error instanceof Error ? error.message : String(error), { cause: error });
  }
};

/** `value`: name and hash of everything in force, for the marker. */
export const inForceOf = (set: PolicySet): InForce => {
  const policies = set.policies.map(({ policy }) => policy);
  const { assignment } = set.assignment;
  const names = [...policies.map(({ name, hash }) => ({ name, hash })), { name: ASSIGNMENT, hash: assignment.hash }];
  return { set, value: JSON.stringify(names), decider: agentHealth(policiesOf(policies, assignment)) };
};

/** gascity's stuck sweep under each policy that has it: whether it is enabled, and which of its axes are active. */
export const sweepsIn = ({ policies }: PolicySet): readonly Sweep[] =>
  policies.flatMap(({ policy }) => sweepOf(policy) ?? []);

/** Settings that work but are probably not intended, with their document. */
export const warningsIn = ({
  policies,
  assignment: { assignment },
}: PolicySet): readonly { policy: string; warning: string }[] => [
  ...policies.flatMap(({ policy: { name, warnings } }) => warnings.map((warning) => ({ policy: name, warning }))),
  ...assignment.warnings.map((warning) => ({ policy: ASSIGNMENT, warning })),
];
