import type { PolicyRef } from '@vigil/events';
import { type Assignment, asRequested, assigner, type CompiledPolicy, excludes } from '@vigil/policy';
import type { KnownAgent } from '../evaluator/state.ts';
import { type Rules, rulesOf } from './rules.ts';

/** The policies that the evaluator judges with, and which agent gets which. They never change: others are another object. */
export type Policies = {
  readonly all: readonly CompiledPolicy[];
  readonly assignment: Assignment;
  /** that of a state: by its hash; by its name where the document has changed; else the default */
  readonly rules: (policy: PolicyRef) => Rules;
  /** The state under the policy that its agent is assigned now; the same state where it is under it already. Cheap: asked at every look. */
  readonly current: (state: KnownAgent) => KnownAgent;
};

/** The assignments of this many agents are kept; then they are computed again. */
const REMEMBERED = 200_000;

/** Agents may request any name: only this many requests are kept. */
const REQUESTS_KEPT = 100;

/** `assignment`: a name where agents get any policy that they request, else that of this name. Throws where the default is not loaded. */
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

/** Keeps the last answer: agent after agent has the same policy, and a state is asked about twice at the same moment. */
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
 * Patterns are matched only where an agent's request or labels have changed. Where neither patterns nor labels count, once for each
 * request.
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

/** The default policy is not one of those loaded: name one of them, or load it. */
export class NameALoadedPolicy extends Error {
  override readonly name = 'NameALoadedPolicy';
  constructor(asked: string, loaded: readonly string[]) {
    super(
      `the default policy ${asked} is not loaded: name one of ${loaded.join(', ')}, or put ${asked}.yaml into the policy directory`,
    );
  }
}
