import type { EventOf, PolicyRef, Topic } from '@vigil/events';
import type { AskAtStop } from '@vigil/health/proof';
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
 * sets none. `askAtStop`: what an agent is asked before a turn ends; null: nothing.
 */
export type Served = PolicyRef & {
  readonly document: unknown;
  readonly intervalMs: number | null;
  readonly askAtStop: AskAtStop | null;
  readonly requests: ServedRequests;
};

/** How long a request to people waits at most, milliseconds, and what happens then. */
export type ServedRequests = { readonly longestMs: number; readonly atDeadline: 'no_decision' | 'allow' };

/** Of a policy that sets nothing. */
export const USUAL_REQUESTS: ServedRequests = { longestMs: 600_000, atDeadline: 'no_decision' };

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
      const read = { intervalMs: intervalOf(parsed), askAtStop: askAtStopOf(parsed), requests: requestsOf(parsed) };
      const served = { name, hash, document: parsed, ...read };
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

/** Only `at_deadline: allow` allows without an answer. */
const requestsOf = (document: unknown): ServedRequests => {
  const { requests } = (document ?? {}) as { requests?: { wait?: unknown; at_deadline?: unknown } | null };
  const wait = typeof requests?.wait === 'string' ? parseDuration(requests.wait) : null;
  return {
    longestMs: wait ?? USUAL_REQUESTS.longestMs,
    atDeadline: requests?.at_deadline === 'allow' ? 'allow' : 'no_decision',
  };
};

type WrittenSignal = { readonly is?: unknown; readonly ask_at_stop?: unknown; readonly needs_check?: unknown } | null;

/** Of the signal `false_completion`, under any name. */
const askAtStopOf = (document: unknown): Served['askAtStop'] => {
  const { signals } = (document ?? {}) as { readonly signals?: Readonly<Record<string, WrittenSignal>> };
  const asking = Object.entries(signals ?? {}).find(
    ([name, one]) => (one?.is ?? name) === 'false_completion' && one?.ask_at_stop === true,
  );
  return asking === undefined ? null : { needsCheck: asking[1]?.needs_check === true };
};
