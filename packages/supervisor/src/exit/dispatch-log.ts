import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { utc } from './recovery-file.ts';

/** omniclaude's events, in its own words. Minutes to one decimal. */
export type DispatchEvent =
  | {
      readonly event: 'stall_detected';
      readonly ticket_id: string;
      readonly agent_id: string;
      readonly stall_reason: string;
      readonly idle_minutes: number;
      /** an agent whose call may still run is never reported as stalled */
      readonly bash_timeout_exemption: false;
      readonly redispatch_attempt: number;
      readonly max_redispatches: number | null;
      readonly action: 'kill_and_redispatch';
    }
  | { readonly event: 'agent_killed'; readonly ticket_id: string; readonly agent_id: string }
  | {
      readonly event: 'redispatch';
      readonly ticket_id: string;
      readonly redispatch_attempt: number;
      readonly remaining_tasks: readonly string[];
    };

/** One line each, on the log of its day. @throws errors of the file system */
export const logDispatch = (folder: string, events: readonly DispatchEvent[], at: number): void => {
  const lines = events.map((event) => `${JSON.stringify({ timestamp_utc: utc(at), ...event })}\n`);
  mkdirSync(folder, { recursive: true });
  appendFileSync(join(folder, `${utc(at).slice(0, 10)}.ndjson`), lines.join(''));
};

/** One of omniclaude's three reasons; any other as it was given. */
export const stallReasonOf = (reason: string, axes: readonly string[]): string => {
  if (axes.includes('absence')) return 'inactivity';
  if (/context/i.test(reason)) return 'context_overflow';
  return /rate.?limit/i.test(reason) ? 'rate_limit' : reason;
};
