import { type EventOf, Topic } from '@vigil/events';
import { type Log, type LogRecord, readStates } from '@vigil/stream';
import { AT_REST } from '../alert/at-rest.ts';
import { eventIn } from './alert-events.ts';

type Alert = EventOf<typeof Topic.alert>;

/** An alert that sinks have received, and whose end they have not. */
export type OpenAlert = {
  readonly alertKey: string;
  readonly alertId: string;
  readonly raisedAt: number;
  readonly route: string;
  readonly severity: string;
  readonly urgency: string;
  readonly title: string;
  readonly text: string;
  readonly agentId: string | null;
  readonly taskId: string | null;
  readonly itemId: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly policyName: string | null;
  readonly sinks: readonly string[];
};

/** By alert key. */
type OpenAlerts = ReadonlyMap<string, OpenAlert>;

/** The open alerts after an event of theirs. Events that are read twice change nothing. */
export const after = (before: OpenAlerts, event: Alert): OpenAlerts => {
  switch (event.type) {
    case 'ALERT_RAISED':
    case 'ALERT_UPDATED': {
      const { payload, policy } = event;
      const known = before.get(payload.alertKey);
      const notified = payload.deliverAt === null ? [] : payload.sinks;
      const sinks = [...new Set([...(known?.alertId === payload.alertId ? known.sinks : []), ...notified])];
      const raisedAt = payload.raisedAt ?? event.occurredAt;
      return new Map(before).set(payload.alertKey, { ...payload, raisedAt, policyName: policy?.name ?? null, sinks });
    }
    case 'ALERT_RESOLVED': {
      const left = new Map(before);
      left.delete(event.payload.alertKey);
      return left;
    }
    case 'ALERT_ACKNOWLEDGED':
    case 'ALERT_DELIVERED':
    case 'SILENCE_CHANGED':
    case 'QUEEN_INTERVENTION_REQUESTED':
    case 'TICKET_DISMISSED':
    case 'TICKET_ASSESSED':
      return before;
  }
};

/** Events from before the state was read, which it has. */
const OVERLAP_MS = 60_000;

/**
 * Follows the open alerts: those of the decider's stored state first, then each event. Resolves to what is open for a
 * sink now.
 */
export const followOpenAlerts = async (
  log: Log,
  { now, signal }: { readonly now: () => number; readonly signal: AbortSignal },
): Promise<(sink: string) => readonly OpenAlert[]> => {
  const from = now() - OVERLAP_MS;
  let open: OpenAlerts = await storedIn(log, signal);
  let reading = Promise.resolve();
  const apply = async (record: LogRecord) => {
    const event = await eventIn(log, record);
    if (event !== null) open = after(open, event);
  };
  await log.follow(
    [Topic.alert],
    from,
    (record) => {
      reading = reading.then(() => apply(record)).catch(() => {});
    },
    signal,
  );
  return (sink) => [...open.values()].filter(({ sinks }) => sinks.includes(sink));
};

const storedIn = async (log: Log, signal: AbortSignal): Promise<OpenAlerts> => {
  const states = await readStates(log, { processor: 'alerting', atRest: AT_REST }, signal);
  return new Map(
    [...states].flatMap(([key, state]) => {
      if (state.kind !== 'alert' || state.open === null) return [];
      const { alertId, raisedAt, content, sent } = state.open;
      const policyName = state.policy?.name ?? null;
      return [[key, { ...content, alertKey: key, alertId, raisedAt, policyName, sinks: sent?.to ?? [] }] as const];
    }),
  );
};
