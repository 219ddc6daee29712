import { claudeCodeTelemetry } from '../claude-code/telemetry.ts';
import { codexTelemetry } from '../codex/telemetry.ts';
import { geminiTelemetry } from '../gemini-cli/telemetry.ts';
import { genAiTelemetry } from './gen-ai.ts';
import type { ReadTelemetry, Telemetry, TelemetryRecord } from './record.ts';

export { type MeterReading, readMeters, type SessionMeters } from './meters.ts';
export type { Attributes, AttributeValue, Telemetry, TelemetryRecord } from './record.ts';

/** Client adapters come first, because some clients also follow the general conventions. */
const SOURCES: readonly ReadTelemetry[] = [claudeCodeTelemetry, codexTelemetry, geminiTelemetry, genAiTelemetry];

/** A record of an agent's session, and its reports. */
export type Read = { readonly record: TelemetryRecord; readonly telemetry: Telemetry };

const read = (record: TelemetryRecord, parts: readonly TelemetryRecord[]): Telemetry | null => {
  for (const source of SOURCES) {
    const telemetry = source(record, parts);
    if (telemetry !== null) return telemetry;
  }
  return null;
};

/** The reports of one export about agents' sessions, in their order. Records without a report are omitted. */
export const readTelemetry = (records: readonly TelemetryRecord[]): readonly Read[] => {
  const parts = Map.groupBy(records, ({ parentId }) => parentId);
  return records.flatMap((record) => {
    const telemetry = read(record, parts.get(record.id) ?? []);
    if (telemetry === null || (telemetry.events.length === 0 && telemetry.readings.length === 0)) return [];
    return [{ record, telemetry }];
  });
};
