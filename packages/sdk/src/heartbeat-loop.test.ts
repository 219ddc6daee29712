import type { Heartbeat } from '@vigil/events';
import { expect, test } from 'vitest';
import { connected, settled, testWay } from './fixture.ts';
import { backOff } from './heartbeat-loop.ts';
import { Busy, Refused } from './transport/transport.ts';

const sequences = (onHeartbeat: readonly { readonly sequence: number | null }[]) =>
  onHeartbeat.map(({ sequence }) => sequence);

test('sends heartbeats by itself: at once, then every interval, with a rising sequence', async () => {
  const { way, system } = await connected({ intervalMs: 5000 });
  expect(sequences(way.arrived)).toEqual([1]);
  await system.pass(4999);
  expect(way.arrived).toHaveLength(1);
  await system.pass(1);
  expect(sequences(way.arrived)).toEqual([1, 2]);
});

test('uses the interval of the answer, unless its agent has set one', async () => {
  for (const [intervalMs, onHeartbeat] of [
    [undefined, 4],
    [30_000, 2],
  ] as const) {
    const way = { ...testWay(), answer: { intervalMs: 20_000, policy: null, warnings: [] } };
    const { system, last } = await connected({ intervalMs }, way);
    await system.pass(60_000);
    expect([way.arrived.length, last().interval_ms]).toEqual(intervalMs ? [3, 30_000] : [onHeartbeat, 20_000]);
  }
});

test('follows an interval that answers shorten and lengthen again', async () => {
  const answerWith = (intervalMs: number) => ({ intervalMs, policy: null, warnings: [] });
  const way = { ...testWay(), answer: answerWith(30_000) };
  const { system, last } = await connected({}, way);
  way.answer = answerWith(10_000);
  await system.pass(29_999);
  expect(way.arrived).toHaveLength(1);
  await system.pass(1);
  await system.pass(10_000);
  expect([way.arrived.length, last().interval_ms]).toEqual([3, 10_000]);
  way.answer = answerWith(30_000);
  await system.pass(10_000);
  expect(way.arrived).toHaveLength(4);
  await system.pass(29_999);
  expect(way.arrived).toHaveLength(4);
  await system.pass(1);
  expect([way.arrived.length, last().interval_ms]).toEqual([5, 30_000]);
});

test('sends at once what a caller may wait for, not every report, and never twice within 200 ms', async () => {
  const { vigil, way, system } = await connected();
  await system.pass(1000);
  vigil.report({ phase: 'build', tokens: 5 });
  await system.pass(1000);
  expect(way.arrived).toHaveLength(1);
  vigil.report({ activity: 'awaiting_input' });
  vigil.report({ activity: 'working' });
  await settled();
  expect(way.arrived).toHaveLength(2);
  expect(way.arrived[1]).toMatchObject({ phase: 'build', activity: 'working', token_count: 5 });
  vigil.report({ blockers: ['no access'] });
  await system.pass(199);
  expect(way.arrived).toHaveLength(2);
  await system.pass(1);
  expect(way.arrived[2]).toMatchObject({ blockers: ['no access'] });
});

const loop = { tool: 'Bash', args: { command: 'make' } };
const endsIn = (onHeartbeat: readonly Heartbeat[]) =>
  onHeartbeat.flatMap(({ tool_calls }) => tool_calls).filter(({ outcome }) => outcome !== 'running').length;

test('the end of a call is reported at once under a long interval: the fifth identical one when it ends', async () => {
  const { vigil, way, system } = await connected({ intervalMs: 30_000 });
  for (let n = 1; n <= 5; n += 1) {
    await system.pass(2000);
    await vigil.call(loop, () => 'failed');
    await settled();
    expect(endsIn(way.arrived)).toBe(n);
  }
});

test('the start of a call over HTTP or Kafka does not bring a heartbeat forward', async () => {
  const { vigil, way, system } = await connected({ intervalMs: 30_000 });
  void vigil.call(loop, () => new Promise(() => {}));
  await system.pass(29_999);
  expect(way.arrived).toHaveLength(1);
  await system.pass(1);
  expect(way.arrived[1]?.tool_calls).toMatchObject([{ outcome: 'running' }]);
});

test('ends of calls bring at most one heartbeat a second forward, and each carries all of them', async () => {
  const { vigil, way, system } = await connected({ intervalMs: 30_000 });
  for (let n = 0; n < 4; n += 1) await vigil.call(loop, () => n);
  await system.pass(999);
  expect(way.arrived).toHaveLength(1);
  await system.pass(1);
  expect(way.arrived.map((heartbeat) => endsIn([heartbeat]))).toEqual([0, 4]);
  for (let n = 0; n < 100; n += 1) {
    await vigil.call(loop, () => n);
    await system.pass(100);
  }
  expect(way.arrived).toHaveLength(12);
  await system.pass(30_000);
  expect([endsIn(way.arrived), vigil.status.leftOut]).toEqual([104, 0]);
});

test('a heartbeat that a caller waits for is not delayed by the one-second limit on ends of calls', async () => {
  const { vigil, way, system } = await connected({ intervalMs: 30_000 });
  await vigil.call(loop, () => 1);
  vigil.report({ blockers: ['no access'] });
  await vigil.call(loop, () => 2);
  await system.pass(200);
  expect(way.arrived[1]).toMatchObject({ blockers: ['no access'], tool_calls: [{ outcome: 'ok' }, { outcome: 'ok' }] });
});

