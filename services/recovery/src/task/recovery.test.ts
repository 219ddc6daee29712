import { utcTime } from '@vigil/policy';
import { expect, test } from 'vitest';
import {
  admit,
  find,
  left,
  openStory,
  receipt,
  recorded,
  recoverTask,
  review,
  revive,
  settings,
  start,
  TASK,
  took,
  types,
  withhold,
} from './story.fixture.ts';

const died = (agentId: string) => recoverTask({ agentId, instanceId: `${agentId}.i1`, reason: 'crashed' });

test('a confirmed death leads to a request at once, to an order when admitted, and is completed by the first heartbeat of the new agent', () => {
  const story = openStory();
  story.receive(recorded('c1'));
  const asked = story.receive(recoverTask());
  expect(asked).toMatchObject([
    {
      type: 'ADMIT_SPAWN',
      key: 'fleet',
      payload: {
        requestId: 'e2-1',
        taskId: TASK,
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
      key: TASK,
      payload: {
        taskId: TASK,
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
        ttlMs: 60_000,
        deadInstanceId: 'worker-1.i1',
      },
    },
  ]);
  expect(receipt(story, { outcome: 'spawned' })).toEqual([]);
  expect(story.receive(took('worker-1-r1'))).toMatchObject([
    {
      type: 'RECOVERY_COMPLETED',
      payload: { taskId: TASK, newAgentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1', attempt: 1 },
    },
  ]);
});

test('an unconfirmed death recovers nothing, unless a person requests it', () => {
  const story = openStory();
  expect(story.receive(recoverTask({ confirmed: false }))).toEqual([]);
  expect(types(story.receive(recoverTask({ confirmed: false, by: 'ada', immediate: true })))).toEqual(['ADMIT_SPAWN']);
});

test('the same dead instance is recovered once, however often it is reported', () => {
  const story = openStory();
  story.receive(recoverTask());
  expect(story.receive(recoverTask())).toEqual([]);
  admit(story);
  expect(story.receive(recoverTask())).toEqual([]);
  story.receive(took('worker-1-r1'));
  expect(story.receive(recoverTask())).toEqual([]);
  expect(story.state().attempts).toBe(1);
});

test('an agent that crashes each time gets three attempts with back-off; the fourth death goes to people, once', () => {
  const story = openStory();
  story.receive(died('worker-1'));
  admit(story);
  story.receive(took('worker-1-r1'));
  story.receive(left('worker-1-r1', 'crashed'));
  expect(story.receive(died('worker-1-r1'))).toEqual([]);
  expect(story.wait(59_999)).toEqual([]);
  expect(types(story.wait(1))).toEqual(['ADMIT_SPAWN']);
  expect(find(admit(story), 'RECOVERY_INITIATED')).toMatchObject({
    attempt: 2,
    of: 3,
    newAgentId: 'worker-1-r2',
    deadAgentId: 'worker-1-r1',
  });
  story.receive(took('worker-1-r2'));
  expect(story.receive(died('worker-1-r2'))).toEqual([]);
  story.receive(left('worker-1-r2', 'crashed'));
  expect(types(story.wait(120_000))).toEqual(['ADMIT_SPAWN']);
  expect(find(admit(story), 'RECOVERY_INITIATED')).toMatchObject({ attempt: 3, newAgentId: 'worker-1-r3' });
  story.receive(took('worker-1-r3'));
  const over = story.receive(died('worker-1-r3'));
  expect(types(over)).toEqual(['CIRCUIT_BREAKER_STATE_CHANGED', 'RECOVERY_FAILED', 'REVIEW_REQUIRED']);
  expect(find(over, 'CIRCUIT_BREAKER_STATE_CHANGED')).toMatchObject({
    name: 'recovery_attempt',
    from: 'CLOSED',
    to: 'OPEN',
    failures: 3,
  });
  expect(find(over, 'RECOVERY_FAILED')).toEqual({ taskId: TASK, reason: '3 of 3 attempts used: crashed', attempts: 3 });
  expect(find(over, 'REVIEW_REQUIRED')).toMatchObject({ taskId: TASK, attempts: 3, agentId: 'worker-1-r3' });
  expect(story.receive(left('worker-1-r3', 'crashed'))).toEqual([]);
  expect(story.receive(died('worker-1-r3'))).toEqual([]);
  expect(story.wait(86_400_000)).toEqual([]);
});

test.each([
  ['no call for 9 min; limit 6 min', true],
  ['ended: crashed', false],
])(
  'the review of used-up attempts has whether the last agent ended by itself, which no words of its reason decide: %s, %s',
  (reason, endedByItself) => {
    const story = openStory();
    story.receive(recoverTask({}, { maxAttempts: 1 }));
    admit(story);
    story.receive(took('worker-1-r1'));
    const of = { agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1' };
    const over = story.receive(recoverTask({ ...of, reason, endedByItself }, { maxAttempts: 1 }));
    expect(find(over, 'REVIEW_REQUIRED')).toMatchObject({ of: 1, endedByItself });
  },
);

test('a heartbeat at the spawn deadline is in time; a moment later the attempt has failed and the next one waits for its back-off', () => {
  const inTime = openStory();
  inTime.receive(recoverTask());
  admit(inTime);
  inTime.wait(120_000);
  expect(types(inTime.receive(took('worker-1-r1')))).toEqual(['RECOVERY_COMPLETED']);
  const late = openStory();
  late.receive(recoverTask());
  admit(late);
  expect(late.wait(120_000 + 59_999)).toEqual([]);
  const asked = late.wait(1);
  expect(find(asked, 'ADMIT_SPAWN')).toMatchObject({
    attempt: 2,
    newAgentId: 'worker-1-r2',
    notRuntimeIds: ['host-1'],
  });
});

test('a finished attempt releases the task, and its count starts again', () => {
  const story = openStory();
  story.receive(recoverTask());
  revive(story, 1);
  expect(story.receive(left('worker-1-r1', 'finished'))).toMatchObject([
    { type: 'TASK_RELEASED', payload: { why: 'finished' } },
  ]);
  expect(story.state()).toMatchObject({ attempts: 0, serial: 1, situation: { kind: 'idle' } });
});

test('a person’s request skips the back-off, also one that has begun, but not the count', () => {
  const story = openStory();
  story.receive(recoverTask());
  revive(story, 1);
  story.receive(died('worker-1-r1'));
  const asked = story.receive(
    recoverTask({ agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1', immediate: true, by: 'ada' }),
  );
  expect(find(asked, 'ADMIT_SPAWN')).toMatchObject({ attempt: 2 });
});

test('a task whose settings cannot be read is refused with the remedy', () => {
  const story = openStory();
  expect(() => story.receive(recoverTask({ recovery: { ...settings, maxAttempts: 0 } }))).toThrow(
    /RecoverTask of OMN-1234 .* Send the policy's recovery section/s,
  );
});

test('a decision of people on a task that is not in review is refused with the reason, and changes nothing', () => {
  const story = openStory();
  story.receive(recoverTask());
  expect(story.receive(review('abandon'))).toMatchObject([
    { type: 'RECOVERY_REFUSED', payload: { by: 'ada', reason: expect.stringContaining('the task is not in review') } },
  ]);
  expect(story.state().situation.kind).toBe('requesting');
});

const MINUTE = 60_000;
const limitedFor = (ms: number, more: object = {}) =>
  recoverTask({ notBefore: start + ms, reason: 'crashed', ...more });

test('the task of an agent that crashed at a limit is recovered when the limit ends, and no attempt is used until then', () => {
  const story = openStory();
  expect(story.receive(limitedFor(180 * MINUTE))).toMatchObject([
    {
      type: 'RECOVERY_WAITING',
      payload: {
        taskId: TASK,
        reason: `worker-1 had reached a limit that holds until ${utcTime(start + 180 * MINUTE)}`,
        refusals: 0,
      },
    },
  ]);
  expect(story.wait(180 * MINUTE - 1)).toEqual([]);
  expect(story.state().attempts).toBe(0);
  expect(story.wait(1)).toMatchObject([{ type: 'ADMIT_SPAWN', payload: { attempt: 1 } }]);
});

test('a limit that ends before the back-off changes nothing, and neither does one in the past', () => {
  expect(types(openStory().receive(limitedFor(0)))).toEqual(['ADMIT_SPAWN']);
  const story = openStory();
  story.receive(recoverTask());
  revive(story, 1);
  const again = { agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1', notBefore: story.now() + 59_999 };
  expect(types(story.receive(recoverTask(again)))).not.toContain('RECOVERY_WAITING');
  expect(types(story.wait(59_999))).toEqual([]);
  expect(types(story.wait(1))).toEqual(['ADMIT_SPAWN']);
});

test('recovery waits for a limit for a day at most', () => {
  const story = openStory();
  story.receive(limitedFor(7 * 24 * 60 * MINUTE));
  expect(types(story.wait(24 * 60 * MINUTE - 1))).toEqual([]);
  expect(types(story.wait(1))).toEqual(['ADMIT_SPAWN']);
});

test('a policy may allow a longer or a shorter wait, or none; without a setting, a request waits for a day', () => {
  const waits = (recovery: object) => {
    const story = openStory();
    story.receive(limitedFor(7 * 24 * 60 * MINUTE, { recovery: { ...settings, ...recovery } }));
    return (ms: number) => types(story.wait(ms));
  };
  for (const [recovery, longest] of [
    [{ limitWaitMs: 5 * MINUTE }, 5 * MINUTE],
    [{ limitWaitMs: 3 * 24 * 60 * MINUTE }, 3 * 24 * 60 * MINUTE],
    [{}, 24 * 60 * MINUTE],
  ] as const) {
    const wait = waits(recovery);
    expect(wait(longest - 1)).toEqual([]);
    expect(wait(1)).toEqual(['ADMIT_SPAWN']);
  }
  const none = { ...settings, limitWaitMs: 0 };
  expect(types(openStory().receive(limitedFor(MINUTE, { recovery: none })))).toEqual(['ADMIT_SPAWN']);
});

test('a person’s request does not wait for a limit, also during such a wait', () => {
  expect(types(openStory().receive(limitedFor(180 * MINUTE, { by: 'ada', immediate: true })))).toEqual(['ADMIT_SPAWN']);
  const story = openStory();
  story.receive(limitedFor(180 * MINUTE));
  expect(types(story.receive(recoverTask({ by: 'ada', immediate: true })))).toEqual(['ADMIT_SPAWN']);
});

test('refusals after a limit are announced as those without one', () => {
  const story = openStory();
  story.receive(limitedFor(180 * MINUTE));
  story.wait(180 * MINUTE);
  const emitted: string[] = [];
  for (let times = 1; times <= 5; times += 1) {
    emitted.push(...types(withhold(story)));
    emitted.push(...types(story.wait(MINUTE)));
  }
  expect(emitted.filter((type) => type === 'RECOVERY_WAITING')).toEqual(['RECOVERY_WAITING']);
});
