import type { EventOf, PolicyRef, Topic } from '@vigil/events';
import { parseDuration } from '@vigil/policy';

type Published = Extract<EventOf<typeof Topic.policy>, { readonly type: 'POLICY_PUBLISHED' }>;

/** A policy as it is served: `document` is the parsed canonical JSON. `intervalMs`: how often it wants heartbeats; null: it does not say. */
export type Served = PolicyRef & { readonly document: unknown; readonly intervalMs: number | null };

/** The policies in force by name: of each, what was published last. */
export type Policies = {
  /** `offset`: its place in the topic's one partition; they may be observed in any order */
  readonly observe: (published: Published, offset: number) => void;
  readonly find: (name: string) => Served | null;
};

export const createPolicies = (): Policies => {
  const newest = new Map<string, { readonly offset: number; readonly served: Served }>();
  return {
    observe: ({ payload: { name, hash, document } }, offset) => {
      if ((newest.get(name)?.offset ?? -1) > offset) return;
      const parsed: unknown = JSON.parse(document);
      newest.set(name, { offset, served: { name, hash, document: parsed, intervalMs: intervalOf(parsed) } });
    },
    find: (name) => newest.get(name)?.served ?? null,
  };
};

const intervalOf = (document: unknown): number | null => {
  const interval = (document as { heartbeat?: { interval?: unknown } } | null)?.heartbeat?.interval;
  return typeof interval === 'string' ? parseDuration(interval) : null;
};
