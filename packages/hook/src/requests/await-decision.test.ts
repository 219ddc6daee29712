import { expect, test } from 'vitest';
import { awaitDecision, type Polled } from './await-decision.ts';

const open = (remainingMs = 60_000): Polled => ({ kind: 'answered', answer: { kind: 'open', remainingMs } });
const away: Polled = { kind: 'away' };
const answered: Polled = {
  kind: 'answered',
  answer: { kind: 'answered', option: 'deny', by: 'ada', why: 'not now' },
};
const expired = (outcome: string): Polled => ({ kind: 'answered', answer: { kind: 'expired', outcome } });

/** Each poll is one of these, the last again and again, and takes as long as it may wait. */
const play = async (...polls: readonly Polled[]) => {
  let [now, count] = [0, 0];
  const waits: number[] = [];
  const stop = new AbortController();
  const decision = await awaitDecision(
    async (waitSeconds) => {
      waits.push(waitSeconds);
      now += waitSeconds * 1000;
      count += 1;
      if (count > 1000) stop.abort();
      return polls[Math.min(count, polls.length) - 1] ?? away;
    },
    {
      now: () => now,
      pause: async (ms) => {
        now += ms;
      },
    },
    stop.signal,
  );
  return { decision, waits, now };
};

test('the hook waits until people have answered, and has the answer with its author', async () => {
  const { decision, waits } = await play(open(), open(), answered);
  expect(decision).toEqual({ choice: 'deny', answers: [], why: 'ada: not now' });
  expect(waits).toEqual([0, 25, 25]);
});

test('the hook has the answer to each question', async () => {
  const answers = [{ question: 'Features', labels: ['Login'], text: 'a cache' }];
  const polled: Polled = { kind: 'answered', answer: { kind: 'answered', option: 'x', answers, by: 'ada', why: 'ok' } };
  expect((await play(open(), polled)).decision).toEqual({ choice: 'x', answers, why: 'ada: ok' });
});

test('a gateway that does not take the request at first is not waited for', async () => {
  expect(await play(away)).toMatchObject({ decision: null, now: 0 });
  expect(await play({ kind: 'refused' })).toMatchObject({ decision: null, now: 0 });
});

test('a gateway that goes away later is asked again, and the answer of its successor counts', async () => {
  expect((await play(open(), away, away, answered)).decision).toMatchObject({ choice: 'deny' });
});

test('a gateway that stays away is given up a little after the deadline', async () => {
  const { decision, now } = await play(open(60_000), away);
  expect(decision).toBeNull();
  expect(now).toBeGreaterThanOrEqual(60_000);
  expect(now).toBeLessThan(120_000);
});

test('at the deadline there is no decision, unless the policy allows', async () => {
  expect((await play(open(), expired('no_decision'))).decision).toBeNull();
  expect((await play(open(), expired('allow'))).decision).toMatchObject({ choice: 'allow' });
  expect((await play(open(), open(0))).decision, 'nothing has reported the end').toBeNull();
});

test('an answer that is not understood gives no decision', async () => {
  for (const answer of [
    null,
    7,
    'allow',
    {},
    { kind: 'answered' },
    { kind: 'answered', option: 3 },
    { kind: 'answered', option: 'x', answers: [{ question: 'Database' }] },
    { kind: 'new' },
  ])
    expect((await play(open(), { kind: 'answered', answer })).decision).toBeNull();
});
