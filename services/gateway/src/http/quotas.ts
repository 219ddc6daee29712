import { LARGEST_BODY } from './body.ts';
import { Problem } from './problem.ts';
import type { Principal } from './tokens.ts';

/** What one token may use of one instance. */
export type Quota = {
  readonly requestsPerS: number;
  readonly bytesPerS: number;
  /** different ones within ten minutes */
  readonly agents: number;
  readonly tasks: number;
};

/** How long an agent or a task counts after its last report, milliseconds. */
export const COUNTED_MS = 600_000;
const SECOND_MS = 1000;
/** Tokens whose use is remembered; of more, those that were used first are forgotten. */
const MOST_TOKENS = 10_000;

/** More than a token may use. `retryAfterS`: when the same request may be accepted. */
export class TooMany extends Problem {
  readonly retryAfterS: number;
  constructor(detail: string, retryAfterS: number) {
    super(429, 'too_many', detail);
    this.retryAfterS = retryAfterS;
  }
}

/** What is left of an amount a second. `at`: epoch milliseconds */
type Bucket = { readonly left: number; readonly at: number };

const refilled = ({ left, at }: Bucket, perS: number, now: number): Bucket => ({
  left: Math.min(perS, left + (Math.max(0, now - at) / SECOND_MS) * perS),
  at: now,
});

/** What a heartbeat or an exit names. */
type Reported = { readonly agentId: string; readonly taskId: string | null };

type Seen = Map<string, number>;

type Use = { requests: Bucket; bytes: Bucket; readonly agents: Seen; readonly tasks: Seen };

const newUse = ({ requestsPerS, bytesPerS }: Quota, now: number): Use => ({
  requests: { left: requestsPerS, at: now },
  bytes: { left: bytesPerS, at: now },
  agents: new Map(),
  tasks: new Map(),
});

/** The ids that are new, where there is no room for them. */
const excess = (seen: Seen, ids: ReadonlySet<string>, most: number, now: number): readonly string[] => {
  for (const [id, at] of seen) if (at + COUNTED_MS <= now) seen.delete(id);
  const added = [...ids].filter((id) => !seen.has(id));
  return seen.size + added.length > most ? added : [];
};

const refuseExcess = (what: 'agents' | 'tasks', added: readonly string[], most: number): void => {
  if (added.length === 0) return;
  throw new TooMany(
    `${JSON.stringify(added[0])} is one of more than ${most} ${what} that this token has reported within ten minutes: give the others a token of their own`,
    60,
  );
};

export type Quotas = ReturnType<typeof createQuotas>;

/** What each token has used of this instance. The operator's has no quota. `now`: epoch milliseconds. */
export const createQuotas = (quota: Quota) => {
  const uses = new Map<string, Use>();

  const useOf = (id: string, now: number): Use => {
    const use = uses.get(id) ?? newUse(quota, now);
    uses.set(id, use);
    const [oldest] = uses.keys();
    if (uses.size > MOST_TOKENS && oldest !== undefined) uses.delete(oldest);
    return use;
  };

  /** Takes all of them, or none. */
  const takeBytes = (use: Use, size: number, now: number): void => {
    use.bytes = refilled(use.bytes, quota.bytesPerS, now);
    if (use.bytes.left < size) throw new TooMany(`this token has sent more than ${quota.bytesPerS} bytes a second`, 1);
    use.bytes = { ...use.bytes, left: use.bytes.left - size };
  };

  return {
    /** Counts a request. `bytes`: of its body; null: not known before it is read. Throws TooMany. */
    countRequest: (principal: Principal, bytes: number | null, now: number): void => {
      if (principal.kind === 'operator') return;
      const use = useOf(principal.id, now);
      const size = Math.min(bytes ?? LARGEST_BODY, LARGEST_BODY);
      use.requests = refilled(use.requests, quota.requestsPerS, now);
      if (use.requests.left < 1)
        throw new TooMany(
          `this token has made more than ${quota.requestsPerS} requests a second: send heartbeats in lists`,
          1,
        );
      takeBytes(use, size, now);
      use.requests = { ...use.requests, left: use.requests.left - 1 };
    },
    /** Counts the bytes that a body has beyond what its request stated, after decompression. Throws TooMany. */
    countDecompressed: (principal: Principal, stated: number | null, bytes: number, now: number): void => {
      // A body of unknown size has counted as the largest.
      if (principal.kind === 'operator' || stated === null || bytes <= stated) return;
      takeBytes(useOf(principal.id, now), bytes - stated, now);
    },
    /** Counts the agents and tasks of heartbeats or exits, or none of them. Throws TooMany. */
    countAgents: (principal: Principal, reports: readonly Reported[], now: number): void => {
      if (principal.kind === 'operator') return;
      const use = useOf(principal.id, now);
      const agents = new Set(reports.map(({ agentId }) => agentId));
      const tasks = new Set(reports.flatMap(({ taskId }) => taskId ?? []));
      refuseExcess('agents', excess(use.agents, agents, quota.agents, now), quota.agents);
      refuseExcess('tasks', excess(use.tasks, tasks, quota.tasks, now), quota.tasks);
      for (const id of agents) use.agents.set(id, now);
      for (const id of tasks) use.tasks.set(id, now);
    },
  };
};
