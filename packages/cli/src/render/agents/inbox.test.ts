import type { InboxItem } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { NOON, VIEW } from '../rows.fixture.ts';
import { inboxLines } from './inbox.ts';

const item: InboxItem = {
  id: 'case/c-1',
  kind: 'case',
  agentId: 'worker-1',
  taskId: null,
  text: 'no progress for 20 min',
  since: NOON - 60_000,
  deadlineAt: NOON + 60_000,
  atDeadline: 'terminate',
  withoutAnswer: 'terminate (the plan continues with its next step)',
  options: [{ name: 'pardon', label: 'pardon', command: 'vigil case decide c-1 pardon --why "…"' }],
  questions: [],
  command: null,
  alertId: null,
};

test('an item has its question, until when, what happens then, and the command of each answer', () => {
  expect(inboxLines(VIEW, [item], 0)).toEqual([
    'case/c-1  a case waits for a decision, for 1 min',
    '  agent worker-1, task -',
    '  no progress for 20 min',
    '  without an answer, at 12:01:00: terminate (the plan continues with its next step)',
    '  vigil case decide c-1 pardon --why "…"',
  ]);
});

test('an option that is a number has its words beside its command', () => {
  const options = [{ name: '2', label: 'SQLite', command: 'vigil inbox answer request/r-1 2' }];
  expect(inboxLines(VIEW, [{ ...item, options }], 0).at(-1)).toBe('  vigil inbox answer request/r-1 2  (SQLite)');
});

test('the numbered choices of one question have their words and what they mean', () => {
  const options = [
    { label: 'SQLite', description: 'one file', preview: null },
    { label: 'Postgres', description: null, preview: null },
  ];
  const questions = [{ name: 'Database', header: 'Database', text: 'Which?', isMultiple: false, options }];
  const answers = options.map(({ label }, i) => ({ name: String(i + 1), label, command: `answer ${i + 1}` }));
  const lines = inboxLines(VIEW, [{ ...item, text: 'Which?', options: answers, questions, command: null }], 0);
  expect(lines).toContain('  answer 1  (SQLite: one file)');
  expect(lines).toContain('  answer 2  (Postgres)');
});

test('several questions have their labels, and one command', () => {
  const options = [
    { label: 'Login', description: 'with a password', preview: null },
    { label: 'Search', description: null, preview: null },
  ];
  const questions = [{ name: 'Features', header: 'Features', text: 'Which?', isMultiple: true, options }];
  const command = "vigil inbox answer request/r-1 --answer 'Features=…'";
  const lines = inboxLines(VIEW, [{ ...item, text: 'Features: Which?', options: [], questions, command }], 0);
  expect(lines.slice(2)).toEqual([
    '  Features: Which? (one or more)',
    '    Login: with a password',
    '    Search',
    '  without an answer, at 12:01:00: terminate (the plan continues with its next step)',
    `  ${command}`,
  ]);
});

test('an item without a deadline shows what happens without an answer, too', () => {
  const waits = { deadlineAt: null, atDeadline: null, withoutAnswer: 'nothing happens: the case waits' };
  const lines = inboxLines(VIEW, [{ ...item, ...waits }], 0);
  expect(lines[3]).toBe('  No deadline. Without an answer, nothing happens: the case waits');
});

test('an empty inbox is one line', () => {
  expect(inboxLines(VIEW, [], 0)).toEqual(['No case, permission, question, review, ticket or brake waits for you.']);
  expect(inboxLines(VIEW, [], 2).at(-1)).toBe('2 alerts are open and not acknowledged: vigil alert list');
  expect(inboxLines(VIEW, [item], 1).at(-1)).toBe('1 alert is open and not acknowledged: vigil alert list');
});
