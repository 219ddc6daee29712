import { expect, test } from 'vitest';
import { endFrozen } from './end-frozen.ts';

type Look = { readonly pid: number | null; readonly answers: boolean };

const STANDS: Look = { pid: 7, answers: false };
const RUNS: Look = { pid: 7, answers: true };

/** What is done about a service after these looks. */
const after = async (looks: readonly Look[]) => {
  const stop = new AbortController();
  const lines: string[] = [];
  const kills: string[] = [];
  let at = 0;
  const service = { name: 'recovery', pid: () => looks[at]?.pid ?? null, kill: (signal: string) => kills.push(signal) };
  const pause = async () => {
    at += 1;
    if (at > looks.length) stop.abort();
  };
  const watched = { service, answers: async () => looks[at]?.answers ?? false };
  await endFrozen(watched as never, { onLine: (line) => lines.push(line), pause, signal: stop.signal });
  return { lines, kills };
};
const times = (look: Look, count: number): Look[] => Array.from({ length: count }, () => look);

test('a service that has answered and then stands still for half a minute is ended, with a line in the output', async () => {
  const { lines, kills } = await after([RUNS, ...times(STANDS, 6)]);
  expect(kills).toEqual(['SIGKILL']);
  expect(lines).toEqual(['recovery has not answered for 30 s and is ended: its process stands still']);
});

test('a shorter silence ends nothing, and an answer begins the count again', async () => {
  expect((await after([RUNS, ...times(STANDS, 5), RUNS, ...times(STANDS, 5)])).kills).toEqual([]);
});

test('a service that has not answered yet is starting, also after a restart', async () => {
  expect((await after(times(STANDS, 20))).kills).toEqual([]);
  expect((await after([RUNS, ...times({ pid: 8, answers: false }, 20)])).kills).toEqual([]);
  expect((await after([RUNS, ...times({ pid: null, answers: false }, 20)])).kills).toEqual([]);
});
