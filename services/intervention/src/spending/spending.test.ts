import { type EventOf, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { describe, expect, test } from 'vitest';
import { type SpendingDraft, type SpendingState, spending, spendingKey } from './spending.ts';

const NOON = Date.UTC(2026, 10, 23, 12);
const MIDNIGHT = Date.UTC(2026, 10, 24);
const clock = (now: number) => ({ now, watched: now, ingresses: {} });

type Presence = EventOf<typeof Topic.fleetPresence>;
type Spent = Extract<Presence, { readonly type: 'AGENT_SPENT' }>;
const spent = (scope: 'agent' | 'task' | 'day', tokens: number, more: Partial<Spent['payload']> = {}): Spent =>
  example(Topic.fleetPresence, 'AGENT_SPENT', {
    ...{ scope, scopeId: 'T1', tokens, usd: null, limitTokens: 100, limitUsd: null },
    ...more,
  }) as Spent;

/** Gives each event at its moment, and returns what was announced. */
const play = (...steps: readonly (readonly [number, Presence | null])[]) => {
  let state: SpendingState = spending.initial;
  const emitted: SpendingDraft[] = [];
  for (const [now, input] of steps) {
    if (input !== null) state = spending.observe(state, input, clock(now));
    const drafts = spending.decide(state, clock(now), input);
    for (const draft of drafts) state = spending.evolve(state, draft, clock(now), input);
    expect(spending.decide(state, clock(now), null)).toEqual([]);
    emitted.push(...drafts);
  }
  return {
    state,
    emitted: emitted.map(({ type, payload }) => `${type} ${'tokens' in payload ? payload.tokens : payload.why}`),
  };
};

test('what all agents of a task use is one sum, and its limit is announced once, when it is used exactly', () => {
  expect(play([NOON, spent('task', 60)], [NOON, spent('task', 39, { agentId: 'b' })]).emitted).toEqual([]);
  const reached = play(
    [NOON, spent('task', 60)],
    [NOON, spent('task', 40, { agentId: 'b' })],
    [NOON, spent('task', 5)],
  );
  expect(reached.emitted).toEqual(['SPENDING_LIMIT_REACHED 100']);
});

test('a day begins with nothing at midnight UTC, and its refusal ends then by itself', () => {
  const steps = [
    [MIDNIGHT - 1, spent('day', 100)],
    [MIDNIGHT, null],
  ] as const;
  expect(play(...steps).emitted).toEqual(['SPENDING_LIMIT_REACHED 100', 'SPENDING_LIMIT_LIFTED the day is over']);
  expect(play([MIDNIGHT - 1, spent('day', 99)], [MIDNIGHT, spent('day', 99)]).emitted).toEqual([]);
});

test('a task has no day: its limit stays reached', () => {
  expect(play([NOON, spent('task', 100)], [MIDNIGHT + 1, null]).emitted).toEqual(['SPENDING_LIMIT_REACHED 100']);
});

test('a task without any work for 30 days is forgotten, and its limit is lifted', () => {
  const month = NOON + 30 * 86_400_000;
  expect(play([NOON, spent('task', 100)], [month - 1, null]).emitted).toHaveLength(1);
  const { emitted, state } = play([NOON, spent('task', 100)], [month, null]);
  expect(emitted.at(-1)).toBe('SPENDING_LIMIT_LIFTED it has had no work for 30 days');
  expect(spending.forgets?.(state, clock(month))).toBe(true);
  expect(play([NOON, spent('task', 100)], [month - 1, spent('task', 1)], [month, null]).emitted).toHaveLength(1);
});

test('a raised limit lets the task continue until that is used, too', () => {
  const raised = spent('task', 1, { limitTokens: 200 });
  const steps = [
    [NOON, spent('task', 100)],
    [NOON, raised],
  ] as const;
  expect(play(...steps).emitted).toEqual(['SPENDING_LIMIT_REACHED 100', 'SPENDING_LIMIT_LIFTED the limit was raised']);
  expect(play(...steps, [NOON, spent('task', 99, { limitTokens: 200 })]).emitted.at(-1)).toBe(
    'SPENDING_LIMIT_REACHED 200',
  );
});

test('known costs count, and an unknown cost reaches no limit', () => {
  const dollars = (usd: number | null) => spent('task', 1, { usd, limitTokens: null, limitUsd: 2 });
  expect(play([NOON, dollars(null)], [NOON, dollars(1.5)]).emitted).toEqual([]);
  expect(play([NOON, dollars(null)], [NOON, dollars(1.5)], [NOON, dollars(0.5)]).emitted).toHaveLength(1);
});

test('each task and each day has a state of its own, and a deadline is honest', () => {
  expect(spendingKey(spent('task', 1))).toBe('task:T1');
  expect(spendingKey(spent('day', 1, { scopeId: 'vigil' }))).toBe('day:vigil');
  const { state } = play([NOON, spent('day', 100)]);
  expect(spending.dueAt(state, clock(NOON))).toBe(MIDNIGHT);
  expect(spending.decide(state, clock(MIDNIGHT - 1), null)).toEqual([]);
  expect(spending.forgets?.(play([NOON, spent('day', 100)], [MIDNIGHT, null]).state, clock(MIDNIGHT))).toBe(true);
});

describe('the limit of an agent', () => {
  const of = (instanceId: string, tokens: number) => spent('agent', tokens, { scopeId: 'a', agentId: 'a', instanceId });
  const present = (instanceId: string) =>
    example(Topic.fleetPresence, 'AGENT_PRESENT', { agentId: 'a', instanceId, why: 'returned' });
  const lost = (why: 'silent' | 'ended' | 'crashed') =>
    example(Topic.fleetPresence, 'AGENT_LOST', { agentId: 'a', instanceId: 'i1', why });
  const reached = [NOON, of('i1', 100)] as const;

  test('is that of one instance: another begins with nothing', () => {
    const over = ['SPENDING_LIMIT_REACHED 100', 'SPENDING_LIMIT_LIFTED its instance is over'];
    expect(play(reached, [NOON, present('i2')]).emitted).toEqual(over);
    expect(play(reached, [NOON, of('i2', 7)]).emitted).toEqual(over);
    expect(play([NOON, of('i1', 99)], [NOON, present('i2')], [NOON, of('i2', 99)]).emitted).toEqual([]);
  });

  test('is over with the instance, which is forgotten; one that is silent or returns is the same', () => {
    expect(play(reached, [NOON, lost('silent')], [NOON, present('i1')]).emitted).toEqual([
      'SPENDING_LIMIT_REACHED 100',
    ]);
    for (const why of ['ended', 'crashed'] as const) {
      const { emitted, state } = play(reached, [NOON, lost(why)]);
      expect(emitted.at(-1)).toBe('SPENDING_LIMIT_LIFTED its instance is over');
      expect(spending.forgets?.(state, clock(NOON))).toBe(true);
    }
  });

  test('is over a month after the last heartbeat of the instance, where its end is not reported', () => {
    const month = NOON + 30 * 86_400_000;
    expect(play(reached, [NOON, lost('silent')], [month - 1, null]).emitted).toHaveLength(1);
    expect(play(reached, [NOON, lost('silent')], [month, null]).emitted.at(-1)).toBe(
      'SPENDING_LIMIT_LIFTED its instance is over',
    );
  });

  test('keeps the presence of an agent without a limit nowhere', () => {
    expect(spendingKey(present('i1'))).toBe('agent:a');
    expect(spendingKey(of('i1', 1))).toBe('agent:a');
    expect(play([NOON, present('i1')], [NOON, lost('ended')]).state).toEqual(spending.initial);
  });
});

test('a limit that is removed, or raised without another token, is lifted, and the policy is named', () => {
  const { emitted } = play([NOON, spent('task', 100)], [NOON, spent('task', 0, { limitTokens: null })]);
  expect(emitted).toEqual(['SPENDING_LIMIT_REACHED 100', 'SPENDING_LIMIT_LIFTED the limit was raised']);
  expect(play([NOON, spent('task', 100)], [NOON, spent('task', 0, { limitTokens: 101 })]).emitted).toHaveLength(2);
  const policy = { name: 'builders', hash: 'h1' };
  const state = spending.observe(spending.initial, { ...spent('task', 100), policy }, clock(NOON));
  expect(spending.decide(state, clock(NOON), null)).toMatchObject([{ type: 'SPENDING_LIMIT_REACHED', policy }]);
});
