import { expect, test } from 'vitest';
import { firstSession, knownSessions } from '../commands/supervise/adopt.ts';
import { agentRow } from '../render/rows.fixture.ts';

const CLIENTS = ['claude-code', 'codex'];
const old = agentRow({ agentId: 'worker-1', instanceId: 'i1', client: 'claude-code', state: 'TERMINATED' });
const plainAgent = agentRow({ agentId: 'builder', instanceId: 'b1', client: null });
const known = knownSessions([old, plainAgent], CLIENTS);

test('the first session is one of a client whose hook was installed, and no other agent', () => {
  const others = [agentRow({ agentId: 'a', instanceId: 'a1' }), agentRow({ agentId: 'b', client: 'gemini-cli' })];
  expect(firstSession([...others, old], known, CLIENTS)).toBeUndefined();
  const fresh = agentRow({ agentId: 'z', instanceId: 'z1', client: 'codex' });
  expect(firstSession([...others, old, fresh], known, CLIENTS)).toBe(fresh);
});

test('a name that is used again is a new session: its instance is', () => {
  expect(firstSession([old], known, CLIENTS)).toBeUndefined();
  const again = { ...old, instanceId: 'i2' };
  expect(firstSession([again], known, CLIENTS)).toBe(again);
});

test('an agent that ran before its client reported is a session from its first report on', () => {
  const reports = { ...plainAgent, client: 'claude-code' };
  expect(firstSession([reports], known, CLIENTS)).toBe(reports);
});

test('a sub-agent is not a session of its own, nor is one of a session that was known', () => {
  const sub = agentRow({ agentId: 'worker-1:Explore-a1', instanceId: 's1', client: 'claude-code' });
  expect(firstSession([old, sub], known, CLIENTS)).toBeUndefined();
});
