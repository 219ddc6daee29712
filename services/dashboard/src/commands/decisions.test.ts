import type { Draft } from '@vigil/events';
import type { ReadModel } from '@vigil/read-model';
import { describe, expect, test } from 'vitest';
import { parseCommand } from './command.ts';
import { draftsOf } from './drafts.ts';

const waitingCase = {
  ...{ caseId: 'case-1', agentId: 'worker-1', closedAt: null, ending: null, waiting: true },
  ...{ escalationAt: 500, escalationDeadlineAt: 9000, escalationOptions: ['allow_more_time', 'terminate_and_recover'] },
  ...{ decision: null, decisionBy: null, decisionAt: null },
};
const answered = { waiting: false, decision: 'allow_more_time', decisionBy: 'ada', decisionAt: 600 };
const review = { taskId: 'T-1', recovery: 'REVIEW_REQUIRED', recoveryAt: 500 };

const draft = async (body: object, rows: object): Promise<Draft> => {
  const command = parseCommand({ by: 'rob', why: 'a test', ...body });
  const model = { case: async () => waitingCase, task: async () => review, agent: async () => null, ...rows };
  const [one] = await draftsOf(command, model as unknown as ReadModel, 0);
  return one as Draft;
};
const decide = (more: object = {}, row: object = {}) =>
  draft(
    { kind: 'decide_case', caseId: 'case-1', decision: 'terminate_and_recover', ...more },
    { case: async () => ({ ...waitingCase, ...row }) },
  );

describe('a decision on a case', () => {
  test.each([{}, { askedAt: 500 }])(
    'names the open question, so that the case refuses a second answer (%o)',
    async (more) => {
      expect((await decide(more)).payload).toMatchObject({ question: { deadlineAt: 9000 } });
      expect((await decide(more, { escalationDeadlineAt: null })).payload).toMatchObject({
        question: { deadlineAt: null },
      });
    },
  );

  test('on a question that was seen before its answer is refused with that answer', async () => {
    await expect(decide({ askedAt: 500 }, answered)).rejects.toMatchObject({
      ...{
        status: 409,
        type: 'already_answered',
        message: expect.stringContaining('ada has answered allow_more_time'),
      },
    });
  });

  test('on an earlier question than the open one is refused', async () => {
    await expect(decide({ askedAt: 499 })).rejects.toMatchObject({
      ...{ status: 409, message: expect.stringContaining('asks another question now') },
    });
  });

  test('that the question does not offer is refused with the options', async () => {
    await expect(decide({ decision: 'pardon' })).rejects.toMatchObject({
      ...{ status: 400, field: 'decision', message: expect.stringContaining('allow_more_time, terminate_and_recover') },
    });
  });

  test('without an open question is made by hand: any decision, and no question', async () => {
    expect((await decide({ decision: 'pardon' }, answered)).payload).toMatchObject({ question: null });
  });
});

test('a hold of an agent that has ended is refused; one of a running agent is written', async () => {
  const hold = (state: string) => draft({ kind: 'hold', agentId: 'worker-1' }, { agent: async () => ({ state }) });
  await expect(hold('TERMINATED')).rejects.toMatchObject({
    ...{ status: 409, type: 'agent_ended', message: 'worker-1 has ended: only a running agent can be held.' },
  });
  expect(await hold('STUCK')).toMatchObject({ type: 'HOLD_AGENT' });
});

test('a decision about an earlier review than the open one is refused', async () => {
  const command = { kind: 'review_task', taskId: 'T-1', decision: 'retry' };
  await expect(draft({ ...command, askedAt: 499 }, {})).rejects.toMatchObject({
    status: 409,
    type: 'already_answered',
  });
  for (const askedAt of [500, undefined])
    expect(await draft({ ...command, askedAt }, {})).toMatchObject({ type: 'REVIEW_TASK' });
});

test('a decision about a blocked task is refused with the command that continues it', async () => {
  const blocked = { taskId: 'T-1', agentId: 'worker-1', recovery: null, blockedReason: 'stalled' };
  const command = { kind: 'review_task', taskId: 'T-1', decision: 'retry' };
  await expect(draft(command, { task: async () => blocked })).rejects.toMatchObject({
    ...{ status: 409, type: 'not_in_review', message: expect.stringContaining('`vigil recover worker-1`') },
  });
});

test.each([
  [false, null],
  [true, 0],
])('an agent that is not held any more (%s, %s) is not released', async (held, heldUntil) => {
  const rows = { agent: async () => ({ agentId: 'worker-1', held, heldUntil }) };
  await expect(draft({ kind: 'release', agentId: 'worker-1' }, rows)).rejects.toMatchObject({
    ...{ status: 409, message: 'worker-1 is not held: there is nothing to release.' },
  });
});
