import { expect, test } from 'vitest';
import { adapterContract } from '../adapter.contract.ts';
import { recordedHooks } from '../recordings.fixture.ts';
import { codex } from './codex.ts';

adapterContract({
  adapter: codex,
  withoutFacts: [],
  content: ['do the task', 'hello from the agent', 'nonexistent-directory', 'All done', 'touched'],
  streamedCalls: { 'cx-works': 5, 'cx-loops': 16 },
  interactive: 'codex -m gpt-5.1-codex -i one.png two.png',
  headless: 'npx -y @openai/codex@0.169.0 -c a=b exec --json --skip-git-repo-check task',
  others: ['codex login', 'codex -m x mcp list', 'codex --version', 'claude -p x'],
});

test('events of a sub-agent name the file of its own session, in one of two fields', () => {
  const own = recordedHooks('codex').flatMap(({ payload }) =>
    typeof payload.agent_id === 'string' ? codex.hooks.transcriptsOf(payload) : [],
  );
  expect(own.length).toBeGreaterThan(4);
  for (const { path, agent } of own) expect(path).toContain(`-${agent}.jsonl`);
});

test('repeated waiting for a sub-agent is not a loop, under either name of the tool', () => {
  const waits = recordedHooks('codex').flatMap(({ payload: { tool_name } }) =>
    typeof tool_name === 'string' && tool_name.endsWith('wait_agent') ? [tool_name] : [],
  );
  expect(waits).toContain('multi_agent_v1wait_agent');
  for (const name of [...waits, 'wait_agent', 'collaborationwait_agent', 'write_stdin'])
    expect(codex.traitsOf(name, {}).polling).toBe(true);
  expect(codex.traitsOf('spawn_agent', {}).polling).toBe(false);
});
