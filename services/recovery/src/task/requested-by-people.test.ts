import { describe, expect, test } from 'vitest';
import { recovery } from '../processor.ts';
import { initial } from './state.ts';
import {
  admit,
  find,
  health,
  left,
  openStory,
  recoverTask,
  type Story,
  took,
  types,
  withhold,
} from './story.fixture.ts';

const MINUTE = 60_000;
const asks = (agentId = 'worker-1', more: Parameters<typeof recoverTask>[0] = {}) =>
  recoverTask({ agentId, instanceId: `${agentId}.i1`, immediate: true, by: 'ada', caseId: 'case-9', ...more });

/** worker-1 has died, and worker-1-r1 is its replacement. */
const replaced = (ms = 0): Story => {
  const story = openStory();
  story.receive(took('worker-1'));
  story.receive(left('worker-1', 'crashed'));
  story.receive(recoverTask());
  admit(story);
  story.receive(took('worker-1-r1'));
  story.wait(ms);
  return story;
};

describe('a person’s request for the recovery of a task', () => {
  test.each([
    ['on its probation', 0],
    ['after it', 15 * MINUTE],
  ])('that a replacement has %s is refused with its name, each time', (_, ms) => {
    const story = replaced(ms);
    const before = story.state().situation;
    for (const _time of [1, 2])
      expect(story.receive(asks())).toMatchObject([
        {
          type: 'RECOVERY_REFUSED',
          payload: {
            agentId: 'worker-1',
            caseId: 'case-9',
            by: 'ada',
            reason: expect.stringContaining('worker-1-r1 holds'),
          },
        },
      ]);
    expect(story.state().situation).toEqual(before);
  });

  test.each([
    ['on its probation', 0],
    ['after it', 15 * MINUTE],
  ])('whose replacement has ended %s gets another, though that death was acted on before', (_, ms) => {
    const story = replaced(ms);
    story.receive(left('worker-1-r1', 'crashed'));
    expect(find(story.receive(asks()), 'ADMIT_SPAWN')).toMatchObject({ attempt: 2 });
  });

  test('of the replacement itself, once it is dead, gets another', () => {
    expect(find(replaced().receive(asks('worker-1-r1')), 'ADMIT_SPAWN')).toMatchObject({ attempt: 2 });
  });

  test('that recovery has released gets another, though that death was acted on before', () => {
    const story = replaced();
    story.receive(health({ agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1', hold: 'left' }));
    expect(story.state().situation.kind).toBe('idle');
    expect(types(story.receive(asks()))).toContain('ADMIT_SPAWN');
  });

  test('that a living agent has, whose death is not confirmed, is refused', () => {
    const story = openStory();
    story.receive(took('worker-1'));
    expect(find(story.receive(asks('worker-1', { confirmed: false })), 'RECOVERY_REFUSED')).toMatchObject({
      reason: expect.stringContaining('worker-1 holds OMN-1234'),
    });
    expect(types(story.receive(asks('worker-1', { confirmed: false })))).toEqual(['RECOVERY_REFUSED']);
    expect(types(story.receive(asks('worker-1')))).toEqual(['ADMIT_SPAWN']);
  });

  test('that was taken for dead and has the task again is refused as often as it is requested unconfirmed', () => {
    const story = openStory();
    story.receive(took('worker-1'));
    story.receive(health({ hold: 'left', to: 'TERMINATED', endReason: 'lost' }));
    story.receive(recoverTask());
    story.receive(took('worker-1'));
    const unconfirmed = asks('worker-1', { confirmed: false });
    expect(types(story.receive(unconfirmed))).toEqual(['RECOVERY_REFUSED']);
    expect(types(story.receive(unconfirmed))).toEqual(['RECOVERY_REFUSED']);
  });

  test('a request that no runtime has a template for is answered with the missing part', () => {
    const story = openStory();
    story.receive(recoverTask());
    withhold(story, 'no_template');
    expect(find(story.receive(asks()), 'RECOVERY_REFUSED')).toMatchObject({ reason: 'no_template' });
  });

  test('is not refused where a recovery is under way', () => {
    const story = openStory();
    story.receive(recoverTask());
    expect(story.receive(asks())).toEqual([]);
    admit(story);
    expect(story.receive(asks())).toEqual([]);
    expect(types(story.receive(took('worker-1-r1')))).toContain('RECOVERY_COMPLETED');
  });

  test('at the moment in which a recovery ends is refused with what ended it', () => {
    const over = { ...initial, taskId: 'T', situation: { kind: 'over', why: 'finished', detail: null } } as const;
    const clock = { now: 1, watched: 1, ingresses: {} };
    const asked = { ...asks(), eventId: 'e1' };
    const state = recovery.observe(over, asked, clock);
    expect(state).toMatchObject({ situation: { kind: 'over' } });
    const refusal = { by: 'ada', reason: expect.stringContaining('finished') };
    expect(find(recovery.decide(state, clock, asked), 'RECOVERY_REFUSED')).toMatchObject(refusal);
    expect(types(recovery.decide(state, clock, null))).not.toContain('RECOVERY_REFUSED');
  });

  test('is refused only to the person: a case gets no answer', () => {
    expect(replaced().receive(recoverTask())).toEqual([]);
  });
});
