import type { ReplayResult } from '@vigil/read-model';
import { expect, test, vi } from 'vitest';
import type { ReplaySpec } from './fold.ts';
import { openReplays, ReplayFailed, type RunReplay } from './replays.ts';

const HOUR_MS = 3_600_000;
const SPEC: ReplaySpec = { kind: 'verify', span: { from: 1, to: 2, agent: 'worker-1' } };
const RESULT: ReplayResult = {
  ...{ kind: 'verify', observations: 1, decisions: 1, agents: 1, earlierCount: 0, earlier: [], newer: 0 },
  ...{ unreadable: 0, differentCount: 0, differences: [] },
};

type Run = {
  readonly signal: AbortSignal;
  readonly onProgress: Parameters<RunReplay>[1];
  readonly resolve: (result: ReplayResult) => void;
  readonly reject: (error: unknown) => void;
};

/** Replays whose runs the test ends. An abort does not end a run at once: its process takes a moment. */
const opened = (limitMs = HOUR_MS) => {
  const clock = { now: 1000 };
  const runs: Run[] = [];
  const failures: unknown[] = [];
  const stop = new AbortController();
  let ids = 0;
  const replays = openReplays({
    run: (_, onProgress, signal) =>
      new Promise((resolve, reject) => void runs.push({ signal, onProgress, resolve, reject })),
    limitMs,
    newId: () => `r${++ids}`,
    now: () => clock.now,
    onFailure: (error) => void failures.push(error),
    signal: stop.signal,
  });
  const start = (by = 'ada') => replays.start({ spec: SPEC, policy: null, by });
  const stateOf = (id: string) => replays.find(id)?.state;
  const becomes = (id: string, state: string) => vi.waitFor(() => expect(stateOf(id)).toBe(state));
  return { replays, runs, clock, failures, stop, start, stateOf, becomes };
};

test('one replay runs at a time, and the others wait in their order', async () => {
  const { runs, start, stateOf, becomes } = opened();
  for (const by of ['ada', 'vera', 'rob']) start(by);
  expect(['r1', 'r2', 'r3'].map(stateOf)).toEqual(['running', 'waiting', 'waiting']);
  runs[0]?.resolve(RESULT);
  await becomes('r2', 'running');
  expect(['r1', 'r3'].map(stateOf)).toEqual(['done', 'waiting']);
  expect(runs).toHaveLength(2);
});

test('a replay has its span, its progress and its result', async () => {
  const { replays, runs, clock, start, becomes } = opened();
  expect(start()).toMatchObject({ replayId: 'r1', since: 1, until: 2, agentId: 'worker-1', by: 'ada', of: null });
  runs[0]?.onProgress(20_000, 50_000);
  expect(replays.find('r1')).toMatchObject({ state: 'running', done: 20_000, of: 50_000, result: null });
  clock.now = 5000;
  runs[0]?.resolve(RESULT);
  await becomes('r1', 'done');
  expect(replays.find('r1')).toMatchObject({ begunAt: 1000, endedAt: 5000, keptUntil: 5000 + HOUR_MS, result: RESULT });
  expect(replays.all()[0]).not.toHaveProperty('result');
});

test('a caller has at most two that wait or run, and all callers five', async () => {
  const { replays, runs, start, becomes } = opened();
  start('ada');
  start('ada');
  expect(() => start('ada')).toThrow('2 replays of ada wait or run');
  for (const by of ['vera', 'rob', 'olga']) start(by);
  expect(() => start('grace')).toThrow('One replay runs and 4 wait');
  expect(replays.all()).toHaveLength(5);
  runs[0]?.resolve(RESULT);
  await becomes('r1', 'done');
  expect(start('ada').replayId).toBe('r6');
});

test('a cancelled replay that waits never runs; one that runs is ended, and the next begins when its process is gone', async () => {
  const { replays, runs, start, stateOf, becomes } = opened();
  for (const by of ['ada', 'vera', 'rob']) start(by);
  replays.cancel('r2', 'olga');
  replays.cancel('r1', 'ada');
  expect(replays.find('r1')).toMatchObject({ state: 'cancelled', why: 'cancelled by ada', keptUntil: 1000 + HOUR_MS });
  expect(runs[0]?.signal.aborted).toBe(true);
  expect(stateOf('r3')).toBe('waiting');
  runs[0]?.reject(new Error('ended'));
  await becomes('r3', 'running');
  expect(replays.find('r2')).toMatchObject({ state: 'cancelled', why: 'cancelled by olga' });
  expect(runs).toHaveLength(2);
});

test('a result that arrives after the cancellation is not kept, and an ended replay stays as it is', async () => {
  const { replays, runs, start, becomes } = opened();
  start();
  replays.cancel('r1', 'ada');
  runs[0]?.resolve(RESULT);
  start('vera');
  await becomes('r2', 'running');
  expect(replays.find('r1')).toMatchObject({ state: 'cancelled', result: null });
  runs[1]?.resolve(RESULT);
  await becomes('r2', 'done');
  expect(replays.cancel('r2', 'ada')).toMatchObject({ state: 'done', why: null });
  expect(replays.cancel('r9', 'ada')).toBeNull();
});

test('a replay that runs longer than its limit fails with the remedy', async () => {
  const { replays, runs, start, becomes } = opened(1);
  start();
  await vi.waitFor(() => expect(runs[0]?.signal.aborted).toBe(true));
  runs[0]?.reject(runs[0].signal.reason);
  await becomes('r1', 'failed');
  expect(replays.find('r1')?.why).toContain('use `vigil replay` on the command line');
});

test('a failure for people has its reason; that of any other one is in the log', async () => {
  const { replays, runs, failures, start, becomes } = opened();
  start();
  start();
  runs[0]?.reject(new ReplayFailed('no recorded policy is called dem'));
  await becomes('r2', 'running');
  expect(replays.find('r1')).toMatchObject({ state: 'failed', why: 'no recorded policy is called dem', result: null });
  const fault = new Error('a fault');
  runs[1]?.reject(fault);
  await becomes('r2', 'failed');
  expect(replays.find('r2')?.why).toBe('The replay has failed; the log of the dashboard has the reason.');
  expect(failures).toEqual([fault]);
});

test('an ended replay is forgotten after an hour, or when twenty newer ones have ended', async () => {
  const { replays, runs, clock, start, becomes } = opened();
  for (let n = 1; n <= 21; n += 1) {
    start();
    runs.at(-1)?.resolve(RESULT);
    await becomes(`r${n}`, 'done');
  }
  expect(replays.find('r1')).toBeNull();
  expect(replays.all().map(({ replayId }) => replayId)).toEqual(Array.from({ length: 20 }, (_, n) => `r${21 - n}`));
  clock.now += HOUR_MS - 1;
  expect(replays.all()).toHaveLength(20);
  clock.now += 1;
  expect(replays.all()).toEqual([]);
});

test('the end of the dashboard ends the running replay, and begins no other', async () => {
  const { runs, start, stop, stateOf, becomes } = opened();
  start();
  start();
  stop.abort();
  runs[0]?.reject(runs[0].signal.reason);
  await becomes('r1', 'cancelled');
  expect(stateOf('r2')).toBe('waiting');
  expect(runs).toHaveLength(1);
});
