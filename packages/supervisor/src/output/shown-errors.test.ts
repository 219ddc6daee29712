import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Supervised } from '../agent/agent-instance.ts';
import { errorsShown, noHeartbeats } from '../heartbeat/heartbeat.ts';
import { liveOn, type Stage, scriptSpec, setStage } from '../testing/stage.ts';
import { OutputReader } from './output-reader.ts';
import { compilePatterns, defaultPatterns } from './patterns.ts';

let stage: Stage;
let instance: Supervised | null = null;
beforeEach(async () => {
  stage = await setStage();
});
afterEach(async () => {
  await instance?.end('the test is over', 0).then(() => instance?.settled);
  instance = null;
  await stage.close();
});

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });

test('under a policy without error patterns, what the terminal shows is reported once, and leads to no finding', async () => {
  const { gateway } = stage;
  gateway.policies.set('botbox', { policy: 'botbox', signals: { repeated_error: { times: 5 } } });
  gateway.assigned = { name: 'botbox', hash: 'h' };
  const script = 'echo ready; read go; for i in 1 2 3; do echo "Error: no such table, try $i"; done; sleep 600';
  instance = await liveOn(stage, scriptSpec(script), 80, () => {});
  await until(() => expect(gateway.heartbeats.at(-1)?.output?.lines).toBe(1));
  instance.terminal.write('\n');
  const outputs = () => gateway.heartbeats.flatMap(({ output }) => (output === null ? [] : [output]));
  const shown = () => outputs().flatMap(({ shown_errors }) => shown_errors);
  await until(() => expect(shown().reduce((sum, { count }) => sum + count, 0)).toBe(3));
  expect(shown().at(-1)).toMatchObject({ kind: 'error', message: 'Error: no such table, try 3' });
  const { length } = gateway.heartbeats;
  await until(() => expect(gateway.heartbeats.length).toBeGreaterThan(length + 2));
  expect(shown().reduce((sum, { count }) => sum + count, 0)).toBe(3);
  expect(outputs().flatMap(({ matched_patterns: matched }) => matched)).toEqual([]);
});

test('a line is an error by the template’s patterns, a fatal one by its fatal patterns, and another line is none', () => {
  const patterns = compilePatterns({ ...defaultPatterns, fatal: ['out of memory'] });
  const reader = new OutputReader(patterns, 0);
  const { errors } = reader.write('all is well\n  Error: x\r\nError: out of memory\n', 7);
  expect(errors).toEqual([
    { kind: 'error', message: 'Error: x', at: 7, count: 1 },
    { kind: 'fatal', message: 'Error: out of memory', at: 7, count: 1 },
  ]);
});

test('a text that Vigil sent is not an error of the agent, and of a long line 200 characters are reported', () => {
  const reader = new OutputReader(compilePatterns(defaultPatterns), 0);
  reader.sent('your last error has been seen');
  const { errors } = reader.write(`your last error has been seen\nerror ${'x'.repeat(300)}\n`, 7);
  expect(errors.map(({ message }) => message.length)).toEqual([200]);
});

test('lines that differ in figures only count as one error, and a heartbeat carries the eight newest', () => {
  const shown = (message: string, at: number) => ({ kind: 'error', message, at, count: 1 });
  const same = errorsShown(errorsShown(noHeartbeats, [shown('error 1', 1), shown('other', 2)]), [shown('error 2', 3)]);
  expect(same.shownErrors).toEqual([shown('other', 2), { ...shown('error 2', 3), count: 2 }]);
  const many = errorsShown(
    noHeartbeats,
    ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name, at) => shown(name, at)),
  );
  expect(many.shownErrors.map(({ message }) => message).join('')).toBe('bcdefghi');
});
