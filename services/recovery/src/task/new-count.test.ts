import { type CheckpointRef, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { recovery } from '../processor.ts';
import {
  admit,
  checkpoint,
  find,
  left,
  openStory,
  recorded,
  recoverTask,
  review,
  type Story,
  TASK,
  took,
  turned,
  types,
} from './story.fixture.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const WEEK = 7 * DAY;
type Settings = NonNullable<Parameters<typeof recoverTask>[1]>;

const byPeople: Settings = { resetAttempts: 'by_people' };
const afterProgress: Settings = { resetAttempts: 'after_progress' };

/** The death of an agent, as both topics report it. Returns what follows within two minutes. */
const dies = (story: Story, agentId: string, settings: Settings) => [
  ...story.receive(left(agentId, 'crashed')),
  ...story.receive(recoverTask({ agentId, instanceId: `${agentId}.i1`, reason: 'crashed' }, settings)),
  ...story.wait(2 * MINUTE),
];

/** worker-1 has died, and its replacement is alive. */
const replaced = (settings: Settings, ...before: Parameters<Story['receive']>[0][]): Story => {
  const story = openStory();
  story.receive(took('worker-1'));
  for (const one of before) story.receive(one);
  dies(story, 'worker-1', settings);
  admit(story);
  story.receive(took('worker-1-r1'));
  return story;
};

test('by people: three recoveries a task, however far apart and however much it had saved; then people decide', () => {
  const story = replaced(byPeople);
  for (const n of [1, 2]) {
    story.wait(DAY);
    story.receive(recorded(`cp-${n}`, null, `worker-1-r${n}`));
    expect(find(dies(story, `worker-1-r${n}`, byPeople), 'ADMIT_SPAWN')).toMatchObject({ attempt: n + 1 });
    admit(story);
    story.receive(took(`worker-1-r${n + 1}`));
  }
  story.wait(DAY);
  const emitted = dies(story, 'worker-1-r3', byPeople);
  expect(types(emitted)).not.toContain('ADMIT_SPAWN');
  expect(find(emitted, 'REVIEW_REQUIRED')).toMatchObject({ attempts: 3, of: 3 });
  expect(story.wait(DAY)).toEqual([]);
});

test.each([
  ['reset', { attempt: 1 }],
  ['retry', { attempt: 4 }],
] as const)('by people: the review %s releases the task', (decision, spawn) => {
  const story = replaced(byPeople);
  for (const n of [1, 2]) {
    dies(story, `worker-1-r${n}`, byPeople);
    admit(story);
    story.receive(took(`worker-1-r${n + 1}`));
  }
  expect(types(dies(story, 'worker-1-r3', byPeople))).toContain('REVIEW_REQUIRED');
  expect(find(story.receive(review(decision)), 'ADMIT_SPAWN')).toMatchObject(spawn);
});

test('by people: a finished task starts a new count', () => {
  const story = replaced(byPeople);
  story.receive(left('worker-1-r1', 'finished'));
  story.receive(took('worker-2'));
  expect(find(dies(story, 'worker-2', byPeople), 'ADMIT_SPAWN')).toMatchObject({ attempt: 1 });
});

test('by people: the count of a task without an agent is not forgotten', () => {
  const isForgotten = (settings: Settings): boolean | undefined => {
    const story = replaced(settings);
    story.wait(DAY);
    story.receive(left('worker-1-r1', 'crashed'));
    const now = story.now() + 100 * WEEK;
    return recovery.forgets?.(story.state(), { now, watched: now, ingresses: {} });
  };
  expect(isForgotten(byPeople)).toBe(false);
  expect(isForgotten(afterProgress)).toBe(true);
});

const PROBATION = 15 * MINUTE;
const STABLE = 30 * MINUTE;

test.each([
  ['the stable time and a newer checkpoint', STABLE, ['cp-2'], 1],
  ['the stable time without a newer checkpoint', STABLE, [], 2],
  ['the stable time and the checkpoint of the last death again', STABLE, ['cp-1'], 2],
  ['a newer checkpoint a moment before the stable time', STABLE - 1, ['cp-2'], 2],
] as const)('after progress: %s', (_, stableMs, saved, attempt) => {
  const story = replaced(afterProgress, recorded('cp-1'));
  for (const one of saved) story.receive(recorded(one, null, 'worker-1-r1'));
  story.wait(PROBATION + stableMs);
  expect(find(dies(story, 'worker-1-r1', afterProgress), 'ADMIT_SPAWN')).toMatchObject({ attempt });
});

test('after progress: twenty crashes 46 min apart without a checkpoint are three recoveries, then people decide', () => {
  const story = replaced(afterProgress);
  const spawned = [1];
  for (let n = 1; n <= 20; n += 1) {
    story.wait(46 * MINUTE);
    const emitted = dies(story, `worker-1-r${n}`, afterProgress);
    if (find(emitted, 'ADMIT_SPAWN') === undefined) break;
    spawned.push(n + 1);
    admit(story);
    story.receive(took(`worker-1-r${n + 1}`));
  }
  expect(spawned).toEqual([1, 2, 3]);
  expect(story.state().situation.kind).toBe('review');
});

test('after progress: a checkpoint counts once, for the death that follows it', () => {
  const story = replaced(afterProgress, recorded('cp-1'));
  story.receive(recorded('cp-2', null, 'worker-1-r1'));
  story.wait(PROBATION + STABLE);
  expect(find(dies(story, 'worker-1-r1', afterProgress), 'ADMIT_SPAWN')).toMatchObject({ attempt: 1 });
  admit(story);
  story.receive(took('worker-1-r2'));
  story.wait(PROBATION + STABLE);
  expect(find(dies(story, 'worker-1-r2', afterProgress), 'ADMIT_SPAWN')).toMatchObject({ attempt: 2 });
});

const written = (agentId: string, rest: Partial<CheckpointRef>): Parameters<Story['receive']>[0] =>
  example(Topic.taskCheckpoint, 'CHECKPOINT_RECORDED', {
    taskId: TASK,
    agentId,
    checkpoint: { ...checkpoint('cp-1'), ...rest },
  });

test.each([
  ['updated in place', 1, 1],
  ['reported again with its time', 0, 2],
])('after progress: a checkpoint that is %s', (_, laterMs, attempt) => {
  const story = replaced(afterProgress, written('worker-1', { createdAt: 1000 }));
  story.receive(written('worker-1-r1', { createdAt: 1000 + laterMs }));
  story.wait(PROBATION + STABLE);
  expect(find(dies(story, 'worker-1-r1', afterProgress), 'ADMIT_SPAWN')).toMatchObject({ attempt });
});

test('after progress: a newer checkpoint that a runtime found invalid is none', () => {
  const story = replaced(afterProgress, recorded('cp-1'));
  story.receive(recorded('cp-2', null, 'worker-1-r1'));
  story.receive(written('worker-1-r1', { checkpointId: 'cp-2', valid: false, invalidReason: 'sha256' }));
  story.wait(PROBATION + STABLE);
  expect(find(dies(story, 'worker-1-r1', afterProgress), 'ADMIT_SPAWN')).toMatchObject({ attempt: 2 });
});

test('after progress: the checkpoint that was the newest at a death does not count after it', () => {
  const story = replaced(afterProgress, recorded('cp-1'), recorded('cp-2'));
  story.wait(PROBATION + STABLE);
  expect(story.state().checkpointAtDeath).toEqual({ checkpointId: 'cp-2', createdAt: null });
  expect(find(dies(story, 'worker-1-r1', afterProgress), 'ADMIT_SPAWN')).toMatchObject({ attempt: 2 });
});

test('after progress: what an attempt saved before it died in review is not newer than its death', () => {
  const settings: Settings = { ...afterProgress, onProbationFailure: 'review' };
  const story = replaced(settings, recorded('cp-1'));
  story.receive(recorded('cp-2', null, 'worker-1-r1'));
  story.receive(turned('worker-1-r1', 'STUCK'));
  dies(story, 'worker-1-r1', settings);
  story.receive(review('retry'));
  admit(story);
  story.receive(took('worker-1-r2'));
  story.wait(PROBATION + STABLE);
  expect(find(dies(story, 'worker-1-r2', settings), 'ADMIT_SPAWN')).toMatchObject({ attempt: 3 });
});

test('the request for a spawn carries how many an hour the policy allows', () => {
  const asked = (settings: Settings) => find(dies(openStory(), 'worker-1', settings), 'ADMIT_SPAWN');
  expect(asked({ maxAttemptsPerHour: 5 })).toMatchObject({ maxPerHour: 5 });
  expect(asked({ maxAttemptsPerHour: null })).toMatchObject({ maxPerHour: null });
});
