import type { InboxItem } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { answerAction, type Drafts, draftOf, mistakeIn, type Question, withLabel, withText } from './questions.ts';

const question = (name: string, isMultiple: boolean, ...labels: readonly string[]): Question => ({
  ...{ name, header: name, text: `${name}?`, isMultiple },
  options: labels.map((label) => ({ label, description: null, preview: null })),
});
const database = question('Database', false, 'Postgres', 'SQLite');
const features = question('Features', true, 'Login', 'Search');
const questions = [database, features];
const item = { id: 'request/r-1', options: [], questions } as unknown as InboxItem;

test('one answer is a label or other words, and the newest counts', () => {
  const chosen = withLabel(withLabel({}, database, 'Postgres'), database, 'SQLite');
  expect(draftOf(chosen, database)).toEqual({ labels: ['SQLite'], text: '' });
  const written = withText(chosen, database, 'DuckDB');
  expect(draftOf(written, database)).toEqual({ labels: [], text: 'DuckDB' });
  expect(draftOf(withLabel(written, database, 'Postgres'), database)).toEqual({ labels: ['Postgres'], text: '' });
  expect(draftOf(withText(chosen, database, ' '), database).labels).toEqual(['SQLite']);
});

test('several answers are any labels and other words, and a second click takes a label back', () => {
  const all: Drafts = withText(withLabel(withLabel({}, features, 'Search'), features, 'Login'), features, 'a cache');
  expect(draftOf(all, features)).toEqual({ labels: ['Search', 'Login'], text: 'a cache' });
  expect(draftOf(withLabel(all, features, 'Search'), features).labels).toEqual(['Login']);
});

test('a missing answer is named, and a complete one is one command', () => {
  const half = withLabel({}, database, 'SQLite');
  expect(mistakeIn(half, questions)).toContain('"Features" has no answer');
  const drafts = withText(withLabel(withLabel(half, features, 'Search'), features, 'Login'), features, ' a cache ');
  expect(mistakeIn(drafts, questions)).toBeNull();
  expect(answerAction(item, drafts)).toMatchObject({
    text: 'Database: SQLite; Features: Login, Search, "a cache"',
    command: {
      ...{ kind: 'answer_request', requestId: 'r-1' },
      answers: [
        { question: 'Database', labels: ['SQLite'], text: null },
        { question: 'Features', labels: ['Login', 'Search'], text: 'a cache' },
      ],
    },
  });
});
