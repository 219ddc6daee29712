import { expect, test } from 'vitest';
import { asUnreachable, CorrectDatabaseVariables, DatabaseUnreachable, isAway, isDataError } from './database.ts';

const URL_OF = 'postgres://vigil:secret@db:5432/vigil';
const coded = (code: string): Error => Object.assign(new Error(`failed with ${code}`), { code });

test('wrong credentials are refused, which a restart does not repair; the password is not shown', () => {
  const refused = asUnreachable(URL_OF, coded('28P01')) as Error;
  expect(refused).toBeInstanceOf(CorrectDatabaseVariables);
  expect(refused).toMatchObject({ exitCode: 2 });
  expect(refused.message).toContain('Postgres at db:5432/vigil refuses the credentials');
  expect(refused.message).not.toContain('secret');
});

test('a database that nothing answers for may answer later', () => {
  expect(asUnreachable(URL_OF, coded('ECONNREFUSED'))).toBeInstanceOf(DatabaseUnreachable);
  expect(asUnreachable(URL_OF, coded('42P01'))).not.toBeInstanceOf(DatabaseUnreachable);
});

test.each(['ECONNREFUSED', 'ECONNRESET', '57P01', '57P02', '57P03', '08006'])('after %s Postgres is away', (code) => {
  expect(isAway(coded(code))).toBe(true);
});

test('so it is after a connection that has ended, and not after a statement that it refuses', () => {
  expect(isAway(new Error('Connection terminated unexpectedly'))).toBe(true);
  expect(isAway(new Error('Client has encountered a connection error and is not queryable'))).toBe(true);
  expect([isAway(coded('23505')), isDataError(coded('23505'))]).toEqual([false, true]);
  expect(isAway(new Error('a mistake in the code'))).toBe(false);
});
