import { expect, test } from 'vitest';
import { LoginNeeded, openLive, type Route, type StreamListener } from './live.ts';

const LEAST_PAUSE_MS = 500;

/** A dashboard whose answers a test gives one by one, and a clock that a test moves. */
const opened = () => {
  const asked: {
    path: string;
    answer: (body: unknown) => Promise<void>;
    fail: (why: string | Error) => Promise<void>;
  }[] = [];
  const timers: { at: number; work: () => void }[] = [];
  const clock = { now: 0 };
  let stream: StreamListener = { opened() {}, changed() {}, lost() {} };
  const settled = () => new Promise<void>(setImmediate);
  const live = openLive({
    get: (path) =>
      new Promise((resolve, reject) => {
        const answer = (body: unknown) => {
          resolve(body);
          return settled();
        };
        const fail = (why: string | Error) => {
          reject(typeof why === 'string' ? new Error(why) : why);
          return settled();
        };
        asked.push({ path, answer, fail });
      }),
    changes: (on) => {
      stream = on;
      return () => {};
    },
    later: (ms, work) => {
      const timer = { at: clock.now + ms, work };
      timers.push(timer);
      return () => void (timers.includes(timer) && timers.splice(timers.indexOf(timer), 1));
    },
    now: () => clock.now,
  });
  const pass = (ms: number) => {
    clock.now += ms;
    for (const timer of timers.filter(({ at }) => at <= clock.now)) {
      timers.splice(timers.indexOf(timer), 1);
      timer.work();
    }
  };
  return { live, asked, pass, stream: () => stream };
};

const route = (path: string, tables: readonly string[], everyMs: number | null = null): Route<unknown> => ({
  ...{ path, tables, everyMs, leastPauseMs: LEAST_PAUSE_MS, pagesOf: null, firstPages: 1 },
  read: (body) => body,
  isFinal: () => false,
});

test('a final answer is asked for no more, until a change may have come without being reported', async () => {
  const { live, asked, pass, stream } = opened();
  const replay = { ...route('/replay', [], 1000), isFinal: (body: unknown) => body === 'done' };
  live.watch(replay, () => {});
  await asked[0]?.answer('running');
  pass(1000);
  expect(asked).toHaveLength(2);
  await asked[1]?.answer('done');
  pass(60_000);
  expect(asked).toHaveLength(2);
  stream().opened();
  expect(asked).toHaveLength(3);
  await asked[2]?.fail('away');
  pass(1000);
  expect(asked).toHaveLength(4);
});

test('a change during a question is asked for again, so that it is not lost', async () => {
  const { live, asked, pass, stream } = opened();
  const inbox = route('/inbox', ['cases']);
  live.watch(inbox, () => {});
  expect(asked).toHaveLength(1);
  stream().changed(['cases']);
  await asked[0]?.answer('before');
  expect(live.answerOf(inbox)).toEqual({ value: 'before', error: null, part: null, since: null, needsLogin: false });
  pass(LEAST_PAUSE_MS);
  await asked[1]?.answer('after');
  expect(live.answerOf(inbox).value).toBe('after');
  pass(60_000);
  expect(asked).toHaveLength(2);
});

test('many changes at once are one question, and those of other tables are none', async () => {
  const { live, asked, pass, stream } = opened();
  live.watch(route('/inbox', ['cases']), () => {});
  await asked[0]?.answer(1);
  for (let i = 0; i < 100; i++) stream().changed(['cases']);
  stream().changed(['breakers']);
  pass(LEAST_PAUSE_MS);
  expect(asked).toHaveLength(2);
});

test('a reconnect asks for everything that is shown, once each', async () => {
  const { live, asked, pass, stream } = opened();
  live.watch(route('/a', []), () => {});
  live.watch(route('/b', []), () => {});
  await asked[0]?.answer(1);
  await asked[1]?.answer(1);
  pass(10_000);
  expect(asked).toHaveLength(2);
  stream().opened();
  expect(asked.map(({ path }) => path)).toEqual(['/a', '/b', '/a', '/b']);
});

test('a failed question keeps the last answer, has its reason, and is repeated', async () => {
  const { live, asked, pass } = opened();
  const fleet = route('/fleet', [], 1500);
  live.watch(fleet, () => {});
  await asked[0]?.answer('here');
  pass(1499);
  expect(asked).toHaveLength(1);
  pass(1);
  await asked[1]?.fail('the dashboard does not answer');
  expect(live.answerOf(fleet)).toEqual({
    value: 'here',
    error: 'the dashboard does not answer',
    part: null,
    since: null,
    needsLogin: false,
  });
  pass(1500);
  await asked[2]?.answer('again');
  expect(live.answerOf(fleet)).toEqual({ value: 'again', error: null, part: null, since: null, needsLogin: false });
});

