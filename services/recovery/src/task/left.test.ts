import { describe, expect, test } from 'vitest';
import {
  admit,
  find,
  health,
  left,
  openStory,
  recoverTask,
  type Story,
  TASK,
  took,
  types,
  withhold,
} from './story.fixture.ts';

const MINUTE = 60_000;
const died = (agentId: string, instanceId = `${agentId}.i1`) => recoverTask({ agentId, instanceId, reason: 'crashed' });
const givesBack = (agentId: string) => health({ agentId, instanceId: `${agentId}.i1`, hold: 'left' });
const turnedStuck = (agentId: string) => health({ agentId, instanceId: `${agentId}.i1`, to: 'STUCK' });
const stopped = (agentId: string) =>
  health({ agentId, instanceId: `${agentId}.i1`, hold: 'left', to: 'TERMINATED', endReason: 'explicit' });

/** How long the replacement of worker-1 is alive. */
const replacement = (ms: number, onProbationFailure: 'retry' | 'review' = 'retry'): Story => {
  const story = openStory();
  story.receive(recoverTask({}, { onProbationFailure }));
  admit(story);
  story.receive(took('worker-1-r1'));
  story.wait(ms);
  return story;
};

test.each([
  ['gives the task back on probation', 0, givesBack],
  ['is stopped on probation', 0, stopped],
  ['gives the task back after it', 15 * MINUTE, givesBack],
  ['is stopped after it', 15 * MINUTE, stopped],
])('where the replacement %s, the death of the next assignee is acted on, once', (_, ms, leaves) => {
  const story = replacement(ms);
  story.receive(leaves('worker-1-r1'));
  story.receive(took('worker-7'));
  story.receive(left('worker-7', 'crashed'));
  const emitted = [...story.receive(died('worker-7')), ...story.wait(MINUTE)];
  expect(find(emitted, 'ADMIT_SPAWN')).toMatchObject({ attempt: 2, newAgentId: 'worker-7-r2' });
  expect(story.receive(died('worker-7'))).toEqual([]);
  expect(types(admit(story))).toEqual(['RECOVERY_INITIATED', 'SPAWN_AGENT']);
  expect(story.receive(died('worker-7'))).toEqual([]);
});

test('a person’s request then waits for no back-off', () => {
  const story = replacement(15 * MINUTE);
  story.receive(givesBack('worker-1-r1'));
  story.receive(took('worker-7'));
  const asked = recoverTask({ agentId: 'worker-7', instanceId: 'worker-7.i1', immediate: true, by: 'ada' });
  expect(types(story.receive(asked))).toEqual(['ADMIT_SPAWN']);
});

test('attempts belong to the task: with them spent, the death of the next assignee goes to people', () => {
  const story = replacement(15 * MINUTE);
  for (const n of [2, 3]) {
    story.receive(died(`worker-1-r${n - 1}`));
    story.wait(5 * MINUTE);
    admit(story);
    story.receive(took(`worker-1-r${n}`));
  }
  story.receive(givesBack('worker-1-r3'));
  story.receive(took('worker-7'));
  expect(find(story.receive(died('worker-7')), 'REVIEW_REQUIRED')).toMatchObject({ taskId: TASK, attempts: 3 });
});

test('nothing is spawned while the replacement or any other agent has the task', () => {
  const beside = replacement(15 * MINUTE);
  beside.receive(took('worker-7'));
  expect(beside.receive(died('worker-7'))).toEqual([]);
  const after = replacement(15 * MINUTE);
  after.receive(givesBack('worker-1-r1'));
  after.receive(took('worker-7'));
  after.receive(took('worker-8'));
  expect(after.receive(died('worker-7'))).toMatchObject([
    { type: 'TASK_RELEASED', payload: { why: 'reassigned', detail: 'held by worker-8' } },
  ]);
});

test('where another agent finishes what the replacement has left, or works on it, the task is released', () => {
  const story = replacement(15 * MINUTE);
  story.receive(givesBack('worker-1-r1'));
  story.receive(took('worker-7'));
  expect(story.receive(left('worker-7', 'finished'))).toMatchObject([
    { type: 'TASK_RELEASED', payload: { why: 'finished' } },
  ]);
  const beside = replacement(15 * MINUTE);
  beside.receive(took('worker-7'));
  expect(beside.receive(left('worker-7', 'finished'))).toMatchObject([
    {
      type: 'TASK_RELEASED',
      payload: { why: 'reassigned', detail: 'worker-7 has finished it, and worker-1-r1 works on it' },
    },
  ]);
});

