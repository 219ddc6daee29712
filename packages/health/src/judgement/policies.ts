import type { PolicyRef } from '@vigil/events';
import { type Assignment, asRequested, assigner, type CompiledPolicy, excludes } from '@vigil/policy';
import type { KnownAgent } from '../evaluator/state.ts';
import { type Rules, rulesOf } from './rules.ts';

/**
 * The evaluator's policies and their assignment to agents. The object is immutable; changed policies are another
 * object.
 */
export type Policies = {
  readonly all: readonly CompiledPolicy[];
  readonly assignment: Assignment;
  /** the rules of a state: by the policy's hash; by its name if the document has changed; else the default */
  readonly rules: (policy: PolicyRef) => Rules;
  /**
   * The state under the agent's present assignment; the same object if nothing changes. It is cheap, because each
   * evaluation calls it.
   */
  readonly current: (state: KnownAgent) => KnownAgent;
};

/** The number of cached assignments. When it is reached, the cache is cleared. */
const REMEMBERED = 200_000;

/** The number of cached requests, because agents may request any name. */
const REQUESTS_KEPT = 100;

/**
 * `assignment`: a name, if agents get any policy that they request and otherwise the named one. Throws if the default
 * is not loaded.
 */
export const policiesOf = (all: readonly CompiledPolicy[], assignment: Assignment | string): Policies => {
  const rules = all.map(rulesOf);
  const byHash = new Map(rules.map((r) => [r.policy.hash, r]));
  const byName = new Map(rules.map((r) => [r.policy.name, r]));
  const chosen = typeof assignment === 'string' ? asRequested(assignment, 'any') : assignment;
  const fallback = byName.get(chosen.fallback);
  if (!fallback) throw new NameALoadedPolicy(chosen.fallback, [...byName.keys()]);
  const refs = new Map(rules.map(({ policy: { name, hash } }): [string, PolicyRef] => [name, { name, hash }]));
  const find = lastKept((policy: PolicyRef) => byHash.get(policy.hash) ?? byName.get(policy.name) ?? fallback);
  const assigned = remembering(
    chosen,
    assigner(chosen, (name) => byName.has(name)),
  );
  return {
    all,
    assignment: chosen,
    rules: find,
    current: (state) => {
      const ref = refs.get(assigned(state)) ?? (refs.get(chosen.fallback) as PolicyRef);
      if (ref === state.policy || (ref.hash === state.policy.hash && ref.name === state.policy.name)) return state;
      return { ...state, policy: ref, excluded: excludes(find(ref).policy, state.agentId) };
    },
  };
};

/**
 * Caches the last answer, because successive agents often have the same policy, and a state is looked up twice at the
 * same time.
 */
export const lastKept = <Args extends readonly unknown[], R>(find: (...args: Args) => R): ((...args: Args) => R) => {
  let last: { readonly args: Args; readonly r: R } | null = null;
  return (...args) => {
    if (last === null || args.some((arg, i) => arg !== last?.args[i])) last = { args, r: find(...args) };
    return last.r;
  };
};

type Choice = {
  readonly labels: Readonly<Record<string, string>>;
  readonly requestedPolicy: string | null;
  readonly name: string;
};

/**
 * Patterns are matched only after a change of an agent's request or labels. If neither patterns nor labels are used,
 * once for each request.
 */
const remembering = ({ rules }: Assignment, assign: ReturnType<typeof assigner>): ((state: KnownAgent) => string) => {
  const patterns = rules.some(({ id }) => id !== null);
  const onlyRequestsCount = !patterns && rules.every(({ labels }) => Object.keys(labels).length === 0);
  const byRequest = new Map<string | null, string>();
  const known = new Map<string, Choice>();
  return ({ agentId, requestedPolicy, history: { identity } }) => {
    const { labels } = identity;
    const granted = byRequest.get(requestedPolicy);
    if (granted !== undefined) return granted;
    const before = known.get(agentId);
    if (before && before.requestedPolicy === requestedPolicy && same(before.labels, labels)) return before.name;
    const name = assign({ agentId, labels, requestedPolicy });
    if (known.size >= REMEMBERED) known.clear();
    if (patterns) known.set(agentId, { labels, requestedPolicy, name });
    if (onlyRequestsCount && byRequest.size < REQUESTS_KEPT) byRequest.set(requestedPolicy, name);
    return name;
  };
};

type Labels = Choice['labels'];

const same = (a: Labels, b: Labels): boolean =>
  a === b ||
  (Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([name, value]) => b[name] === value));

/** The default policy is not loaded. The remedy is to name a loaded policy, or to load it. */
export class NameALoadedPolicy extends Error {
  override readonly name = 'NameALoadedPolicy';
  constructor(asked: string, loaded: readonly string[]) {
    super(
      `the default policy ${asked} is not loaded: name one of ${loaded.join(', ')}, or put ${asked}.yaml into the policy directory`,
    );
  }
}
