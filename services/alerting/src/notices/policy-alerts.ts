import { type EventOf, type PolicyRef, Topic } from '@vigil/events';
import { duration } from '@vigil/policy';
import { type Log, readAndFollow } from '@vigil/stream';
import { z } from 'zod';

type Published = Extract<EventOf<typeof Topic.policy>, { readonly type: 'POLICY_PUBLISHED' }>;

/** What a policy sets for a route. The times are milliseconds; null: as alerting is configured. */
export type OfRoute = {
  readonly severity: 'info' | 'warning' | 'critical';
  readonly channels: readonly string[];
  readonly groupWaitMs: number | null;
  readonly repeatMs: number | null;
};

/** The `alerts` of all policies that were ever published. */
export type PolicyAlerts = {
  /** null: the policy does not mention this route, or is unknown */
  readonly of: (policy: PolicyRef | null, route: string) => OfRoute | null;
  /** whether the policy turns this route off */
  readonly isOff: (policy: PolicyRef | null, route: string) => boolean;
};

export const noPolicies: PolicyAlerts = { of: () => null, isOff: () => false };

const routes = z.record(
  z.string(),
  z.literal(false).or(
    z
      .object({
        severity: z.enum(['info', 'warning', 'critical']),
        channels: z.array(z.string()).default([]),
        group_wait: duration.nullable().default(null),
        repeat: duration.nullable().default(null),
      })
      .transform(({ group_wait: groupWaitMs, repeat: repeatMs, ...others }) => ({ ...others, groupWaitMs, repeatMs })),
  ),
);
const document = z.object({ alerts: routes.default({}) });

/**
 * A document's hash is its content, so a notice under it always uses it. An unknown document falls back to the newest
 * of its name.
 */
export const policyAlerts = (): PolicyAlerts & { readonly observe: (published: Published) => void } => {
  const byHash = new Map<string, z.output<typeof routes>>();
  const newest = new Map<string, z.output<typeof routes>>();
  const settingsOf = (policy: PolicyRef | null, route: string) =>
    policy === null ? undefined : (byHash.get(policy.hash) ?? newest.get(policy.name))?.[route];
  return {
    observe: ({ payload: { name, hash, document: text } }) => {
      const read = document.safeParse(JSON.parse(text));
      if (!read.success) return;
      byHash.set(hash, read.data.alerts);
      newest.set(name, read.data.alerts);
    },
    of: (policy, route) => {
      const settings = settingsOf(policy, route);
      if (settings === undefined || settings === false) return null;
      return settings.channels.length > 0 ? settings : { ...settings, channels: ['default'] };
    },
    isOff: (policy, route) => settingsOf(policy, route) === false,
  };
};

/** Reads all published policies, and follows new ones; `finished` rejects when that ends. */
export const followPolicies = async (log: Log, signal: AbortSignal) => {
  const alerts = policyAlerts();
  const onEvent = (event: EventOf<typeof Topic.policy>) => {
    if (event.type === 'POLICY_PUBLISHED') alerts.observe(event);
  };
  const { finished, ready } = await readAndFollow(log, Topic.policy, { onEvent, onUnreadable: () => {}, signal });
  return { alerts, ready, finished };
};
