import { expect, test } from 'vitest';
import {
  admit,
  checkpoint,
  find,
  left,
  openStory,
  readByRuntime,
  receipt,
  recorded,
  recoverTask,
  type Story,
  took,
  types,
} from './story.fixture.ts';

/** Two checkpoints; host-2 has the file of neither, or cannot read them. The attempt starts there from the beginning, and dies. */
const elsewhere = (why: string): Story => {
  const story = openStory();
  story.receive(recorded('a'));
  story.receive(recorded('b', 'a'));
  story.receive(recoverTask());
  admit(story, { runtimeId: 'host-2' });
  const skipped = ['b', 'a'].map((checkpointId) => ({ checkpointId, why }));
  const again = receipt(story, { outcome: 'checkpoint_invalid', checkpointId: 'b', why, skipped });
  expect(types(again)).toEqual(['WITHDRAW_STEP', 'ADMIT_SPAWN']);
  expect(find(admit(story, { runtimeId: 'host-2' }), 'RECOVERY_INITIATED')).toMatchObject({
    ...{ attempt: 1, fromCheckpoint: 'task-start' },
    skipped: [
      { checkpointId: 'b', why },
      { checkpointId: 'a', why },
    ],
  });
  story.receive(took('worker-1-r1'));
  story.receive(left('worker-1-r1', 'crashed'));
  story.receive(recoverTask({ agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1' }));
  story.wait(60_000);
  return story;
};

test.each([
  ['outside the roots of', 'not_here'],
  ['not at', 'missing'],
  ['not readable at', 'unreadable'],
])('a checkpoint whose file is %s one runtime is tried at another, and not again at that one', (_, why) => {
  const emitted = admit(elsewhere(why), { runtimeId: 'host-1' });
  expect(find(emitted, 'RECOVERY_INITIATED')).toMatchObject({ attempt: 2, fromCheckpoint: 'b', skipped: [] });
  expect(find(emitted, 'SPAWN_AGENT')).toMatchObject({ checkpoints: [{ checkpointId: 'b' }, { checkpointId: 'a' }] });
  const there = admit(elsewhere(why), { runtimeId: 'host-2' });
  expect(find(there, 'RECOVERY_INITIATED')).toMatchObject({ fromCheckpoint: 'task-start' });
  expect(find(there, 'SPAWN_AGENT')).toMatchObject({ checkpoints: [] });
});

test('a checkpoint with invalid content is invalid everywhere', () => {
  const emitted = admit(elsewhere('sha256_differs'), { runtimeId: 'host-1' });
  expect(find(emitted, 'RECOVERY_INITIATED')).toMatchObject({ fromCheckpoint: 'task-start' });
});

test('a runtime that reports the same checkpoints again has failed', () => {
  const story = elsewhere('not_here');
  admit(story, { runtimeId: 'host-2' });
  expect(receipt(story, { outcome: 'checkpoint_invalid', checkpointId: 'b', why: 'not_here' })).toEqual([]);
  expect(story.state().situation).toMatchObject({ kind: 'spawning', failed: { why: 'checkpoint_invalid: not_here' } });
});

test('a runtime that misses an unknown checkpoint has failed too', () => {
  const story = openStory();
  story.receive(recoverTask());
  admit(story);
  expect(receipt(story, { outcome: 'checkpoint_invalid', checkpointId: 'z', why: 'not_here' })).toEqual([]);
  expect(story.state().situation).toMatchObject({ kind: 'spawning', failed: { why: 'checkpoint_invalid: not_here' } });
});

test('a checkpoint that was skipped at the runtime of the agent is not skipped at another', () => {
  const story = openStory();
  story.receive(recorded('a'));
  story.receive(recoverTask());
  admit(story, { runtimeId: 'host-2' });
  receipt(story, { outcome: 'spawned', skipped: [{ checkpointId: 'a', why: 'not_here' }] });
  story.receive(took('worker-1-r1'));
  story.receive(recoverTask({ agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1' }));
  story.wait(60_000);
  expect(find(admit(story, { runtimeId: 'host-1' }), 'RECOVERY_INITIATED')).toMatchObject({ fromCheckpoint: 'a' });
});

const expectFrom = (story: Story, runtimeId: string, fromCheckpoint: string) =>
  expect(find(admit(story, { runtimeId }), 'RECOVERY_INITIATED')).toMatchObject({ fromCheckpoint });

test.each(['not_here', 'missing', 'unreadable'])(
  'a checkpoint that the runtime of its own agent reports as %s is tried at another one',
  (why) => {
    const story = openStory();
    story.receive(recorded('a'));
    story.receive(readByRuntime('a', why));
    story.receive(recoverTask());
    expectFrom(story, 'host-2', 'a');
  },
);

test('a checkpoint that was invalid is used once a runtime has found it valid, and stays valid until a runtime reads it again', () => {
  const story = openStory();
  story.receive(readByRuntime('a', 'sha256_differs'));
  story.receive(recorded('a'));
  expect(story.state().checkpoints).toMatchObject([{ valid: false, invalidReason: 'sha256_differs' }]);
  story.receive(readByRuntime('a', null));
  story.receive(recorded('a'));
  expect(story.state().checkpoints).toMatchObject([{ valid: true, invalidReason: null }]);
  story.receive(recoverTask());
  expectFrom(story, 'host-2', 'a');
});

test('a request for a recovery repeats an older report: a checkpoint that a runtime has found invalid since stays invalid', () => {
  const story = openStory();
  story.receive(readByRuntime('a', 'sha256_differs'));
  story.receive(recoverTask({ checkpoint: { ...checkpoint('a'), valid: true } }));
  expectFrom(story, 'host-2', 'task-start');
});
