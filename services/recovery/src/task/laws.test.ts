import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { laws } from '@vigil/stream/testing';
import fc from 'fast-check';
import { test } from 'vitest';
import { recovery } from '../processor.ts';
import { health, left, recorded, recoverTask, review, TASK, took, turned } from './story.fixture.ts';

const agent = fc.constantFrom('worker-1', 'worker-1-r1', 'worker-1-r2', 'worker-7');
const outcome = fc.constantFrom(
  'spawned',
  'checkpoint_invalid',
  'not_needed',
  'expired',
  'uncertain',
  'failed',
  'halted',
);
/** Requests and orders are numbered from the first RecoverTask's event id. */
const number = fc.integer({ min: 1, max: 4 }).map((n) => `e1-${n}`);
const oneTry = { failureThreshold: 1, recoveryTimeoutMs: 90_000, halfOpenRequests: 1 };

const inputs = fc.oneof(
  { weight: 3, arbitrary: agent.map((agentId) => took(agentId)) },
  fc.tuple(agent, fc.constantFrom('STUCK', 'FAILING', 'HEALTHY', 'DEGRADED')).map(([one, to]) => turned(one, to)),
  fc.tuple(agent, fc.constantFrom('finished', 'crashed')).map(([one, end]) => left(one, end)),
  agent.map((agentId) => health({ agentId, instanceId: `${agentId}.i2`, hold: 'took' })),
  fc
    .tuple(agent, fc.constantFrom('STUCK', 'HEALTHY'))
    .map(([agentId, to]) => health({ agentId, instanceId: `${agentId}.i1`, to, emitHealthcheck: true })),
  fc.constantFrom('c1', 'c2', 'c3').map((id) => recorded(id)),
  fc.constantFrom('retry', 'abandon', 'reset').map((decision) => review(decision)),
  {
    weight: 4,
    arbitrary: fc
      .record({
        agentId: agent,
        immediate: fc.boolean(),
        confirmed: fc.boolean(),
        emit: fc.boolean(),
        trial: fc.boolean(),
      })
      .map(({ agentId, immediate, confirmed, emit, trial }) => ({
        ...recoverTask(
          { agentId, instanceId: `${agentId}.i1`, immediate, confirmed, by: immediate ? 'ada' : null },
          {
            emitHealthcheck: emit,
            onProbationFailure: trial ? 'review' : 'retry',
            ...(trial ? { breaker: oneTry } : {}),
          },
        ),
        eventId: 'e1',
      })),
  },
  {
    weight: 4,
    arbitrary: number.map((requestId) =>
      example(Topic.spawnRuling, 'SPAWN_ADMITTED', {
        taskId: TASK,
        requestId,
        validUntil: 2_000_000_000_000,
        dryRun: false,
      }),
    ),
  },
  number.map((requestId) => example(Topic.spawnRuling, 'SPAWN_WITHHELD', { taskId: TASK, requestId })),
  fc
    .tuple(number, outcome, fc.constantFrom('c1', 'c2', null))
    .map(([orderId, how, checkpointId]) =>
      example(Topic.spawnReceipt, 'SPAWN_RECEIPT', { taskId: TASK, orderId, outcome: how, checkpointId, skipped: [] }),
    ),
);

test('recovery obeys the laws of deciders', () => laws(recovery, inputs, { runs: 1500 }), 30_000);
