/** For tests that replay recorded sessions: what a supervisor makes of hooks, of the file of a session and of a screen. */
export {
  answered,
  type HeartbeatState,
  type Identity,
  nextHeartbeat,
  noHeartbeats,
  withReport,
} from './heartbeat/heartbeat.ts';
export { checkFields } from './messages/agent-report.ts';
export type { Surface } from './screen/surface.ts';
export {
  INTERRUPTED_AFTER_MS as interruptedAfterMs,
  limitShown,
  missedEvents,
  screenReport,
} from './screen/waiting.ts';
export { noTerminal } from './sessions/subagents.ts';