describe('a task that the agent which was taken for dead finishes', () => {
  const lost = health({ hold: 'left', to: 'TERMINATED', endReason: 'lost' });
  const finishes = health({ hold: 'left', to: 'TERMINATED', endReason: 'finished' });
  const spawning = (): Story => {
    const story = openStory();
    story.receive(took('worker-1'));
    story.receive(lost);
    story.receive(recoverTask());
    admit(story);
    return story;
  };
  const released = { why: 'reassigned', detail: 'worker-1 has finished it, and worker-1-r1 works on it' };

  test.each([
    ['on its probation', 0],
    ['after it', 15 * MINUTE],
  ])('while its replacement works %s is released, and is not done again when that one crashes', (_, ms) => {
    for (const isReported of [true, false]) {
      const story = spawning();
      story.receive(took('worker-1-r1'));
      story.wait(ms);
      if (isReported) story.receive(took('worker-1'));
      expect(find(story.receive(finishes), 'TASK_RELEASED')).toMatchObject(released);
      story.receive(left('worker-1-r1', 'crashed'));
      expect(story.receive(died('worker-1-r1'))).toEqual([]);
      expect(types(story.wait(60 * MINUTE))).not.toContain('ADMIT_SPAWN');
    }
  });

  test('while a spawn is out is not done again when that attempt begins, and crashes', () => {
    const story = spawning();
    expect(types(story.receive(finishes))).toEqual(['TASK_RELEASED']);
    story.receive(took('worker-1-r1'));
    story.receive(left('worker-1-r1', 'crashed'));
    expect(story.receive(died('worker-1-r1'))).toEqual([]);
  });

  test('is not done again when an attempt that was given up begins after all, and crashes', () => {
    const story = spawning();
    story.wait(3 * MINUTE);
    admit(story);
    story.receive(took('worker-1-r2'));
    expect(types(story.receive(left('worker-1-r2', 'finished')))).toEqual(['TASK_RELEASED']);
    story.receive(took('worker-1-r1'));
    story.receive(left('worker-1-r1', 'crashed'));
    expect(story.receive(died('worker-1-r1'))).toEqual([]);
  });

  test('while a spawn is requested gets none', () => {
    const story = openStory();
    story.receive(took('worker-1'));
    story.receive(lost);
    story.receive(recoverTask());
    expect(types(story.receive(finishes))).toEqual(['WITHDRAW_STEP', 'TASK_RELEASED']);
  });
});

