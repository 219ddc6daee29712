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

export type Policies = ReturnType<typeof createPolicies>;

/**
 * The policies in force by name, and the assignment of agents: of each name the newest publication. `fallback`: the
 * policy of every agent until an assignment is published.
 */
export const createPolicies = (fallback: string) => {
  const newest = new Map<string, { readonly offset: number; readonly served: Served | null }>();
  /** null: no such policy is in force */
  const find = (name: string): Served | null => newest.get(name)?.served ?? null;
  const isThere = (name: string) => find(name) !== null;
  let nameOf = assigner(asRequested(fallback, []), isThere);
  return {
    /** `offset`: its place in the topic's one partition; they may be observed in any order */
    observe: ({ payload: { name, hash, document, withdrawn } }: Published, offset: number): void => {
      if ((newest.get(name)?.offset ?? -1) > offset) return;
      const parsed: unknown = JSON.parse(document);
      const served = { name, hash, document: parsed, intervalMs: intervalOf(parsed) };
      newest.set(name, { offset, served: withdrawn ? null : served });
      if (name === ASSIGNMENT) nameOf = assignerOf(parsed, isThere) ?? nameOf;
    },
    find,
    /** of all policies in force */
    names: (): readonly string[] => [...newest.keys()].filter((name) => name !== ASSIGNMENT && isThere(name)).sort(),
    /** what an agent is judged by; null: nothing has been published yet */
    assignedTo: (agent: Assigned): Served | null => find(nameOf(agent)),
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