test('an interval below a second still applies to the ends of calls', async () => {
  const { vigil, way, system } = await connected({ intervalMs: 300 });
  await vigil.call(loop, () => 1);
  await system.pass(300);
  expect(endsIn(way.arrived)).toBe(1);
});

test('while a heartbeat is unanswered the ends of calls wait for the answer: one heartbeat at a time', async () => {
  const { vigil, way, system } = await connected({ intervalMs: 30_000 });
  await system.pass(2000);
  way.reply = 'does not answer';
  await vigil.call(loop, () => 1);
  await settled();
  for (let n = 0; n < 10; n += 1) {
    await vigil.call(loop, () => n);
    await system.pass(1000);
  }
  expect(way.tried).toHaveLength(2);
  way.reply = 'takes';
  await system.pass(7000);
  expect(way.arrived.map((heartbeat) => endsIn([heartbeat]))).toEqual([0, 1, 10]);
});

test('over a socket the start and the end of a call are reported within 200 ms of the last heartbeat', async () => {
  const { vigil, way, system } = await connected({ intervalMs: 30_000 }, { ...testWay(), local: true });
  const { promise, resolve } = Promise.withResolvers<string>();
  const call = vigil.call(loop, () => promise);
  await system.pass(200);
  expect(way.arrived[1]?.tool_calls).toMatchObject([{ outcome: 'running' }]);
  resolve('done');
  await call;
  await system.pass(200);
  expect(way.arrived[2]?.tool_calls).toMatchObject([{ outcome: 'ok' }]);
});

test('through an outage the same heartbeat is retried with growing pauses; then the newest follows at once', async () => {
  const { vigil, way, system, problems } = await connected();
  way.reply = 'is away';
  await vigil.call({ tool: 'Read', args: 1 }, () => 'a');
  await system.pass(10_000);
  await vigil.call({ tool: 'Edit', args: 2 }, () => 'b');
  vigil.report({ progress: '2/3', tokens: 100 });
  await system.pass(60_000);
  const tried = way.tried.slice(1);
  expect(tried.length).toBeGreaterThan(5);
  expect(tried.length).toBeLessThan(20);
  expect(new Set(sequences(tried))).toEqual(new Set([2]));
  expect(new Set(tried.map(({ tool_calls }) => tool_calls.map(({ tool }) => tool).join()))).toEqual(new Set(['Read']));
  vigil.report({ progress: '3/3' });
  way.reply = 'takes';
  await system.pass(10_300);
  expect(way.arrived.slice(1)).toMatchObject([
    { sequence: 2, tool_calls: [{ tool: 'Read' }], progress_indicator: 'running' },
    { sequence: 3, tool_calls: [{ tool: 'Edit' }], progress_indicator: '3/3', token_count: 100 },
  ]);
  expect(problems).toEqual(['heartbeats wait: connection refused']);
});

test('after a short outage too the newest follows at once, not an interval later', async () => {
  const { vigil, way, system } = await connected({ intervalMs: 10_000 });
  way.reply = 'is away';
  await system.pass(10_000);
  vigil.report({ progress: '2/3' });
  way.reply = 'takes';
  await system.pass(500);
  expect(way.arrived.slice(1).map(({ progress_indicator }) => progress_indicator)).toEqual(['running', '2/3']);
});

test('a heartbeat that is sent again carries the new send time: its instants are read against that', async () => {
  const { way, system } = await connected();
  way.reply = 'is away';
  await system.pass(30_000);
  expect(way.tried.at(-1)?.timestamp).toBeGreaterThan((way.tried[1]?.timestamp ?? 0) + 5000);
});

test('an answer that does not come is not awaited forever', async () => {
  const { way, system } = await connected();
  way.reply = 'does not answer';
  await system.pass(10_000);
  way.reply = 'takes';
  await system.pass(14_000);
  expect(way.arrived).toHaveLength(1);
  await system.pass(2000);
  expect(sequences(way.arrived)).toEqual([1, 2, 3]);
});

test('a refused heartbeat is given up, and the next is sent', async () => {
  const { way, system, problems } = await connected();
  way.reply = new Refused('bad_field: phase');
  await system.pass(10_000);
  way.reply = 'takes';
  await system.pass(10_000);
  expect(sequences(way.arrived)).toEqual([1, 3]);
  expect(problems).toEqual(['a heartbeat was refused, and is given up: bad_field: phase']);
});

test('a heartbeat of a busy gateway is sent again when the gateway has named, and is not lost', async () => {
  const { way, system } = await connected();
  const before = way.tried.length;
  way.reply = new Busy('too_many', 60_000);
  await system.pass(10_000);
  expect(way.tried).toHaveLength(before + 1);
  way.reply = 'takes';
  await system.pass(49_000);
  expect(way.tried).toHaveLength(before + 1);
  await system.pass(12_000);
  expect(sequences(way.arrived).slice(0, 2)).toEqual([1, 2]);
});

test('the pause after failures in a row grows to at most 10 s, half of it random', () => {
  expect([1, 2, 3, 20].map((failures) => backOff(failures, 1))).toEqual([250, 500, 1000, 10_000]);
  expect(backOff(20, 0)).toBe(5000);
});

test('nothing is left waiting when it is closed', async () => {
  const { vigil, system, way } = await connected();
  await system.pass(25_000);
  const closing = vigil.close();
  await settled();
  await closing;
  expect([system.waiting(), way.closed]).toEqual([0, true]);
});
