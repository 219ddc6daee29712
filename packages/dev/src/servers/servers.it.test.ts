import pg from 'pg';
import { expect, it } from 'vitest';
import { startOf } from '../processes/pid-file.ts';
import type { Broker } from './kafka/broker.ts';
import { testServers } from './servers.ts';

it('the registry answers with the compatibility level of the contract', async () => {
  const response = await fetch(`${process.env.SCHEMA_REGISTRY_URL}/config`);
  expect(await response.json()).toMatchObject({ compatibilityLevel: 'FULL_TRANSITIVE' });
});

it('Postgres has a database for Vigil', async () => {
  const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
  await client.connect();
  expect((await client.query('select current_database() as name')).rows).toEqual([{ name: 'vigil' }]);
  await client.end();
});

it('a killed or frozen broker serves again after a restart, as a new process', async () => {
  const [kafka] = (await testServers(process.env)).brokers as [Broker];
  const first = kafka.pid() ?? 0;
  await kafka.kill('SIGKILL');
  expect(kafka.pid()).toBeNull();
  await kafka.restart();
  const second = kafka.pid() ?? 0;
  expect(startOf(second)).not.toBeNull();
  expect(second).not.toBe(first);
  await kafka.kill('SIGSTOP');
  await kafka.restart();
  expect(kafka.pid()).not.toBe(second);
});
