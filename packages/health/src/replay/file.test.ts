import { Topic } from '@vigil/events';
import { expect, test } from 'vitest';
import { exportSpan, fileSource } from './file.ts';
import { logSource } from './log-source.ts';
import { EvaluatorOnLog, judgedFleet, presetNamed } from './replay.fixture.ts';
import type { Span } from './source.ts';
import { verify } from './verification.ts';

const ALL: Span = { from: null, to: null, agent: null };
const { signal } = new AbortController();
const fleet = await judgedFleet([presetNamed('vigil')]);
const decidedAt = fleet.log.events(Topic.agentHealth).map(({ occurredAt }) => occurredAt);
const [first, last] = [Math.min(...decidedAt), Math.max(...decidedAt)];
const MIDDLE = Math.round((first + last) / 2);

const exported = async (span: Partial<Span>) => {
  const lines: string[] = [];
  const source = await logSource(fleet.log, { ...ALL, ...span }, () => {});
  const counts = await exportSpan(source, { version: '1.2.3', exportedAt: last }, (line) => lines.push(line), signal);
  return { lines, counts };
};
async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}
const opened = (lines: readonly string[], part: Partial<Span> = {}) =>
  fileSource(each(lines), 'incident.ndjson.gz', { ...ALL, ...part }, () => {});
const verified = async (lines: readonly string[], part: Partial<Span> = {}) =>
  verify(await opened(lines, part), signal);

test('an exported log is verified like the log itself', async () => {
  const { lines, counts } = await exported({});
  const ofLog = await verify(await logSource(fleet.log, ALL, () => {}), signal);
  expect(await verified(lines)).toEqual(ofLog);
  expect(counts).toEqual({ observations: ofLog.observations, decisions: ofLog.decisions, agents: 3 });
});

test('the file of an evaluator that is behind has its position, and newer decisions are not differences', async () => {
  const on = new EvaluatorOnLog(1);
  await on.use(presetNamed('demo'));
  await on.start();
  await on.pass(3, (second) => on.heartbeat('a', second + 1));
  await on.stop();
  await on.pass(20);
  const lines: string[] = [];
  const source = await logSource(on.log, ALL, () => {});
  await exportSpan(source, { version: '1.2.3', exportedAt: last }, (line) => lines.push(line), signal);
  const ofLog = await verify(await logSource(on.log, ALL, () => {}), signal);
  expect(await verified(lines)).toEqual(ofLog);
  expect(ofLog).toMatchObject({ differences: [], newer: expect.toSatisfy((count: number) => count > 0) });
});

test('a span begins with the states of its agents, so its decisions follow without earlier records', async () => {
  const { lines } = await exported({ from: MIDDLE });
  const whole = await exported({});
  expect(lines.length).toBeLessThan(whole.lines.length);
  const inSpan = await verify(await logSource(fleet.log, { ...ALL, from: MIDDLE }, () => {}), signal);
  const { differences, decisions } = await verified(lines);
  expect(differences).toEqual([]);
  expect(decisions).toBe(inSpan.decisions);
  expect(decisions).toBeGreaterThan(0);
});

test('a span of one agent has no observation of another, and the same decisions', async () => {
  const { lines } = await exported({ agent: 'hangs' });
  expect(lines.filter((line) => line.includes('"works'))).toEqual([]);
  const { differences, agents, decisions } = await verified(lines);
  expect({ differences, agents }).toEqual({ differences: [], agents: 1 });
  const { decisions: ofLog } = await verify(await logSource(fleet.log, { ...ALL, agent: 'hangs' }, () => {}), signal);
  expect(decisions).toBe(ofLog);
});

test('a part of an exported span may be compared', async () => {
  const { lines } = await exported({});
  const [before, after] = [await verified(lines, { to: MIDDLE }), await verified(lines, { from: MIDDLE + 1 })];
  expect([before.differences, after.differences]).toEqual([[], []]);
  expect(before.decisions + after.decisions).toBe((await verified(lines)).decisions);
});

test('the first line names the form, the version, the span and the policies', async () => {
  const { lines } = await exported({ from: MIDDLE, to: last });
  const { documents, ...header } = JSON.parse(lines[0] ?? '');
  expect(header).toEqual({
    vigil_replay: 1,
    version: '1.2.3',
    exported_at: new Date(last).toISOString(),
    span: { from: MIDDLE, to: last, agent: null },
    partitions: 2,
  });
  expect(documents.map(({ name }: { name: string }) => name)).toEqual(['demo', 'assign.yaml', 'vigil', 'assign.yaml']);
});

test('a file that is cut off, has another form or is not an exported span is refused with the reason', async () => {
  const { lines } = await exported({});
  await expect(verified(lines.slice(0, -1))).rejects.toThrow(
    /incident\.ndjson\.gz ends after line \d+, before its last/,
  );
  await expect(opened(['{"run_id": "a", "calls": []}'])).rejects.toThrow('its first line has no vigil_replay');
  await expect(opened([])).rejects.toThrow('is not an exported span: its first line is ""');
  await expect(opened(['{"vigil_replay": 2, "version": "9.0.0"}'])).rejects.toThrow(
    'has form 2, and this version of Vigil reads form 1: use Vigil 9.0.0, which wrote it',
  );
  await expect(verified(lines.with(3, '{"kind": '))).rejects.toThrow('incident.ndjson.gz:4: no JSON');
});
