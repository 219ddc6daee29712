import { type EventOf, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { runProcessor, writer } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { expect, test, vi } from 'vitest';
import { axisOf, countDecided } from './counted.ts';
import { inForceOf, loadPolicies } from './policies.ts';
import { evaluator } from './processor.ts';

const [found] = example(Topic.agentHealth, 'WARRANT_FILED').payload.evidence;
if (!found) throw new Error('the example has no evidence');
const evidence = (signal: string, matched: string | null = null) => ({
  ...found,
  signal,
  matched,
  axis: 'absence' as const,
});

test.each([
  ['regex', [evidence('progress_mismatch'), evidence('pattern_match', 'rate limit')]],
  ['progress_mismatch', [evidence('no_work_update'), evidence('progress_mismatch')]],
  ['absence', [evidence('no_activity')]],
])('a warrant counts as %s', (axis, of) => {
  expect(axisOf({ evidence: of })).toBe(axis);
});

test('each warrant of the log is counted, and no other', async () => {
  let now = EXAMPLE_TIME;
  const log = new MemoryLog({ partitions: 1, now: () => now });
  const policies = inForceOf(loadPolicies(undefined, { fallback: 'vigil', requestable: 'any' }));
  const counted: string[] = [];
  const committed = countDecided((name, by, labels) => counted.push(`${name} ${by} ${Object.values(labels)}`));
  const running = await runProcessor(
    log,
    evaluator(() => policies, 100),
    { ...quiet, partitions: 1, paceMs: 1, onCommitted: committed },
  );
  const crashed = example(Topic.agentObservation, 'AGENT_EXITED', { reason: 'crashed', orderId: null });
  const finished = {
    ...example(Topic.agentObservation, 'AGENT_EXITED', { agentId: 'b', reason: 'finished' }),
    key: 'b',
  };
  await writer(log, () => now).write([crashed, finished]);
  const health = () => log.events(Topic.agentHealth) as readonly EventOf<typeof Topic.agentHealth>[];
  const ended = () => health().filter(({ type }) => type === 'HEALTH_STATE_CHANGED');
  await vi.waitFor(() => expect(ended()).toHaveLength(2), { timeout: 60_000, interval: 5 });
  now += 1000;
  await running.stop();
  const warrants = health().flatMap((event) => (event.type === 'WARRANT_FILED' ? [event.payload] : []));
  expect(warrants).toHaveLength(1);
  const countedWarrants = counted.filter((line) => line.startsWith('warrants'));
  expect(countedWarrants).toEqual(warrants.map((payload) => `warrants 1 ${axisOf(payload)}`));
  const countedChanges = counted.filter((line) => line.startsWith('state_transitions'));
  const changes = health().flatMap((event) => (event.type === 'HEALTH_STATE_CHANGED' ? [event.payload] : []));
  expect(countedChanges).toEqual(changes.map(({ from, to }) => `state_transitions 1 ${from},${to}`));
});

test('each clock that is found to be off is counted, by its direction; its end is not', () => {
  const counted: string[] = [];
  const committed = countDecided((name, by, labels) => counted.push(`${name} ${by} ${Object.values(labels)}`));
  const drifted = (driftMs: number) => example(Topic.agentHealth, 'CLOCK_DRIFTED', { driftMs });
  committed([drifted(45_000), drifted(-45_000), example(Topic.agentHealth, 'CLOCK_DRIFT_ENDED')]);
  expect(counted).toEqual(['clock_drifts 1 behind', 'clock_drifts 1 ahead']);
});

test('what agents spend is counted for each scope; costs that nothing reports are not counted as zero', () => {
  const counted: string[] = [];
  const committed = countDecided((name, by, labels) => counted.push(`${name} ${by} ${Object.values(labels)}`));
  const spent = (tokens: number, usd: number | null) =>
    example(Topic.fleetPresence, 'AGENT_SPENT', { scope: 'day', tokens, usd });
  committed([spent(100, 0.5), spent(7, null)]);
  expect(counted).toEqual(['spent_tokens 100 day', 'spent_usd 0.5 day', 'spent_tokens 7 day']);
});
