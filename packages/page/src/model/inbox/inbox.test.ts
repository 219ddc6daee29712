import type { InboxItem } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { answersOf, linesOf } from './inbox.ts';

const item = (more: Partial<InboxItem>): InboxItem => ({
  id: 'case/case-1',
  kind: 'case',
  agentId: 'worker-1',
  taskId: 'T-1',
  text: 'no answer',
  since: 7,
  deadlineAt: null,
  atDeadline: null,
  withoutAnswer: 'nothing happens',
  options: [],
  questions: [],
  command: null,
  alertId: null,
  ...more,
});

const option = (name: string) => ({ name, label: name, command: '' });

const commands = (more: Partial<InboxItem>) => answersOf(item(more)).map(({ command }) => command);

test('each option of a case is one decision of that case, on the question that was seen', () => {
  const options = ['pardon', 'terminate_and_recover'].map(option);
  expect(commands({ options })).toEqual([
    { kind: 'decide_case', caseId: 'case-1', decision: 'pardon', askedAt: 7 },
    { kind: 'decide_case', caseId: 'case-1', decision: 'terminate_and_recover', askedAt: 7 },
  ]);
  expect(answersOf(item({ options })).map(({ isDangerous }) => isDangerous)).toEqual([false, true]);
});

test('a review, a ticket and the brake have commands of their own', () => {
  expect(commands({ kind: 'review', id: 'task/T-1', options: [option('retry')] })).toEqual([
    { kind: 'review_task', taskId: 'T-1', decision: 'retry', askedAt: 7 },
  ]);
  const options = [option('acknowledge')];
  expect(commands({ kind: 'ticket', id: 'ticket/t', options, alertId: 'alert-9' })).toEqual([
    { kind: 'acknowledge', alertId: 'alert-9' },
  ]);
  const blocked = { kind: 'review', id: 'task/T-1', options, alertId: 'alert-7' } as const;
  expect(commands(blocked), 'a blocked task').toEqual([{ kind: 'acknowledge', alertId: 'alert-7' }]);
  const alone = { kind: 'question', id: 'agent/worker-1', options, alertId: 'alert-5' } as const;
  expect(commands(alone), 'a wait in its own terminal').toEqual([{ kind: 'acknowledge', alertId: 'alert-5' }]);
  expect(commands({ kind: 'brake', id: 'brake', options: [option('lift')] })).toEqual([{ kind: 'lift_brake' }]);
});

test('an answer that only the terminal of the agent takes is a command line and no button', () => {
  const asked = item({ kind: 'question', id: 'agent/worker-1', command: 'vigil attach worker-1 --write' });
  expect(answersOf(asked)).toEqual([]);
  expect(linesOf(asked)).toEqual(['vigil attach worker-1 --write']);
});

test('an option of a request is an answer with the label of its client', () => {
  const options = [{ name: 'allow', label: 'Yes, and do not ask again', command: '' }];
  const [answer] = answersOf(item({ kind: 'permission', id: 'request/r-1', options }));
  expect(answer).toMatchObject({
    label: 'Yes, and do not ask again',
    command: { kind: 'answer_request', requestId: 'r-1', option: 'allow' },
  });
});

test('the dialog of an answer has what happens next, not the question again', () => {
  const textOf = (more: Partial<InboxItem>) => answersOf(item(more)).map(({ text }) => text);
  const review = { kind: 'review', id: 'task/T-1', options: ['retry', 'reset', 'abandon'].map(option) } as const;
  const texts = textOf(review);
  expect(texts[0]).toMatch(/^Starts one more attempt of T-1/);
  expect(texts[1]).toContain('counts its attempts from one');
  expect(texts[2]).toContain('no agent continues it');
  expect(textOf({ options: [option('pardon')] })[0]).toContain('worker-1 continues');
  expect(texts.join()).not.toContain('the answer to');
});
