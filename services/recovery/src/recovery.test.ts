import { expect, test } from 'vitest';
import {
  admit,
  find,
  health,
  left,
  openStory,
  receipt,
  recorded,
  recoverTask,
  review,
  revive,
  start,
  task,
  took,
  turned,
  types,
  withhold,
} from './story.fixture.ts';

const died = (agentId: string) => recoverTask({ agentId, instanceId: `${agentId}.i1`, reason: 'crashed' });

test('a confirmed death is asked for at once, ordered when admitted, and completed by the first heartbeat of the new agent', () => {
  const story = openStory();
  story.tell(recorded('c1'));
  const asked = story.tell(recoverTask());
  expect(asked).toMatchObject([
    {
      type: 'ADMIT_SPAWN',
      key: 'fleet',
      payload: {
        requestId: 'e2-1',
        taskId: task,
        attempt: 1,
        newAgentId: 'worker-1-r1',
        preferRuntimeId: 'host-1',
        notRuntimeIds: [],
      },
    },
  ]);
  expect(admit(story)).toMatchObject([
    {
      type: 'RECOVERY_INITIATED',
      key: task,
      payload: {
        taskId: task,
        fromCheckpoint: 'c1',
        attempt: 1,
        of: 3,
        newAgentId: 'worker-1-r1',
        deadAgentId: 'worker-1',
        orderId: 'e2-1',
        runtimeId: 'host-1',
        skipped: [],
      },
    },
    {
      type: 'SPAWN_AGENT',
      key: 'worker-1-r1',
      payload: {
        orderId: 'e2-1',
        number: 0,
        agentId: 'worker-1-r1',
        attempt: 1,
        maxAttempts: 3,
        ttlMs: 120_000,
        deadInstanceId: 'worker-1.i1',
      },
    },
  ]);
  expect(receipt(story, { outcome: 'spawned' })).toEqual([]);
  expect(story.tell(took('worker-1-r1'))).toMatchObject([
    {
      type: 'RECOVERY_COMPLETED',
      payload: { taskId: task, newAgentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1', attempt: 1 },
    },
  ]);
});

test('a death that nobody has confirmed recovers nothing, unless a person asks', () => {
  const story = openStory();
  expect(story.tell(recoverTask({ confirmed: false }))).toEqual([]);
  expect(types(story.tell(recoverTask({ confirmed: false, by: 'ada', immediate: true })))).toEqual(['ADMIT_SPAWN']);
});

test('a person’s word is not enough while the agent of that name is known to hold the task', () => {
  const story = openStory();
  story.tell(took('worker-1'));
  expect(story.tell(recoverTask({ confirmed: false, by: 'ada', immediate: true }))).toEqual([]);
  expect(story.state().situation.is).toBe('idle');
});

test('the same dead instance is recovered once, however often it is reported', () => {
  const story = openStory();
  story.tell(recoverTask());
  expect(story.tell(recoverTask())).toEqual([]);
  admit(story);
  expect(story.tell(recoverTask())).toEqual([]);
  story.tell(took('worker-1-r1'));
  expect(story.tell(recoverTask())).toEqual([]);
  expect(story.state().attempts).toBe(1);
});

test('an agent that crashes each time gets three attempts with back-off; the fourth death goes to people, once', () => {
  const story = openStory();
  story.tell(died('worker-1'));
  admit(story);
  story.tell(took('worker-1-r1'));
  story.tell(left('worker-1-r1', 'crashed'));
  expect(story.tell(died('worker-1-r1'))).toEqual([]);
  expect(story.wait(59_999)).toEqual([]);
  expect(types(story.wait(1))).toEqual(['ADMIT_SPAWN']);
  expect(find(admit(story), 'RECOVERY_INITIATED')).toMatchObject({
    attempt: 2,
    of: 3,
    newAgentId: 'worker-1-r2',
    deadAgentId: 'worker-1-r1',
  });
  story.tell(took('worker-1-r2'));
  expect(story.tell(died('worker-1-r2'))).toEqual([]);
  story.tell(left('worker-1-r2', 'crashed'));
  expect(types(story.wait(120_000))).toEqual(['ADMIT_SPAWN']);
  expect(find(admit(story), 'RECOVERY_INITIATED')).toMatchObject({ attempt: 3, newAgentId: 'worker-1-r3' });
  story.tell(took('worker-1-r3'));
  const over = story.tell(died('worker-1-r3'));
  expect(types(over)).toEqual(['CIRCUIT_BREAKER_STATE_CHANGED', 'RECOVERY_FAILED', 'REVIEW_REQUIRED']);
  expect(find(over, 'CIRCUIT_BREAKER_STATE_CHANGED')).toMatchObject({
    name: 'recovery_attempt',
    from: 'CLOSED',
    to: 'OPEN',
    failures: 3,
  });
  expect(find(over, 'RECOVERY_FAILED')).toEqual({ taskId: task, reason: '3 of 3 attempts used: crashed', attempts: 3 });
  expect(find(over, 'REVIEW_REQUIRED')).toMatchObject({ taskId: task, attempts: 3, agentId: 'worker-1-r3' });
  expect(story.tell(left('worker-1-r3', 'crashed'))).toEqual([]);
  expect(story.tell(died('worker-1-r3'))).toEqual([]);
  expect(story.wait(86_400_000)).toEqual([]);
});

test('a heartbeat at the spawn deadline is in time; a moment later the attempt has failed and the next one waits its back-off', () => {
  const inTime = openStory();
  inTime.tell(recoverTask());
  admit(inTime);
  inTime.wait(120_000);
  expect(types(inTime.tell(took('worker-1-r1')))).toEqual(['RECOVERY_COMPLETED']);
  const late = openStory();
  late.tell(recoverTask());
  admit(late);
  expect(late.wait(120_000 + 59_999)).toEqual([]);
  const asked = late.wait(1);
  expect(find(asked, 'ADMIT_SPAWN')).toMatchObject({
    attempt: 2,
    newAgentId: 'worker-1-r2',
    notRuntimeIds: ['host-1'],
  });
});

test('an attempt that was given up and lives after all goes on, and no second one is spawned', () => {
  const story = openStory();
  story.tell(recoverTask());
  admit(story);
  story.wait(150_000);
  expect(story.tell(took('worker-1-r1'))).toMatchObject([
    { type: 'RECOVERY_COMPLETED', payload: { newAgentId: 'worker-1-r1', attempt: 1 } },
  ]);
  expect(story.wait(600_000)).toEqual([]);
});

test('of two attempts alive the lower is ended, once', () => {
  const story = openStory();
  story.tell(recoverTask());
  admit(story);
  story.wait(180_000);
  admit(story);
  expect(story.tell(took('worker-1-r1'))).toEqual([]);
  const said = story.tell(took('worker-1-r2'));
  expect(types(said)).toEqual(['RECOVERY_COMPLETED', 'REQUEST_STEP']);
  expect(find(said, 'REQUEST_STEP')).toMatchObject({
    agentId: 'worker-1-r1',
    instanceId: 'worker-1-r1.i1',
    step: 'terminate',
    by: 'recovery',
  });
  expect(story.tell(turned('worker-1-r1', 'STUCK'))).toEqual([]);
  story.tell(left('worker-1-r1', 'crashed'));
  expect(story.tell(died('worker-1-r1'))).toEqual([]);
  expect(story.state().situation).toMatchObject({ is: 'probation', failing: null });
});

test('another live holder keeps the task', () => {
  const story = openStory();
  story.tell(took('worker-7'));
  expect(story.tell(recoverTask())).toMatchObject([
    { type: 'TASK_RELEASED', payload: { why: 'reassigned', detail: 'held by worker-7' } },
  ]);
});

test('the dead instance is no holder, whichever topic tells of its end first; a new life of the same agent is', () => {
  const story = openStory();
  story.tell(took('worker-1'));
  expect(types(story.tell(recoverTask()))).toEqual(['ADMIT_SPAWN']);
  expect(story.tell(turned('worker-1', 'STUCK'))).toEqual([]);
  expect(types(story.tell(health({ instanceId: 'worker-1.i2', hold: 'took' })))).toEqual(['TASK_RELEASED']);
});

test('somebody who takes the task between the request and its admission keeps it: nothing is spawned', () => {
  const story = openStory();
  story.tell(recoverTask());
  expect(types(story.tell(took('worker-7')))).toEqual(['TASK_RELEASED']);
  expect(admit(story, { requestId: 'e1-1' })).toEqual([]);
});

test('a withheld spawn is asked for again, ever more slowly, and counts no attempt', () => {
  const story = openStory();
  story.tell(recoverTask());
  const waits = [5_000, 10_000, 20_000, 60_000, 60_000];
  waits.forEach((wait, at) => {
    withhold(story);
    expect(story.wait(wait - 1)).toEqual([]);
    expect(find(story.wait(1), 'ADMIT_SPAWN')).toMatchObject({ requestId: `e1-${at + 2}`, attempt: 1 });
  });
});

test('an admission is used up to the moment it is valid until, and not after it; nor is one of a dry run', () => {
  const valid = openStory();
  valid.tell(recoverTask());
  expect(types(admit(valid, { validUntil: start }))).toEqual(['RECOVERY_INITIATED', 'SPAWN_AGENT']);
  for (const ruling of [{ validUntil: start - 1 }, { dryRun: true }]) {
    const story = openStory();
    story.tell(recoverTask());
    expect(admit(story, ruling)).toEqual([]);
    expect(types(story.wait(5_000))).toEqual(['ADMIT_SPAWN']);
  }
});

test('a ruling on an older request changes nothing', () => {
  const story = openStory();
  story.tell(recoverTask());
  withhold(story);
  story.wait(5_000);
  expect(admit(story, { requestId: 'e1-1' })).toEqual([]);
  expect(types(admit(story))).toEqual(['RECOVERY_INITIATED', 'SPAWN_AGENT']);
});

test.each(['failed', 'expired', 'superseded'] as const)(
  'a spawn that is %s is an attempt spent; its receipt twice is one',
  (outcome) => {
    const story = openStory();
    story.tell(recoverTask());
    admit(story);
    expect(receipt(story, { outcome })).toEqual([]);
    expect(receipt(story, { outcome })).toEqual([]);
    expect(find(story.wait(60_000), 'ADMIT_SPAWN')).toMatchObject({ attempt: 2, notRuntimeIds: ['host-1'] });
    withhold(story, 'no_runtime');
    expect(find(story.wait(5_000), 'ADMIT_SPAWN')).toMatchObject({ notRuntimeIds: [] });
  },
);

test('an uncertain spawn waits for the deadline; a late receipt of an older order changes nothing', () => {
  const story = openStory();
  story.tell(recoverTask());
  admit(story);
  expect(receipt(story, { outcome: 'uncertain' })).toEqual([]);
  expect(story.state().situation.is).toBe('spawning');
  story.wait(180_000);
  admit(story);
  expect(receipt(story, { outcome: 'failed', orderId: 'e1-1' })).toEqual([]);
  expect(story.state().situation).toMatchObject({ is: 'spawning', failed: null });
});

test('a task that needs nothing any more is released', () => {
  const story = openStory();
  story.tell(recoverTask());
  admit(story);
  expect(receipt(story, { outcome: 'not_needed', why: 'closed' })).toMatchObject([
    { type: 'TASK_RELEASED', payload: { why: 'not_needed', detail: 'closed' } },
  ]);
});

test('a finished attempt releases the task, and its count begins anew', () => {
  const story = openStory();
  story.tell(recoverTask());
  revive(story, 1);
  expect(story.tell(left('worker-1-r1', 'finished'))).toMatchObject([
    { type: 'TASK_RELEASED', payload: { why: 'finished' } },
  ]);
  expect(story.state()).toMatchObject({ attempts: 0, serial: 1, situation: { is: 'idle' } });
});

test('a person who asks skips the back-off, also one that has begun, but not the count', () => {
  const story = openStory();
  story.tell(recoverTask());
  revive(story, 1);
  story.tell(died('worker-1-r1'));
  const asked = story.tell(
    recoverTask({ agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1', immediate: true, by: 'ada' }),
  );
  expect(find(asked, 'ADMIT_SPAWN')).toMatchObject({ attempt: 2 });
});

test('an open breaker lets nothing through until its timeout is over, then one trial', () => {
  const one = { failureThreshold: 1, recoveryTimeoutMs: 90_000, halfOpenRequests: 1 };
  const story = openStory();
  story.tell(recoverTask({}, { breaker: one, delaysMs: [0] }));
  admit(story);
  expect(types(receipt(story, { outcome: 'failed' }))).toEqual(['CIRCUIT_BREAKER_STATE_CHANGED']);
  expect(story.wait(89_999)).toEqual([]);
  expect(story.wait(1)).toMatchObject([{ payload: { from: 'OPEN', to: 'HALF_OPEN' } }, { type: 'ADMIT_SPAWN' }]);
  admit(story);
  story.tell(took('worker-1-r2'));
  expect(story.wait(900_000)).toMatchObject([
    { type: 'PROBATION_PASSED' },
    { payload: { from: 'HALF_OPEN', to: 'CLOSED' } },
  ]);
});

test('a task whose settings cannot be read is refused with the remedy', () => {
  const story = openStory();
  expect(() => story.tell(recoverTask({ recovery: '{}' }))).toThrow(
    /RecoverTask of OMN-1234 .* Send the policy's recovery section/s,
  );
});

test('decisions of people on a task that is not in review change nothing', () => {
  const story = openStory();
  story.tell(recoverTask());
  expect(story.tell(review('abandon'))).toEqual([]);
  expect(story.state().situation.is).toBe('asking');
});

test('an agent without an instance id is dead as an agent, whatever life task-health still shows', () => {
  const story = openStory();
  story.tell(took('worker-1'));
  expect(types(story.tell(recoverTask({ instanceId: null })))).toEqual(['ADMIT_SPAWN']);
});
