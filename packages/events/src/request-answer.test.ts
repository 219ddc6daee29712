import { expect, test } from 'vitest';
import { type AskedQuestion, answersText, mistakeInAnswers } from './request-answer.ts';

const questions: readonly AskedQuestion[] = [
  { name: 'Database', isMultiple: false, labels: ['Postgres', 'SQLite'] },
  { name: 'Features', isMultiple: true, labels: ['Login', 'Search', 'Export'] },
];
const answer = (question: string, labels: readonly string[], text: string | null = null) => ({
  question,
  labels,
  text,
});
const database = answer('Database', ['SQLite']);
const features = answer('Features', ['Login', 'Export'], 'a cache');

test('a label for one question, and labels with a text for another, answer both', () => {
  expect(mistakeInAnswers(questions, [database, features])).toBeNull();
  expect(mistakeInAnswers(questions, [features, answer('Database', [], 'DuckDB')])).toBeNull();
  expect(mistakeInAnswers([{ name: 'Name', isMultiple: false, labels: [] }], [answer('Name', [], 'vigil')])).toBeNull();
});

test.each([
  ['a question without an answer', [database], 'incomplete_answer', '"Features" has no answer'],
  ['an empty answer', [database, answer('Features', [], ' ')], 'incomplete_answer', '"Features" has no answer'],
  ['an unknown label', [answer('Database', ['Oracle']), features], 'no_such_option', '"Database": "Oracle" is not one'],
  [
    'two labels for one answer',
    [answer('Database', ['SQLite', 'Postgres']), features],
    'too_many_labels',
    '"Database" takes one answer, and has "SQLite", "Postgres"',
  ],
  [
    'a label and a text for one answer',
    [answer('Database', ['SQLite'], 'or DuckDB'), features],
    'too_many_labels',
    'has "SQLite", "or DuckDB"',
  ],
  [
    'a label twice',
    [database, answer('Features', ['Login', 'Login'])],
    'too_many_labels',
    '"Features" has "Login" twice',
  ],
  ['a question twice', [database, features, database], 'too_many_labels', '"Database" is answered twice'],
  ['an unknown question', [database, features, answer('Colour', ['red'])], 'unknown_question', '"Colour" is not a'],
] as const)('%s is refused with the question and the value', (_, answers, reason, detail) => {
  const mistake = mistakeInAnswers(questions, answers);
  expect(mistake?.reason).toBe(reason);
  expect(mistake?.detail).toContain(detail);
});

test('a request without questions takes no answers to them', () => {
  expect(mistakeInAnswers([], [database])?.detail).toContain('it has options, and no questions');
});

test('answers in words have one line and a greatest length', () => {
  expect(answersText([database, features])).toBe('Database: SQLite; Features: Login, Export, "a cache"');
  expect(answersText([answer('Name', [], 'two\nlines\u202e')])).toBe('Name: "two\\nlines "');
  expect(answersText([answer('Name', [], 'x'.repeat(2000))])).toHaveLength(400);
});
