import type { SessionEvent } from '@vigil/adapters/session';
import type { ToolCall } from '@vigil/events';
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

const callOf = (id: string, more: Partial<ToolCall>): ToolCall => ({
  ...{ call_id: id, kind: 'tool', tool: 'Bash', args_hash: id, result_hash: null, masked_result_hash: null },
  ...{ outcome: 'running', error_class: null, started_at: null, ended_at: null, deadline_at: null, target: null },
  ...{ mutating: false, polling: false, checking: false },
  ...more,
});
const started = (id: string, at: number, agent: string | null = null): SessionEvent => {
  const call = callOf(id, { started_at: at });
  return { kind: 'call_started', call, batch: null, asks: null, at, agent };
};
const ended = (id: string, at: number, agent: string | null = null): SessionEvent => {
  const call = callOf(id, { outcome: 'ok', ended_at: at });
  return { kind: 'call_ended', call, name: { callId: id, tool: 'Bash', argsHash: id }, at, agent };
};

test('the end of a call that was sent as running is sent, however many calls its report has after it', () => {
  const sessions = createSessions();
  const session = { client: 'claude-code', sessionId: 's-1', agentId: 'worker-1', taskId: null, policy: null };
  const identity = { ...session, labels: {}, eventDriven: false };
  const fold = (at: number, events: readonly SessionEvent[]) =>
    sessions.fold(identity, { source: 'logs', events, readings: [], beganAt: 0 }, at);
  fold(1, [started('long', 1), started('of-sub', 1, 'sub')]);
  const after = Array.from({ length: 150 }, (_, n) => [started(`after-${n}`, 3), ended(`after-${n}`, 4)]).flat();
  const [own] = fold(2, [ended('long', 2), ended('of-sub', 2, 'sub'), ...after]);
  const sent = own?.tool_calls?.map(({ call_id: id, outcome }) => `${id} ${outcome}`) ?? [];
  expect([sent.length, ...sent.slice(0, 3), sent.at(-1)]).toEqual([
    100,
    'long ok',
    'of-sub abandoned',
    'after-52 ok',
    'after-149 ok',
  ]);
});
