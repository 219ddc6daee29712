import type { RequestRow } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { answersFrom, commandFor, outcomeOf } from './answer.ts';

test('an item of the inbox is answered by the command of its kind', () => {
  const commands = [
    commandFor('request/a/b', 'allow', null),
    commandFor('case/c-1', 'pardon', { since: 500, alertId: null }),
    commandFor('task/T-1', 'retry', { since: 600, alertId: null }),
    commandFor('ticket/t-1', 'acknowledge', { since: 700, alertId: 'alert-9' }),
    commandFor('task/T-7', 'acknowledge', { since: 800, alertId: 'alert-7' }),
    commandFor('agent/worker-2', 'acknowledge', { since: 900, alertId: 'alert-5' }),
    commandFor('brake', 'lift', null),
  ].map(({ command }) => command);
  expect(commands).toEqual([
    { kind: 'answer_request', requestId: 'a/b', option: 'allow' },
    { kind: 'decide_case', caseId: 'c-1', decision: 'pardon', askedAt: 500 },
    { kind: 'review_task', taskId: 'T-1', decision: 'retry', askedAt: 600 },
    { kind: 'acknowledge', alertId: 'alert-9' },
    { kind: 'acknowledge', alertId: 'alert-7' },
    { kind: 'acknowledge', alertId: 'alert-5' },
    { kind: 'lift_brake' },
  ]);
});

test('an agent that waits at its terminal is not answered here, and the message names the way', () => {
  expect(() => commandFor('agent/worker-1', 'allow', null)).toThrow('by `vigil attach worker-1 --write` on its host');
});

test.each([
  ['request/', 'allow'],
  ['worker-1', 'allow'],
])('%s with %s is refused, and the message names where the commands are', (item, option) => {
  expect(() => commandFor(item, option, { since: 1, alertId: 'alert-9' })).toThrow(
    '`vigil inbox` shows the command of each option',
  );
});

test('a brake with another answer is refused, and the message names its answer', () => {
  expect(() => commandFor('brake', 'allow', null)).toThrow('brake is answered with lift, and not with "allow".');
});

test.each(['ticket/t-1', 'task/T-7'])('%s with another answer is refused, and the message names its answer', (item) => {
  expect(() => commandFor(item, 'retry', { since: 1, alertId: 'alert-9' })).toThrow(
    `${item} is answered with acknowledge, and not with "retry".`,
  );
});

test('each question gets its labels and its text, in the order of the command line', () => {
  const answer = ['Database=SQLite', 'Features=Login', 'Features=a = b'];
  expect(answersFrom({ answer, other: ['Features=a cache', 'Name=vigil'] })).toEqual([
    { question: 'Database', labels: ['SQLite'], text: null },
    { question: 'Features', labels: ['Login', 'a = b'], text: 'a cache' },
    { question: 'Name', labels: [], text: 'vigil' },
  ]);
});

test.each([
  [{ answer: ['SQLite'], other: [] }, '--answer "SQLite" names no question'],
  [{ answer: ['=SQLite'], other: [] }, '--answer "=SQLite" names no question'],
  [{ answer: [], other: ['Database='] }, '--other "Database=" names no question'],
  [{ answer: [], other: ['Database=a', 'Database=b'] }, '--other is given twice for "Database"'],
])('%j is refused with the option that is wrong', (given, text) => {
  expect(() => answersFrom(given)).toThrow(text);
});

const row = (more: Partial<RequestRow>): RequestRow => ({ refusedCommand: null, settled: null, ...more }) as RequestRow;

test('the outcome of an answer is known when its own command was accepted or refused', () => {
  expect(outcomeOf(row({}), 'e-1')).toBeNull();
  const answered = { settled: 'answered', settledCommand: 'e-1', settledBy: 'ada', settledOption: 'deny' } as const;
  expect(outcomeOf(row(answered), 'e-1')).toEqual({
    isApplied: true,
    text: 'ada has answered deny; the hook returns it.',
  });
  expect(outcomeOf(row(answered), 'e-2')).toBeNull();
  const refused = { ...answered, refusedCommand: 'e-2', refusedReason: 'answered', refusedDetail: 'ada was first' };
  expect(outcomeOf(row(refused), 'e-2')).toEqual({
    isApplied: false,
    text: 'The answer changes nothing (answered): ada was first.',
  });
});
