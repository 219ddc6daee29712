import { expect, test } from 'vitest';
import { admit, find, health, left, openStory, recoverTask, took, turned, types, withhold } from './story.fixture.ts';

const died = (agentId: string) => recoverTask({ agentId, instanceId: `${agentId}.i1`, reason: 'crashed' });

test('a person’s request is not enough while an agent of that name is known to have the task', () => {
  const story = openStory();
  story.receive(took('worker-1'));
  expect(types(story.receive(recoverTask({ confirmed: false, by: 'ada', immediate: true })))).toEqual([
    'RECOVERY_REFUSED',
  ]);
  expect(story.state().situation.kind).toBe('idle');
});

test('an attempt that was given up and is alive continues, and no second one is spawned', () => {
  const story = openStory();
  story.receive(recoverTask());
  admit(story);
  story.wait(150_000);
  expect(story.receive(took('worker-1-r1'))).toMatchObject([
    { type: 'RECOVERY_COMPLETED', payload: { newAgentId: 'worker-1-r1', attempt: 1 } },
  ]);
  expect(story.wait(600_000)).toEqual([]);
});

test('of two living attempts the lower is ended, once', () => {
  const story = openStory();
  story.receive(recoverTask());
  admit(story);
  story.wait(180_000);
  admit(story);
  expect(story.receive(took('worker-1-r1'))).toEqual([]);
  const emitted = story.receive(took('worker-1-r2'));
  expect(types(emitted)).toEqual(['RECOVERY_COMPLETED', 'REQUEST_STEP']);
  expect(find(emitted, 'REQUEST_STEP')).toMatchObject({
    agentId: 'worker-1-r1',
    instanceId: 'worker-1-r1.i1',
    step: 'terminate',
    by: 'recovery',
  });
  expect(story.receive(turned('worker-1-r1', 'STUCK'))).toEqual([]);
  story.receive(left('worker-1-r1', 'crashed'));
  expect(story.receive(died('worker-1-r1'))).toEqual([]);
  expect(story.state().situation).toMatchObject({ kind: 'probation', failing: null });
});

test('a new instance of the replaced agent is ended while its replacement is alive, once; one that comes before the replacement keeps the task', () => {
  const story = openStory();
  story.receive(recoverTask());
  admit(story);
  story.receive(took('worker-1-r1'));
  const again = health({ agentId: 'worker-1', instanceId: 'worker-1.i2', hold: 'took' });
  expect(story.receive(again)).toEqual([]);
  expect(story.wait(9_999)).toEqual([]);
  const emitted = story.wait(1);
  expect(types(emitted)).toEqual(['REQUEST_STEP']);
  expect(find(emitted, 'REQUEST_STEP')).toMatchObject({
    agentId: 'worker-1',
    instanceId: 'worker-1.i2',
    step: 'terminate',
    why: 'worker-1-r1, a later attempt at OMN-1234, is alive too',
  });
  expect(story.receive(turned('worker-1', 'STUCK'))).toEqual([]);
  const before = openStory();
  before.receive(recoverTask());
  expect(types(before.receive(again))).toEqual(['TASK_RELEASED', 'WITHDRAW_STEP']);
});

test('an agent that was taken for dead and is alive on a host that was cut off is ended while its replacement lives', () => {
  const story = openStory();
  story.receive(recoverTask());
  admit(story);
  story.receive(took('worker-1-r1'));
  expect(story.receive(health({ agentId: 'worker-1', instanceId: 'worker-1.i1', hold: 'took' }))).toEqual([]);
  const emitted = story.wait(10_000);
  expect(find(emitted, 'REQUEST_STEP')).toMatchObject({
    agentId: 'worker-1',
    instanceId: 'worker-1.i1',
    step: 'terminate',
  });
  expect(types(story.wait(59_999))).not.toContain('REQUEST_STEP');
});

test('a new instance of the replaced agent is left alone where the replacement has died with the host that starts it', () => {
  const story = openStory();
  story.receive(recoverTask());
  admit(story);
  story.receive(took('worker-1-r1'));
  story.receive(health({ agentId: 'worker-1', instanceId: 'worker-1.i2', hold: 'took' }));
  story.receive(left('worker-1-r1', 'crashed'));
  expect(story.wait(60_000)).toEqual([]);
  expect(find(story.receive(died('worker-1-r1')), 'TASK_RELEASED')).toMatchObject({ detail: 'held by worker-1' });
});

test('another agent beside the replacement is left alone: a person may have put it there', () => {
  const story = openStory();
  story.receive(recoverTask());
  admit(story);
  story.receive(took('worker-1-r1'));
  expect(story.receive(took('worker-7'))).toEqual([]);
});

test('another living assignee keeps the task', () => {
  const story = openStory();
  story.receive(took('worker-7'));
  expect(story.receive(recoverTask())).toMatchObject([
    { type: 'TASK_RELEASED', payload: { why: 'reassigned', detail: 'held by worker-7' } },
  ]);
});

test('the dead instance is not an assignee, whichever topic reports its end first; a new instance of the same agent is one', () => {
  const story = openStory();
  story.receive(took('worker-1'));
  expect(types(story.receive(recoverTask()))).toEqual(['ADMIT_SPAWN']);
  expect(story.receive(turned('worker-1', 'STUCK'))).toEqual([]);
  expect(types(story.receive(health({ instanceId: 'worker-1.i2', hold: 'took' })))).toEqual([
    'TASK_RELEASED',
    'WITHDRAW_STEP',
  ]);
});

test('an agent that takes the task between the request and its admission keeps it: nothing is spawned, and the request is withdrawn', () => {
  const story = openStory();
  story.receive(recoverTask());
  const emitted = story.receive(took('worker-7'));
  expect(types(emitted)).toEqual(['TASK_RELEASED', 'WITHDRAW_STEP']);
  expect(find(emitted, 'WITHDRAW_STEP')).toMatchObject({ requestId: 'e1-1' });
  expect(admit(story, { requestId: 'e1-1' })).toEqual([]);
});

test('with its host an agent’s runtime is lost too: the task goes to another runtime, unless there is none', () => {
  for (const [endReason, avoided] of [
    ['lost', ['host-1']],
    ['crashed', []],
  ] as const) {
    const story = openStory();
    story.receive(took('worker-1'));
    story.receive(health({ hold: 'left', to: 'TERMINATED', endReason, runtimeId: 'host-1' }));
    expect(find(story.receive(recoverTask()), 'ADMIT_SPAWN')).toMatchObject({ notRuntimeIds: avoided });
    withhold(story, 'no_runtime');
    expect(find(story.wait(5_000), 'ADMIT_SPAWN')).toMatchObject({ notRuntimeIds: [] });
  }
});

test('an agent without an instance id is dead as an agent, whichever instance task-health still shows', () => {
  const story = openStory();
  story.receive(took('worker-1'));
  expect(types(story.receive(recoverTask({ instanceId: null })))).toEqual(['ADMIT_SPAWN']);
});
