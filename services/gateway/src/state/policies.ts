import type { EventOf, PolicyRef, Topic } from '@vigil/events';
import {
  ASSIGNMENT,
  type Assigned,
  asRequested,
  assigner,
  CorrectThePolicy,
  parseDuration,
  readAssignment,
} from '@vigil/policy';

type Published = Extract<EventOf<typeof Topic.policy>, { readonly type: 'POLICY_PUBLISHED' }>;

/**
 * A policy as it is served: `document` is the parsed canonical JSON. `intervalMs`: its heartbeat interval; null: it
 * sets none.
 */
export type Served = PolicyRef & { readonly document: unknown; readonly intervalMs: number | null };

/** The policies in force by name, and the assignment of agents: of each name the newest publication. */
export type Policies = {
  /** `offset`: its place in the topic's one partition; they may be observed in any order */
  readonly observe: (published: Published, offset: number) => void;
  /** null: no such policy is in force */
  readonly find: (name: string) => Served | null;
  /** of all policies in force */
  readonly names: () => readonly string[];
  /** what an agent is judged by; null: nothing has been published yet */
  readonly assignedTo: (agent: Assigned) => Served | null;
};

/** `fallback`: the policy of agents that request none, until an assignment is published. */
export const createPolicies = (fallback: string): Policies => {
  const newest = new Map<string, { readonly offset: number; readonly served: Served | null }>();
  const find = (name: string) => newest.get(name)?.served ?? null;
  const isThere = (name: string) => find(name) !== null;
  let nameOf = assigner(asRequested(fallback), isThere);
  return {
    observe: ({ payload: { name, hash, document, withdrawn } }, offset) => {
      if ((newest.get(name)?.offset ?? -1) > offset) return;
      const parsed: unknown = JSON.parse(document);
      const served = { name, hash, document: parsed, intervalMs: intervalOf(parsed) };
      newest.set(name, { offset, served: withdrawn ? null : served });
      if (name === ASSIGNMENT) nameOf = assignerOf(parsed, isThere) ?? nameOf;
    },
    find,
    names: () => [...newest.keys()].filter((name) => name !== ASSIGNMENT && isThere(name)).sort(),
    assignedTo: (agent) => find(nameOf(agent)),
  };
};

/** null: a newer evaluator has written it, in words that are not known here. */
const assignerOf = (document: unknown, isThere: (name: string) => boolean): ReturnType<typeof assigner> | null => {
  try {
    return assigner(readAssignment(document, ASSIGNMENT), isThere);
  } catch (error) {
    if (error instanceof CorrectThePolicy) return null;
    throw error;
  }
};

const intervalOf = (document: unknown): number | null => {
  const interval = (document as { heartbeat?: { interval?: unknown } } | null)?.heartbeat?.interval;
  return typeof interval === 'string' ? parseDuration(interval) : null;
};
