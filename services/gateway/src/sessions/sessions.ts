import { newSession, observe, type SessionEvent, type SessionState } from '@vigil/adapters/session';
import { type MeterReading, readMeters, type SessionMeters } from '@vigil/adapters/telemetry';
import type { Heartbeat } from '@vigil/events';
import { askedAtStop, NO_PROOF, type Proof, proofAfterReports } from '@vigil/health/proof';
import { type Changes, heartbeatsOf, type SessionIdentity, withReport } from './heartbeats.ts';

export type { SessionIdentity } from './heartbeats.ts';

/** A session without a report for this time is forgotten: a week, milliseconds. */
const FORGOTTEN_MS = 7 * 86_400_000;
/** Sessions that are remembered; of more, those that were silent for longest are forgotten. */
const MOST_SESSIONS = 20_000;
/** Sessions of one agent that are remembered: an agent's token would otherwise make the gateway forget those of others. */
export const MOST_OF_AGENT = 1000;

export type Source = 'hooks' | 'logs' | 'traces' | 'metrics';

/** The reports about a session, the oldest first. */
export type Reported = {
  readonly source: Source;
  readonly events: readonly SessionEvent[];
  /** what meters have counted; it counts where the client's own count is not known */
  readonly readings: readonly MeterReading[];
  /** when the first of it began, epoch milliseconds */
  readonly beganAt: number;
};

type Kept = {
  readonly identity: SessionIdentity;
  /** the most detailed source that has reported */
  readonly source: Source;
  readonly state: SessionState;
  readonly proof: Proof;
  readonly meters: SessionMeters;
  /** when the session was first reported, by its own clock, epoch milliseconds */
  readonly firstSeenAt: number;
  readonly sequence: number;
  readonly errors: number;
  readonly seenAt: number;
};

const keyOf = ({ client, sessionId, agentId }: SessionIdentity): string => JSON.stringify([client, sessionId, agentId]);

const newKept = (identity: SessionIdentity, { source, beganAt }: Reported, now: number): Kept => ({
  identity,
  source,
  state: newSession,
  proof: NO_PROOF,
  meters: {},
  firstSeenAt: beganAt,
  sequence: 0,
  errors: 0,
  seenAt: now,
});

/** From the one that reports the most of a session. Metrics only count. */
const RANKS: readonly Source[] = ['hooks', 'logs', 'traces', 'metrics'];

const better = (one: Source, other: Source): Source => (RANKS.indexOf(one) < RANKS.indexOf(other) ? one : other);

/**
 * Hooks, log events and spans report the same calls. Those of the one that reports the most count; of log events beside hooks, which report
 * no tokens, the tokens.
 */
const counting = ({ source, events }: Reported, best: Source): readonly SessionEvent[] => {
  if (source === best) return events;
  return source === 'logs' ? events.filter(({ kind }) => kind === 'answer_counted') : [];
};

/** Another source may name a field that one source of a session leaves open. */
const mergedIdentity = (before: SessionIdentity, identity: SessionIdentity): SessionIdentity => ({
  ...identity,
  taskId: identity.taskId ?? before.taskId,
  policy: identity.policy ?? before.policy,
  labels: { ...before.labels, ...identity.labels },
  eventDriven: before.eventDriven && identity.eventDriven,
});

export type Sessions = ReturnType<typeof createSessions>;

/** Sessions of coding agents that report to the gateway themselves, because no runtime watches them. */
export const createSessions = () => {
  const kept = new Map<string, Kept>();
  /** by agent, the keys of its sessions; the one that it reported last is the last */
  const keysOf = new Map<string, readonly string[]>();

  const forgetSession = (key: string, agentId: string): void => {
    kept.delete(key);
    const others = (keysOf.get(agentId) ?? []).filter((other) => other !== key);
    if (others.length === 0) keysOf.delete(agentId);
    else keysOf.set(agentId, others);
  };

  const forget = (agentId: string, now: number): void => {
    const keys = keysOf.get(agentId) ?? [];
    for (const key of keys.slice(0, Math.max(0, keys.length - MOST_OF_AGENT))) forgetSession(key, agentId);
    for (const [key, { seenAt, identity }] of kept) {
      if (seenAt >= now - FORGOTTEN_MS && kept.size <= MOST_SESSIONS) return;
      forgetSession(key, identity.agentId);
    }
  };

  return {
    /**
     * Folds the reports of one session, and returns heartbeats with the changes: one for each agent of the session.
     * `now`: epoch milliseconds.
     */
    fold: (reporter: SessionIdentity, reported: Reported, now: number): readonly Partial<Heartbeat>[] => {
      if (reported.events.length === 0 && reported.readings.length === 0) return [];
      const key = keyOf(reporter);
      const before = kept.get(key) ?? newKept(reporter, reported, now);
      const identity = mergedIdentity(before.identity, reporter);
      const source = better(before.source, reported.source);
      const { meters, events } = readMeters(before.meters, reported.readings, before.firstSeenAt);
      let { state, proof } = before;
      let changes: Changes = new Map();
      for (const event of [...counting(reported, source), ...events]) {
        const { session, reports } = observe(state, event);
        state = session;
        proof = proofAfterReports(proof, reports);
        for (const report of reports) changes = withReport(changes, report, before.state);
      }
      // A gateway that has restarted continues above what it has sent before.
      const sequence = Math.max(before.sequence + 1, now);
      const { heartbeats, errors } = heartbeatsOf(identity, changes, { now, sequence, errors: before.errors });
      forgetSession(key, identity.agentId);
      kept.set(key, { ...before, identity, source, state, proof, meters, sequence, errors, seenAt: now });
      keysOf.set(identity.agentId, [...(keysOf.get(identity.agentId) ?? []), key]);
      forget(identity.agentId, now);
      return heartbeats;
    },
    /** What the calls of a session's own agent show about its completion. */
    proofOf: (reporter: SessionIdentity): Proof => kept.get(keyOf(reporter))?.proof ?? NO_PROOF,
    /** Records that its agent was asked at the end of a turn. */
    asked: (reporter: SessionIdentity): void => {
      const key = keyOf(reporter);
      const before = kept.get(key);
      if (before !== undefined) kept.set(key, { ...before, proof: askedAtStop(before.proof) });
    },
    /** The session that an agent reported last; null: none. */
    newestOf: (agentId: string): SessionIdentity | null =>
      kept.get(keysOf.get(agentId)?.at(-1) ?? '')?.identity ?? null,
  };
};
