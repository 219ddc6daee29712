import type { ToolCall } from './generated/types.ts';

/** The report of a call's start, from that of its end. */
export const atItsStart = (call: ToolCall): ToolCall => ({
  ...call,
  outcome: 'running',
  result_hash: null,
  masked_result_hash: null,
  error_class: null,
  ended_at: null,
});
