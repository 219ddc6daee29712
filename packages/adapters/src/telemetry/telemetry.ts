import { claudeCodeTelemetry } from '../claude-code/telemetry.ts';
import { codexTelemetry } from '../codex/telemetry.ts';
import { geminiTelemetry } from '../gemini-cli/telemetry.ts';
import { genAiTelemetry } from './gen-ai.ts';
import type { ReadTelemetry, Telemetry, TelemetryRecord } from './record.ts';

export { type MeterReading, type Meters, noMeters, readMeter, usageOf } from './meters.ts';
export type { Attributes, AttributeValue, Telemetry, TelemetryRecord } from './record.ts';

/** The clients' own first: some of them follow the general conventions as well. */
const SOURCES: readonly ReadTelemetry[] = [claudeCodeTelemetry, codexTelemetry, geminiTelemetry, genAiTelemetry];

/** What a record reports of an agent's session. Null: nothing. */
export const readTelemetry = (record: TelemetryRecord): Telemetry | null => {
  for (const read of SOURCES) {
    const telemetry = read(record);
    if (telemetry !== null) return telemetry;
  }
  return null;
};
