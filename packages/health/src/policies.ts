import type { PolicyRef } from '@vigil/events';
import { type CompiledPolicy, excludes } from '@vigil/policy';
import { type Rules, rulesOf } from './rules.ts';

/** The policies that the evaluator judges with, and which agent gets which. */
export type Policies = {
  readonly all: readonly CompiledPolicy[];
  /** that of a state: by its hash; by its name where the document has changed; else the default */
  readonly rules: (policy: PolicyRef) => Rules;
  /** an agent's wish where operators list it, else their default */
  readonly assigned: (wish: string | null) => PolicyRef;
  readonly excluded: (policy: PolicyRef, agentId: string) => boolean;
};

/** Throws where the default is none of them. */
export function policiesOf(all: readonly CompiledPolicy[], defaultName: string): Policies {
  const rules = all.map(rulesOf);
  const byHash = new Map(rules.map((r) => [r.policy.hash, r]));
  const byName = new Map(rules.map((r) => [r.policy.name, r]));
  const refs = new Map(all.map(({ name, hash }): [string, PolicyRef] => [name, { name, hash }]));
  const fallback = byName.get(defaultName);
  const fallbackRef = refs.get(defaultName);
  if (!fallback || !fallbackRef) throw new NameALoadedPolicy(defaultName, [...byName.keys()]);
  const find = (policy: PolicyRef) => byHash.get(policy.hash) ?? byName.get(policy.name) ?? fallback;
  return {
    all,
    rules: find,
    assigned: (wish) => (wish === null ? fallbackRef : (refs.get(wish) ?? fallbackRef)),
    excluded: (policy, agentId) => excludes(find(policy).policy, agentId),
  };
}

/** The default policy is none of those loaded: name one of them, or load it. */
export class NameALoadedPolicy extends Error {
  override readonly name = 'NameALoadedPolicy';
  constructor(asked: string, loaded: readonly string[]) {
    super(
      `the default policy ${asked} is not loaded: name one of ${loaded.join(', ')}, or put ${asked}.yaml into the policy directory`,
    );
  }
}
