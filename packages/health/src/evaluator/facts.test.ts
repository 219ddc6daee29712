import { expect, test } from 'vitest';
import { initialHistory } from '../history/history.ts';
import { factsOf } from './facts.ts';
import type { KnownAgent } from './state.ts';

const START = 1_000_000;
const identity = { taskId: null } as never;
const history = initialHistory(identity, { now: START, watched: 500, stamp: START, previous: null }, 'c');
const agent = (more: object = {}) => ({ history: { ...history, ...more } }) as unknown as KnownAgent;
const at = (ms: number, watched = ms) => ({ now: START + ms, watched: 500 + watched, ingresses: {} });

test('an agent that has reported no call is not idle for any time', () => {
  expect(factsOf(agent(), at(60_000))).toMatchObject({ lastCallAt: null, idleMs: null, contextPct: null });
});

test('an agent is idle for the watched time since its last call', () => {
  const calls = { ...history.calls, last: 500, lastTool: 'Bash', lastSpanMs: 300_000 };
  expect(factsOf(agent({ calls }), at(90_000, 60_000))).toMatchObject({
    ...{ idleMs: 60_000, lastCallAt: START + 30_000, lastTool: 'Bash', lastCallLimitMs: 300_000 },
  });
});

test('the steps of a judge, the context and the last rate limit are as reported', () => {
  const facts = factsOf(
    agent({
      context: { ...history.context, ratio: 0.85 },
      rateLimit: { at: START + 1, mark: 0, retryAt: null, sentRetry: null, sentEvent: null },
      steps: { ...history.steps, total: 12, changed: 500, sinceAccept: 3, recent: ['ACCEPT', 'RETRY'] },
    }),
    at(240_000),
  );
  expect(facts).toMatchObject({ contextPct: 85, rateLimitedAt: START + 1, totalSteps: 12, stepsSinceAccept: 3 });
  expect(facts).toMatchObject({ recentVerdicts: ['ACCEPT', 'RETRY'], stallMs: 240_000 });
});

test('a rate limit is known until its time has come or a later call succeeds', () => {
  const limit = { at: START + 1, mark: 0, retryAt: null, sentRetry: null, sentEvent: null };
  const limitedAt = (rateLimit: object) =>
    factsOf(agent({ rateLimit: { ...limit, ...rateLimit } }), at(60_000)).rateLimitedAt;
  expect(limitedAt({ retryAt: START + 60_001 })).toBe(START + 1);
  expect(limitedAt({ retryAt: START + 60_000 })).toBeNull();
  expect(limitedAt({ overAt: START + 60_000 })).toBeNull();
});
