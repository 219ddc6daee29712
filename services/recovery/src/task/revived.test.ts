import { describe, expect, test } from 'vitest';
import {
  admit,
  find,
  health,
  left,
  openStory,
  recoverTask,
  review,
  type Story,
  took,
  types,
  withhold,
} from './story.fixture.ts';

const rises = (story: Story) => story.receive(took('worker-1'));
/** Recovery has given the task up to people, who leave it to the living agent that was taken for dead. */
const leftToTheRevived = (): Story => {
  const story = openStory();
  story.receive(recoverTask());
  withhold(story, 'budget');
  rises(story);
  story.receive(review('abandon'));
  expect(story.state().situation.kind).toBe('idle');
  return story;
};

test('an agent that was taken for dead, is alive, and dies alone on the task is replaced, as at any death, once', () => {
  const story = leftToTheRevived();
  story.receive(left('worker-1', 'crashed'));
  const emitted = story.receive(recoverTask({ reason: 'crashed' }));
  expect(find(emitted, 'ADMIT_SPAWN')).toMatchObject({ newAgentId: 'worker-1-r1' });
  expect(types(admit(story))).toEqual(['RECOVERY_INITIATED', 'SPAWN_AGENT']);
  expect(story.receive(recoverTask({ reason: 'crashed' }))).toEqual([]);
});

test('a request that is read before the report of its end replaces it all the same, and takes no agent for alive', () => {
  const story = leftToTheRevived();
  expect(types(story.receive(recoverTask()))).toEqual(['ADMIT_SPAWN']);
  admit(story);
  story.receive(took('worker-1-r1'));
  expect(types(story.wait(60_000))).not.toContain('REQUEST_STEP');
});

test('the death of an agent that was never revived is acted on once: a second report changes nothing', () => {
  const story = openStory();
  story.receive(recoverTask());
  withhold(story, 'budget');
  story.receive(review('abandon'));
  expect(story.receive(recoverTask())).toEqual([]);
  expect(story.state().situation.kind).toBe('idle');
});

test('a second death is acted on once too, until the agent is revived again', () => {
  const story = leftToTheRevived();
  story.receive(recoverTask());
  withhold(story, 'budget');
  story.receive(review('abandon'));
  expect(story.receive(recoverTask())).toEqual([]);
  rises(story);
  expect(types(story.receive(recoverTask()))).toEqual(['ADMIT_SPAWN']);
});

test('while its replacement is being spawned or is alive, no other agent replaces it', () => {
  const story = openStory();
  story.receive(recoverTask());
  admit(story);
  rises(story);
  expect(story.receive(recoverTask())).toEqual([]);
  rises(story);
  story.receive(took('worker-1-r1'));
  story.receive(left('worker-1', 'crashed'));
  expect(story.receive(recoverTask())).toEqual([]);
  expect(story.wait(60_000)).toEqual([]);
  expect(story.state().situation).toMatchObject({ kind: 'probation', attempt: { agentId: 'worker-1-r1' } });
});

test('where another agent has the task by then, that agent keeps it', () => {
  const story = leftToTheRevived();
  story.receive(took('worker-7'));
  expect(story.receive(recoverTask())).toMatchObject([
    { type: 'TASK_RELEASED', payload: { why: 'reassigned', detail: 'held by worker-7' } },
  ]);
});

test('no person’s request replaces it before a confirmed death while it sends heartbeats; once it has left, it does', () => {
  const asked = recoverTask({ confirmed: false, by: 'ada', immediate: true });
  const story = leftToTheRevived();
  expect(types(story.receive(asked))).toEqual(['RECOVERY_REFUSED']);
  story.receive(left('worker-1', 'crashed'));
  expect(story.receive(recoverTask({ confirmed: false }))).toEqual([]);
  expect(types(story.receive(asked))).toEqual(['ADMIT_SPAWN']);
});

test('an agent without an instance id dies and is revived as an agent', () => {
  const story = openStory();
  const nameless = recoverTask({ instanceId: null });
  story.receive(nameless);
  withhold(story, 'budget');
  story.receive(review('abandon'));
  story.receive(health({ instanceId: null, hold: 'took' }));
  expect(types(story.receive(nameless))).toEqual(['ADMIT_SPAWN']);
});

describe('a request about the death of an agent that was taken for dead, and has taken its task again', () => {
  const lost = health({ hold: 'left', to: 'TERMINATED', endReason: 'lost' });
  const late = (more: object = {}): Story => {
    const story = openStory();
    story.receive(took('worker-1'));
    story.receive(lost);
    story.receive(took('worker-1'));
    expect(story.receive(recoverTask(more))).toEqual([]);
    return story;
  };

  test('is in doubt for ten seconds, however long a limit of the agent holds: then people are notified of the limit', () => {
    const limited = () => late({ notBefore: openStory().now() + 3_600_000 });
    expect(find(limited().wait(10_000), 'TASK_RELEASED')).toMatchObject({ why: 'reassigned' });
    const story = limited();
    expect(story.receive(left('worker-1', 'crashed'))).toEqual([]);
    expect(story.wait(9_999)).toEqual([]);
    expect(types(story.wait(1))).toEqual(['RECOVERY_WAITING']);
    expect(types(story.wait(3_600_000))).toEqual(['ADMIT_SPAWN']);
  });

  test('spawns nothing where it is older than that: the agent keeps its task', () => {
    const story = late();
    expect(story.wait(9_999)).toEqual([]);
    expect(find(story.wait(1), 'TASK_RELEASED')).toMatchObject({ why: 'reassigned', detail: 'held by worker-1' });
  });

  test('is followed where the agent has died again', () => {
    const story = late();
    expect(story.receive(left('worker-1', 'crashed'))).toEqual([]);
    expect(types(story.wait(10_000))).toEqual(['ADMIT_SPAWN']);
  });

  test('beside a replacement has the agent ended', () => {
    const story = openStory();
    story.receive(took('worker-1'));
    story.receive(left('worker-1', 'crashed'));
    story.receive(recoverTask());
    admit(story);
    const { agentId, instanceId } = { agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1' };
    story.receive(took(agentId));
    story.receive(health({ agentId, instanceId, hold: 'left', to: 'TERMINATED', endReason: 'lost' }));
    story.receive(took(agentId));
    story.receive(recoverTask({ agentId, instanceId }));
    const emitted = story.wait(60_000);
    expect(types(emitted)).not.toContain('ADMIT_SPAWN');
    expect(story.state().situation).toMatchObject({ kind: 'probation', attempt: { agentId } });
  });
});
