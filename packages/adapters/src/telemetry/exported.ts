import { atItsStart } from '@vigil/events';
import { type RecordedSession, reportsOf } from '../recorded-session.ts';
import { callStarted, type SessionEvent } from '../session/events.ts';
import { at } from '../shared/payload.ts';
import { readMeters, type SessionMeters } from './meters.ts';
import { recordsIn, type Signal } from './otlp.ts';
import type { Telemetry, TelemetryRecord } from './record.ts';
import { readTelemetry } from './telemetry.ts';

/** From the one that reports the most of a session: log events and spans report the same calls. */
const FIELDS: Readonly<Record<Signal, string>> = {
  logs: 'resourceLogs',
  traces: 'resourceSpans',
  metrics: 'resourceMetrics',
};
const SIGNALS = Object.keys(FIELDS) as Signal[];

const signalsIn = (entry: unknown): readonly Signal[] =>
  SIGNALS.filter((signal) => Array.isArray(at(entry, FIELDS[signal])));

/** Whether an entry is an export request of OpenTelemetry in JSON, as the file exporter of its collector writes it. */
export const isExport = (entry: unknown): boolean => signalsIn(entry).length > 0;

/** The records of one request. */
export type Export = readonly { readonly signal: Signal; readonly records: readonly TelemetryRecord[] }[];

/** Reads a request. Throws ZodError if it has another form. */
export const readExport = (entry: unknown): Export =>
  signalsIn(entry).map((signal) => ({ signal, records: recordsIn(signal, entry) }));

export type ExportedSession = RecordedSession & { readonly client: string };

type Kept = {
  readonly client: string;
  readonly id: string;
  readonly beganAt: number;
  readonly events: Map<Signal, SessionEvent[]>;
  readonly counts: SessionEvent[];
  meters: SessionMeters;
};

const textIn = ({ resource }: TelemetryRecord, name: string): string | null => {
  const value = resource[name];
  return typeof value === 'string' && value !== '' ? value : null;
};

/** The session of a record. `last`: its client's last one, for a record that names none; else one for each agent or process. */
const sessionNamed = (record: TelemetryRecord, { client, sessionId }: Telemetry, last: string | undefined): string =>
  sessionId ?? last ?? textIn(record, 'vigil.agent') ?? textIn(record, 'service.instance.id') ?? client;

/** A span or a log event reports a call when it ends, with its start. */
const startsOf = (events: readonly SessionEvent[]): readonly SessionEvent[] =>
  events.flatMap((event): SessionEvent[] => {
    if (event.kind !== 'call_ended') return [];
    const from = event.call.started_at;
    if (from === null || from >= event.at) return [];
    return [{ ...callStarted(atItsStart(event.call), null, null), at: from, agent: event.agent }];
  });

const sessionOf = ({ client, id, events, counts }: Kept): ExportedSession => {
  const [best] = SIGNALS.flatMap((signal) => (events.has(signal) ? [events.get(signal) ?? []] : []));
  const own = best ?? [];
  const all = [...own, ...counts, ...startsOf(own)].sort((one, other) => one.at - other.at);
  return { id, client, ...reportsOf(all, 'implied') };
};

const eventsOf = ({ events }: Kept, signal: Signal): SessionEvent[] => {
  const known = events.get(signal) ?? [];
  events.set(signal, known);
  return known;
};

/** The sessions in the requests of a file. A record that was exported again counts once. */
export const exportedSessions = (exports: readonly Export[]): readonly ExportedSession[] => {
  const kept = new Map<string, Kept>();
  const last = new Map<string, string>();
  const seen = new Set<string>();
  for (const { signal, records } of exports.flat()) {
    for (const { record, telemetry } of readTelemetry(records.filter(({ id }) => !seen.has(id)))) {
      const { client } = telemetry;
      const id = sessionNamed(record, telemetry, last.get(client));
      const key = JSON.stringify([client, id]);
      const beganAt = record.startedAt ?? record.at;
      const fresh: Kept = { client, id, beganAt, events: new Map(), counts: [], meters: {} };
      const known = kept.get(key) ?? fresh;
      if (!kept.has(key)) last.set(client, id);
      kept.set(key, known);
      if (telemetry.events.length > 0) eventsOf(known, signal).push(...telemetry.events);
      const { meters, events } = readMeters(known.meters, telemetry.readings, known.beganAt);
      known.meters = meters;
      known.counts.push(...events);
    }
    for (const { id } of records) seen.add(id);
  }
  const all = [...kept.values()];
  // Counts may come before the first event of their session.
  const active = all.filter(({ events }) => events.size > 0);
  return (active.length > 0 ? active : all).map(sessionOf);
};
