import { calls } from './openclaw-calls.peer.ts';
import { hashing } from './openclaw-hashes.peer.ts';
import { sends } from './openclaw-sends.peer.ts';
import type { Suite } from './peer.ts';

export const openclaw: Suite = {
  name: 'openclaw',
  source:
    'openclaw/openclaw `src/agents/tool-loop-detection.test.ts` at 0410b692; its licence is not verified, and nothing of it is copied',
  policy: `policy: openclaw
signals:
  warning:      { is: repeated_calls, times: 10, cycles: 5, max_cycle: 2, masked_cycles: 5 }
  critical:     { is: repeated_calls, times: 20, cycles: 10, max_cycle: 2, masked_times: 20 }
  global:       { is: repeated_calls, times: 30, cycles: 15, max_cycle: 2, stale_times: 28 }
  unknown_tool: { is: repeated_error, times: 10, within: 1h }
states:
  FAILING: [global]
  STUCK: [critical, unknown_tool]
  DEGRADED: [warning]
`,
  read: [
    'Warning is DEGRADED, critical STUCK, the global breaker FAILING; a run is an instance.',
    'The first two of its thirty calls of two kinds have new results. It has no mutations: its writes are ordinary calls here.',
    'Its guard checks before a call. Where the checked call counts, the replay makes it.',
  ],
  cases: [...hashing, ...calls, ...sends],
};
