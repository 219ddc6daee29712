import { expect, test } from 'vitest';
import { figuresOf } from './figures.ts';
import { logSource } from './log-source.ts';
import { EvaluatorOnLog, judgedFleet, presetNamed, START } from './replay.fixture.ts';

const { signal } = new AbortController();
const { log } = await judgedFleet();

const figures = async (agent: string, everyMs: number, from: number | null, to: number | null) =>
  figuresOf(await logSource(log, { from, to, agent }, () => {}), agent, everyMs, signal);

test('the silence of an agent grows second by second, with its limit beside it', async () => {
  const { at, signals, isEarlier } = await figures('hangs', 1000, null, null);
  const silence = signals.find((one) => one.signal === 'no_heartbeat');
  const valueAt = (second: number) => silence?.values[at.indexOf(START + second * 1000)] ?? null;
  expect([valueAt(6), valueAt(7), valueAt(12)]).toEqual([1000, 2000, 7000]);
  expect(silence).toMatchObject({ isDuration: true, limit: expect.any(Number) });
  expect(isEarlier).toBe(false);
  expect(at).toEqual(at.toSorted((a, b) => a - b));
  for (const { values } of signals) expect(values).toHaveLength(at.length);
});

test('an agent that works has no silence, and the records of others are not counted', async () => {
  const { observations, signals } = await figures('works', 1000, null, null);
  expect(observations).toBe(60);
  const silence = signals.find((one) => one.signal === 'no_heartbeat')?.values ?? [];
  expect(Math.max(...silence.map(Number))).toBeLessThan(2000);
});

test('only times of the span are kept, at the distance that is asked, and with what was reported before it', async () => {
  const { at, signals } = await figures('hangs', 5000, START + 10_000, START + 30_000);
  expect(at).toEqual([10, 15, 20, 25, 30].map((second) => START + second * 1000));
  expect(signals.find((one) => one.signal === 'no_heartbeat')?.values[0]).toBe(5000);
});

test('an agent that is not in the log has no figures', async () => {
  expect(await figures('nobody', 1000, null, null)).toEqual({ observations: 0, isEarlier: false, at: [], signals: [] });
});

test('an agent that has ended has no figure after its end', async () => {
  const on = new EvaluatorOnLog(1);
  await on.use(presetNamed('demo'));
  await on.start();
  await on.pass(10, (second) => {
    const alone = { runtime_id: null, reporter: 'agent' } as const;
    if (second < 4) on.heartbeat('finishes', second + 1, alone);
    if (second === 4) on.heartbeat('finishes', 5, { ...alone, exit: { code: 0, signal: null, reason: 'finished' } });
  });
  await on.stop();
  const source = await logSource(on.log, { from: null, to: null, agent: 'finishes' }, () => {});
  const { at } = await figuresOf(source, 'finishes', 1000, signal);
  expect(at).toEqual([1, 2, 3, 4].map((second) => START + second * 1000));
});
