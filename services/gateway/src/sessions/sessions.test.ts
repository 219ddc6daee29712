import { expect, test } from 'vitest';
import { createSessions, MOST_OF_AGENT, type Sessions } from './sessions.ts';

/** The sequence of the heartbeat of one more turn: it is 1 for a session that is not remembered. */
const foldTurn = ({ fold }: Sessions, agentId: string, sessionId: string): number | null | undefined => {
  const session = { client: 'claude-code', sessionId, agentId, taskId: null, policy: null, labels: {} };
  const events = [{ kind: 'turn_started', at: 0, agent: null } as const];
  const reported = { source: 'hooks', events, readings: [], beganAt: 0 } as const;
  return fold({ ...session, eventDriven: false }, reported, 0)[0]?.sequence;
};

const foldMany = (sessions: Sessions, agentId: string, count: number): void => {
  for (let i = 0; i < count; i++) foldTurn(sessions, agentId, `other-${i}`);
};

test('a session is remembered beside 999 newer ones of its agent; beside 1,000 it is forgotten', () => {
  for (const [others, sequence] of [
    [MOST_OF_AGENT - 1, 2],
    [MOST_OF_AGENT, 1],
  ] as const) {
    const sessions = createSessions();
    foldTurn(sessions, 'worker-1', 's-1');
    foldMany(sessions, 'worker-1', others);
    expect(foldTurn(sessions, 'worker-1', 's-1')).toBe(sequence);
    expect(sessions.newestOf('worker-1')?.sessionId).toBe('s-1');
  }
});

test('any number of sessions of one agent leaves those of others', () => {
  const sessions = createSessions();
  foldTurn(sessions, 'worker-1', 's-1');
  foldMany(sessions, 'mallory', 20_001);
  expect(sessions.newestOf('worker-1')?.sessionId).toBe('s-1');
  expect(foldTurn(sessions, 'worker-1', 's-1')).toBe(2);
});
