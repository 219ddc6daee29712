import type { SessionEvent } from '@vigil/adapters/session';
import type { ToolCall } from '@vigil/events';
import type { SpoolRecord } from './spool/spool.ts';

export const callOf = (call_id: string, more: Partial<ToolCall> = {}): ToolCall => ({
  call_id,
  kind: 'tool',
  tool: 'Edit',
  args_hash: 'a1:x',
  result_hash: null,
  masked_result_hash: null,
  outcome: 'running',
  error_class: null,
  started_at: null,
  ended_at: null,
  deadline_at: null,
  mutating: false,
  polling: false,
  checking: false,
  target: null,
  ...more,
});

export const started = (id: string, at = 0, agent: string | null = null): SessionEvent => ({
  kind: 'call_started',
  call: callOf(id, { started_at: at }),
  batch: null,
  asks: null,
  at,
  agent,
});

export const ended = (id: string, at = 0, more: Partial<ToolCall> = {}, agent: string | null = null): SessionEvent => {
  const call = callOf(id, { outcome: 'ok', ended_at: at, ...more });
  return { kind: 'call_ended', call, name: { callId: id, tool: call.tool, argsHash: call.args_hash }, at, agent };
};

export const failed = (id: string, at = 0): SessionEvent =>
  ended(id, at, { outcome: 'error', error_class: 'tool_error' });

let records = 0;
export const recordOf = (events: readonly SessionEvent[], more: Partial<SpoolRecord> = {}): SpoolRecord => {
  records += 1;
  return {
    id: `record-${records}`,
    client: 'claude-code',
    session: 's-1',
    transcripts: [],
    takesText: false,
    continuesTurn: false,
    canRefuse: events.some(({ kind }) => kind === 'call_started'),
    events,
    ...more,
  };
};
