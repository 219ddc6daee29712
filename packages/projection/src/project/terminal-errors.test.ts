import { type AgentHeartbeatPayload, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import type { PlacedEvent } from '@vigil/stream';
import { expect, test } from 'vitest';
import { project } from '../project.ts';

type Output = NonNullable<AgentHeartbeatPayload['output']>;

const terminalErrors = (more: Partial<Output>) => {
  const output: Output = {
    ...{ last_output_at: EXAMPLE_TIME, lines: 2, matched_patterns: [], shown_errors: [], repeated_error: null },
    ...{ result_at: null, completion_signal_at: null, tail: [], ...more },
  };
  const event = example(Topic.agentObservation, 'AGENT_HEARTBEAT', { output });
  const placed = { ...event, version: 1, offset: 0 } as PlacedEvent<typeof Topic.agentObservation>;
  const columns = project(placed).flatMap((statement) => ('columns' in statement ? [statement.columns] : []));
  return columns.map((one) => (one as Record<string, unknown>).terminal_errors).find((found) => found !== undefined);
};
const shown = { kind: 'error', at: EXAMPLE_TIME, count: 3, message: 'Error: no such table' };
const matched = { kind: 'error', source: '^Error', at: EXAMPLE_TIME, line: 2 };
const stored = { at: EXAMPLE_TIME, count: 3, errorClass: 'error', message: 'Error: no such table' };
const asJson = (value: unknown) => (typeof value === 'string' ? JSON.parse(value) : value);

test('what the terminal shows is among the errors of the agent without any pattern of its policy', () => {
  expect(asJson(terminalErrors({ shown_errors: [shown] }))).toEqual([stored]);
});

test('a line that a pattern of the policy matches as well is one error', () => {
  const both = { shown_errors: [shown], matched_patterns: [matched], tail: ['ready', '  Error: no such table'] };
  expect(asJson(terminalErrors(both))).toEqual([stored]);
});

test('a heartbeat without new errors keeps those of before', () => {
  expect(terminalErrors({})).toBeUndefined();
});