test('what no view watches is not asked for', async () => {
  const { live, asked, pass, stream } = opened();
  const stop = live.watch(route('/a', ['cases'], 1000), () => {});
  await asked[0]?.answer(1);
  stop();
  stream().changed(['cases']);
  pass(60_000);
  expect(asked).toHaveLength(1);
});

test('a list is read page after page, and the page sees all rows of one answer', async () => {
  const { live, asked } = opened();
  const list = { ...route('/v1/tasks', []), pagesOf: 'tasks', firstPages: Number.POSITIVE_INFINITY };
  live.watch(list, () => {});
  await asked[0]?.answer({ tasks: [1, 2], next: 'a+b' });
  expect(asked[1]?.path).toBe('/v1/tasks?cursor=a%2Bb');
  expect(live.answerOf(list).value).toBeNull();
  await asked[1]?.answer({ tasks: [3], next: null });
  expect(live.answerOf(list).value).toEqual({ tasks: [1, 2, 3], next: null });
  expect(asked).toHaveLength(2);
});

test('a long list has one page, one more on each request, and as many after a change, until no view watches it', async () => {
  const { live, asked, pass, stream } = opened();
  const list = { ...route('/v1/cases', ['cases']), pagesOf: 'cases' };
  const stop = live.watch(list, () => {});
  await asked[0]?.answer({ cases: [3], next: 'a' });
  expect(live.answerOf(list).value).toEqual({ cases: [3], next: 'a' });
  pass(60_000);
  expect(asked).toHaveLength(1);
  live.readMore(list);
  await asked[1]?.answer({ cases: [3], next: 'a' });
  // The page keeps its rows until the older ones are there.
  expect(live.answerOf(list).value).toEqual({ cases: [3], next: 'a' });
  await asked[2]?.answer({ cases: [2], next: 'b' });
  expect(live.answerOf(list).value).toEqual({ cases: [3, 2], next: 'b' });
  stream().changed(['cases']);
  pass(LEAST_PAUSE_MS);
  await asked[3]?.answer({ cases: [4], next: 'c' });
  await asked[4]?.answer({ cases: [3], next: null });
  expect(live.answerOf(list).value).toEqual({ cases: [4, 3], next: null });
  stop();
  live.watch(list, () => {});
  await asked[5]?.answer({ cases: [4], next: 'c' });
  expect(live.answerOf(list).value).toEqual({ cases: [4], next: 'c' });
  expect(asked.map(({ path }) => path)).toEqual([
    ...['/v1/cases', '/v1/cases', '/v1/cases?cursor=a', '/v1/cases', '/v1/cases?cursor=c', '/v1/cases'],
  ]);
});

test('an answer that cannot be read is a failed question: the page asks again', async () => {
  const { live, asked, pass } = opened();
  const read = (body: unknown) => {
    if (body === 'broken') throw new Error('the answer has no agents');
    return body;
  };
  const cells = { ...route('/cells', [], 1500), read };
  live.watch(cells, () => {});
  await asked[0]?.answer('broken');
  expect(live.answerOf(cells)).toEqual({
    value: null,
    error: 'the answer has no agents',
    part: null,
    since: null,
    needsLogin: false,
  });
  pass(1500);
  await asked[1]?.answer('whole');
  expect(live.answerOf(cells)).toEqual({ value: 'whole', error: null, part: null, since: null, needsLogin: false });
});

test('an answer that takes long is asked for less often: at most half of the time', async () => {
  const { live, asked, pass, stream } = opened();
  live.watch(route('/cells', ['agents']), () => {});
  stream().changed(['agents']);
  pass(400);
  await asked[0]?.answer(1);
  pass(399);
  expect(asked).toHaveLength(1);
  pass(1);
  expect(asked).toHaveLength(2);
});

test('changes do not delay an answer that is asked for regularly, however long it takes', async () => {
  const { live, asked, pass, stream } = opened();
  live.watch(route('/fleet', ['fleet'], 1000), () => {});
  pass(900);
  await asked[0]?.answer(1);
  stream().changed(['fleet']);
  pass(99);
  expect(asked).toHaveLength(1);
  pass(1);
  expect(asked).toHaveLength(2);
});

test('a question without a session has failed by that, until a login in the same browser', async () => {
  const { live, asked, pass } = opened();
  const fleet = route('/fleet', [], 1000);
  live.watch(fleet, () => {});
  await asked[0]?.answer('here');
  pass(1000);
  await asked[1]?.fail(new LoginNeeded('no session'));
  expect(live.answerOf(fleet)).toMatchObject({ value: 'here', error: 'no session', needsLogin: true });
  pass(1000);
  await asked[2]?.answer('again');
  expect(live.answerOf(fleet)).toMatchObject({ value: 'again', error: null, needsLogin: false });
});
