import { type EventOf, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { runProcessor, writer } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { expect, test, vi } from 'vitest';
import { inForceOf, loadPolicies } from './policies.ts';
import { axisOf, countFindings, evaluator } from './processor.ts';

const [found] = example(Topic.agentHealth, 'WARRANT_FILED').payload.evidence;
if (!found) throw new Error('the example has no evidence');
const evidence = (signal: string, matched: string | null = null) => ({ ...found, signal, matched });

test.each([
  ['regex', [evidence('progress_mismatch'), evidence('pattern_match', 'rate limit')]],
  ['progress_mismatch', [evidence('no_work_update'), evidence('progress_mismatch')]],
  ['absence', [evidence('no_activity')]],
])('a warrant counts as %s', (axis, of) => {
  expect(axisOf({ evidence: of, axes: ['absence', 'fact'] })).toBe(axis);
});

test('each warrant of the log is counted, and no other', async () => {
  let now = EXAMPLE_TIME;
  const log = new MemoryLog({ partitions: 1, now: () => now });
  const policies = inForceOf(loadPolicies(undefined, { fallback: 'vigil', requestable: 'any' }));
  const counted: string[] = [];
  const committed = countFindings((name, by, of) => counted.push(`${name} ${by} ${of}`));
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
  expect(counted).toEqual(warrants.map((payload) => `warrants 1 ${axisOf(payload)}`));
});

test('each clock that is found to be off is counted, by its direction; its end is not', () => {
  const counted: string[] = [];
  const committed = countFindings((name, by, of) => counted.push(`${name} ${by} ${of}`));
  const drifted = (driftMs: number) => example(Topic.agentHealth, 'CLOCK_DRIFTED', { driftMs });
  committed([drifted(45_000), drifted(-45_000), example(Topic.agentHealth, 'CLOCK_DRIFT_ENDED')]);
  expect(counted).toEqual(['clock_drifts 1 behind', 'clock_drifts 1 ahead']);
});