test('a replacement that has finished, takes the reopened task again and dies is replaced', () => {
  const story = replacement(15 * MINUTE);
  story.receive(left('worker-1-r1', 'finished'));
  story.receive(health({ agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i2', hold: 'took' }));
  story.receive(
    health({
      ...{ agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i2' },
      ...{ hold: 'left', to: 'TERMINATED', endReason: 'crashed' },
    }),
  );
  const emitted = story.receive(died('worker-1-r1', 'worker-1-r1.i2'));
  expect(find(emitted, 'ADMIT_SPAWN')).toMatchObject({ attempt: 1, newAgentId: 'worker-1-r2' });
  expect(story.receive(died('worker-1-r1', 'worker-1-r1.i2'))).toEqual([]);
});

test('the death of an earlier attempt that had the task before it was finished, or left it alive, spawns nothing', () => {
  const finished = openStory();
  finished.receive(recoverTask());
  admit(finished);
  finished.wait(3 * MINUTE);
  admit(finished);
  finished.receive(took('worker-1-r1'));
  finished.receive(took('worker-1-r2'));
  finished.receive(left('worker-1-r2', 'finished'));
  finished.receive(left('worker-1-r1', 'crashed'));
  expect(finished.receive(died('worker-1-r1'))).toEqual([]);
  const handedBack = replacement(15 * MINUTE);
  handedBack.receive(died('worker-1-r1'));
  handedBack.wait(MINUTE);
  admit(handedBack);
  handedBack.receive(took('worker-1-r2'));
  handedBack.receive(givesBack('worker-1-r2'));
  expect(handedBack.receive(died('worker-1-r1'))).toEqual([]);
  expect(handedBack.receive(died('worker-1-r1', 'worker-1-r1.i0'))).toEqual([]);
  expect(handedBack.wait(60 * MINUTE)).toEqual([]);
});

test('an agent that has finished the task is not recovered by a case; a person’s request is followed', () => {
  const story = openStory();
  story.receive(took('worker-1'));
  story.receive(left('worker-1', 'finished'));
  expect(story.receive(recoverTask())).toEqual([]);
  const asked = recoverTask({ immediate: true, by: 'ada', instanceId: 'worker-1.i2' });
  expect(types(story.receive(asked))).toEqual(['ADMIT_SPAWN']);
  const again = openStory();
  again.receive(took('worker-1'));
  again.receive(left('worker-1', 'finished'));
  again.receive(took('worker-1'));
  expect(types(again.receive(recoverTask()))).toEqual(['ADMIT_SPAWN']);
});

describe('a task that its replacement has finished', () => {
  const lost = health({ hold: 'left', to: 'TERMINATED', endReason: 'lost' });

  test('is not done again when the agent that was taken for dead comes back to it and crashes', () => {
    const story = openStory();
    story.receive(took('worker-1'));
    story.receive(lost);
    story.receive(recoverTask());
    admit(story);
    story.receive(took('worker-1-r1'));
    story.receive(left('worker-1-r1', 'finished'));
    story.receive(took('worker-1'));
    story.receive(left('worker-1', 'crashed'));
    expect(story.receive(died('worker-1'))).toEqual([]);
  });

  test('is recovered when the agent is started again on it, and crashes', () => {
    const story = openStory();
    story.receive(took('worker-1'));
    story.receive(lost);
    story.receive(recoverTask());
    admit(story);
    story.receive(took('worker-1-r1'));
    story.receive(left('worker-1-r1', 'finished'));
    story.receive(health({ instanceId: 'worker-1.i2', hold: 'took' }));
    story.receive(health({ instanceId: 'worker-1.i2', hold: 'left', to: 'TERMINATED', endReason: 'crashed' }));
    expect(types(story.receive(died('worker-1', 'worker-1.i2')))).toEqual(['ADMIT_SPAWN']);
  });
});

test('the crash of an agent that works on a task which another has finished spawns nothing', () => {
  const story = openStory();
  story.receive(took('worker-1'));
  story.receive(took('worker-7'));
  story.receive(left('worker-7', 'finished'));
  story.receive(turnedStuck('worker-1'));
  story.receive(left('worker-1', 'crashed'));
  expect(story.receive(died('worker-1'))).toEqual([]);
});

/** Review: an attempt over the budget. */
const inReview = (): Story => {
  const story = openStory();
  story.receive(took('worker-1'));
  story.receive(left('worker-1', 'crashed'));
  story.receive(recoverTask());
  expect(types(withhold(story, 'budget'))).toEqual(['RECOVERY_FAILED', 'REVIEW_REQUIRED']);
  return story;
};

describe('an attempt that leaves its task on probation', () => {
  test.each([
    ['alive and well', givesBack, 'worker-1-r1 has left it, and continues to run'],
    ['since a person has stopped it', stopped, 'worker-1-r1 was stopped'],
  ])('%s has not failed: the task is released, under any policy for failures', (_, leaves, detail) => {
    for (const onProbationFailure of ['retry', 'review'] as const) {
      const story = openStory();
      story.receive(recoverTask({}, { onProbationFailure }));
      admit(story);
      story.receive(took('worker-1-r1'));
      const emitted = story.receive(leaves('worker-1-r1'));
      expect(emitted).toMatchObject([{ type: 'TASK_RELEASED', payload: { why: 'left', detail } }]);
      expect(story.state()).toMatchObject({ situation: { kind: 'idle' }, breaker: { failures: 0 } });
      expect(story.wait(60 * MINUTE)).toEqual([]);
    }
  });

  test('while it is STUCK leaves it to people, under any policy for failures', () => {
    for (const onProbationFailure of ['retry', 'review'] as const) {
      const story = openStory();
      story.receive(recoverTask({}, { onProbationFailure }));
      admit(story);
      story.receive(took('worker-1-r1'));
      const emitted = story.receive(
        health({ agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1', hold: 'left', to: 'STUCK' }),
      );
      expect(types(emitted)).toEqual(['RECOVERY_FAILED', 'REVIEW_REQUIRED']);
      expect(find(emitted, 'RECOVERY_FAILED')).toMatchObject({
        reason: 'worker-1-r1 has left the task while it was STUCK',
      });
    }
  });
});

describe('a task in review', () => {
  test('is released when an agent takes it, and the death of that agent is acted on', () => {
    const story = inReview();
    expect(story.receive(took('successor'))).toMatchObject([
      { type: 'TASK_RELEASED', payload: { why: 'reassigned', detail: 'held by successor' } },
    ]);
    story.receive(left('successor', 'crashed'));
    expect(types(story.receive(died('successor')))).toEqual(['ADMIT_SPAWN']);
  });

  test('is tried once more when a person requests its recovery, for the same death or another', () => {
    for (const agentId of ['worker-1', 'successor']) {
      const story = inReview();
      const emitted = story.receive(recoverTask({ agentId, instanceId: `${agentId}.i1`, immediate: true, by: 'ada' }));
      expect(types(emitted)).toEqual(['REVIEW_DECIDED', 'ADMIT_SPAWN']);
      expect(find(emitted, 'REVIEW_DECIDED')).toMatchObject({ decision: 'retry', by: 'ada' });
    }
  });

  test('stays with people when a case requests its recovery', () => {
    expect(inReview().receive(died('successor'))).toEqual([]);
  });
});

test('a person’s request for an attempt that has just failed waits for no back-off', () => {
  const story = openStory();
  story.receive(recoverTask());
  admit(story);
  story.wait(120_000);
  story.away(5_000);
  const hurry = recoverTask({ immediate: true, by: 'ada' });
  expect(types(story.receive(hurry))).toEqual(['ADMIT_SPAWN']);
});

describe.each(['retry', 'review'] as const)('an attempt on probation is ended by an order, under %s', (policy) => {
  const endedByOrder = () => {
    const story = replacement(MINUTE, policy);
    const { agentId, instanceId } = { agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1' };
    const end = { hold: 'left', to: 'TERMINATED', endReason: 'explicit', ordered: true } as const;
    expect(story.receive(health({ agentId, instanceId, ...end }))).toEqual([]);
    return story;
  };

  test('where a person ordered it and no request follows, the task is released after five minutes', () => {
    const story = endedByOrder();
    expect(story.wait(5 * MINUTE - 1000)).toEqual([]);
    expect(find(story.wait(1000), 'TASK_RELEASED')).toMatchObject({ why: 'left' });
  });

  test('where the request of its case follows, the policy decides: the next attempt, or a review', () => {
    const story = endedByOrder();
    const emitted = types([...story.receive(died('worker-1-r1')), ...story.wait(2 * MINUTE)]);
    expect(emitted).toEqual(policy === 'retry' ? ['ADMIT_SPAWN'] : ['RECOVERY_FAILED', 'REVIEW_REQUIRED']);
    expect(types(story.wait(60 * MINUTE))).not.toContain('TASK_RELEASED');
  });

  test('where a person recovers it, the next attempt follows at once, and no person has to review the task', () => {
    const story = endedByOrder();
    const request = { agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1', immediate: true, by: 'ada' };
    expect(types(story.receive(recoverTask(request, { onProbationFailure: policy })))).toEqual(['ADMIT_SPAWN']);
  });
});

test.each(['the report of its end', 'the request of its case'])(
  'under review, people decide about a crash on probation, where %s comes first',
  (first) => {
    const story = replacement(MINUTE, 'review');
    const both = [left('worker-1-r1', 'crashed'), died('worker-1-r1')];
    const inputs = first === 'the report of its end' ? both : both.toReversed();
    expect(types(inputs.flatMap((input) => story.receive(input)))).toEqual(['RECOVERY_FAILED', 'REVIEW_REQUIRED']);
  },
);

test('under review, people decide about an attempt that was STUCK before an order ended it', () => {
  const story = replacement(MINUTE, 'review');
  expect(types(story.receive(turnedStuck('worker-1-r1')))).toContain('REVIEW_REQUIRED');
});

test('an attempt on probation dies, and no plan recovers: people decide', () => {
  const story = replacement(MINUTE);
  expect(story.receive(left('worker-1-r1', 'crashed'))).toEqual([]);
  expect(types(story.wait(5 * MINUTE))).toContain('REVIEW_REQUIRED');
});

test.each([
  ['finishes the task', 'finished', 'finished'],
  ['is stopped by a person', 'explicit', 'left'],
] as const)('an agent that was taken for dead and %s ends a spawn that is out', (_, endReason, why) => {
  const story = openStory();
  story.receive(took('worker-1'));
  story.receive(health({ hold: 'left', to: 'TERMINATED', endReason: 'lost' }));
  story.receive(recoverTask());
  admit(story);
  story.receive(took('worker-1'));
  const emitted = story.receive(health({ hold: 'left', to: 'TERMINATED', endReason }));
  expect(find(emitted, 'TASK_RELEASED')).toMatchObject({ why });
  expect(types(story.wait(60 * MINUTE))).not.toContain('ADMIT_SPAWN');
});
