import { type Heartbeat, Topic } from '@vigil/events';
import { expect, test } from 'vitest';
import { testGateway } from '../testing.ts';

const { log, post } = testGateway();

const newest = (): Heartbeat | undefined =>
  log()
    .events(Topic.heartbeat)
    .map(({ payload }) => payload as Heartbeat)
    .findLast(({ agent_id }) => agent_id === 'worker-1');
const hook = (body: object) =>
  post('/v1/hooks/claude-code', { session_id: 's-1', ...body }, { 'vigil-agent': 'worker-1' });

const call = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_use_id: 'c-1', tool_input: { command: 'ls' } };
const long = 'x'.repeat(100_000);

test.each<[string, object]>([
  ['a long name of a tool', { ...call, tool_name: long }],
  ['a long id of a call', { ...call, tool_use_id: long }],
  ['a long id of an agent', { ...call, agent_id: long }],
  ['a long sort of sub-agent', { hook_event_name: 'SubagentStart', agent_id: 'a-1', agent_type: long }],
  ['the id of an agent that every object has', { ...call, agent_id: '__proto__' }],
  ['a long path', { ...call, tool_name: 'Write', tool_input: { file_path: long } }],
  ['a limit without end', { ...call, tool_input: { command: 'ls', timeout: 1e300 } }],
  ['a limit below zero', { ...call, tool_input: { command: 'ls', timeout: -1e300 } }],
  ['a duration without end', { ...call, hook_event_name: 'PostToolUse', duration_ms: 1e300 }],
  ['a long error', { hook_event_name: 'StopFailure', error: long }],
  ['a long question', { hook_event_name: 'Notification', notification_type: 'permission_prompt', message: long }],
])('%s in a hook event is taken, and spoils nothing that follows', async (_, event) => {
  expect((await hook(event)).status).toBe(200);
  expect((await hook({ ...call, tool_use_id: 'c-2' })).status).toBe(200);
  expect(newest()?.tool_calls.at(-1)).toMatchObject({ call_id: 'c-2', outcome: 'running', deadline_at: null });
});
