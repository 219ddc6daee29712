import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openFileLog } from '@vigil/stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { vigilProgram } from '../program.fixture.ts';
import { type Rebuilt, rebuiltLines } from './rebuild.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-rebuild-'));
const file = path.join(dir, 'log.db');
/** Nothing listens there. */
const DATABASE_URL = 'postgres://vigil:secret@127.0.0.1:1/vigil';

beforeAll(async () => {
  await using _ = await openFileLog({ path: file, partitions: 4, writes: [], now: Date.now });
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const rebuild = (env: Readonly<Record<string, string>>, ...args: readonly string[]) => {
  const { PATH = '' } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [vigilProgram, 'replay', 'rebuild', ...args], {
    encoding: 'utf8',
    env: { PATH, ...env },
  });
  return { status, stdout, stderr };
};

const CASES: readonly (readonly [what: string, env: Readonly<Record<string, string>>, says: string])[] = [
  ['no database', {}, 'DATABASE_URL is not set: give the address of Postgres'],
  ['an address of another program', { DATABASE_URL: 'http://vigil:secret@host' }, 'is not an address of Postgres'],
  [
    'two passwords',
    { DATABASE_URL, DATABASE_PASSWORD_FILE: '/absent' },
    'DATABASE_PASSWORD_FILE is set and DATABASE_URL has a password: leave one out',
  ],
  [
    'days that the projector refuses, too',
    { DATABASE_URL, VIGIL_HISTORY_DAYS: '0' },
    'VIGIL_HISTORY_DAYS is "0": give the whole number from 1 to 3650',
  ],
  ['no log', { DATABASE_URL }, 'KAFKA_BROKERS is not set'],
  [
    'a database that does not answer',
    { DATABASE_URL, VIGIL_LOG_FILE: file },
    'the read model is not rebuilt: Postgres at 127.0.0.1:1/vigil cannot be used',
  ],
];

describe('a rebuild is refused, without the password, with', () => {
  test.each(CASES)('%s', (_, env, says) => {
    for (const args of [[], ['--yes']]) {
      const { status, stdout, stderr } = rebuild(env, ...args);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toContain(says);
      expect(stderr).not.toContain('secret@');
    }
  });
});

test('the plan names the database, and what stays and what is deleted', () => {
  const one: Rebuilt = { rebuilt: false, database: 'db:5432/vigil', partitions: 40, before: 'vigil_before' };
  expect(rebuiltLines(one)).toEqual([
    'This rebuilds the read model of db:5432/vigil from 40 partitions.',
    expect.stringContaining('vigil_rebuilt'),
    expect.stringContaining('in one transaction'),
    expect.stringContaining('What that schema has now is deleted.'),
    expect.stringContaining('older than 7 days'),
  ]);
  expect(rebuiltLines({ ...one, rebuilt: true })[1]).toBe(
    'The previous rows are in the schema vigil_before until the next rebuild.',
  );
});
