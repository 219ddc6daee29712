import type { ServiceName } from '@vigil/dev';
import type { Knowledge } from '@vigil/read-model';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSystem, ownServers, soak, type TestSystem, until } from '../support/system.ts';

/** Makes a part stand still; returns the function that lets it work again. */
type Fault = (t: TestSystem) => Promise<() => Promise<void>>;

const frozen =
  (name: ServiceName): Fault =>
  async ({ system }) => {
    const service = system.service(name);
    service.freeze();
    return async () => service.thaw();
  };

const brokerFrozen: Fault = async ({ servers: { brokers } }) => {
  const [broker] = brokers;
  if (broker === undefined) throw new Error('the broker is not ours to freeze');
  await broker.kill('SIGSTOP');
  return () => broker.kill('SIGCONT');
};

/** It refuses connections, and ends those that are open. */
const postgresClosed: Fault = async ({ servers }) => {
  const url = new URL(servers.env.DATABASE_URL);
  const database = url.pathname.slice(1);
  url.pathname = '/postgres';
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  await admin.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`);
  await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [database]);
  return async () => {
    await admin.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`);
    await admin.end();
  };
};

const always: readonly (readonly [string, Fault, RegExp])[] = [
  ['the broker', brokerFrozen, /BLIND since /],
  ['Postgres', postgresClosed, /Postgres has not answered since /],
  ['the projector', frozen('projector'), /BLIND since .*AWAY {2}projector since /s],
  ['the dashboard', frozen('dashboard'), /has not answered in time/],
];
/** Frozen, each of them leaves the states of agents as they were. */
const others: readonly (readonly [string, Fault, RegExp])[] = [
  ['ingest', frozen('heartbeat-ingest'), /BLIND since .*AWAY {2}heartbeat-ingest since /s],
  ['the evaluator', frozen('health-evaluator'), /BLIND since .*AWAY {2}health-evaluator since /s],
  ['the gateway', frozen('gateway'), /BLIND since .*AWAY {2}gateway since /s],
];
const BEHIND: readonly ServiceName[] = [
  'gateway',
  'heartbeat-ingest',
  'health-evaluator',
  'intervention',
  'recovery',
  'alerting',
];

describe.skipIf(!ownServers)('a view that cannot see', () => {
  let t: TestSystem;
  const look = async () => {
    const { code, stdout, stderr } = await t.vigil('health');
    return { code, text: stdout + stderr };
  };
  const sees = () =>
    until('a current answer', async () => {
      const { code, text } = await look();
      return code !== 2 && /steady +HEALTHY/.test(text) && !text.includes('AWAY');
    });

  beforeAll(async () => {
    t = await openSystem({ name: 'blindness' });
    await t.fleet(['steady']);
  }, 300_000);
  afterAll(() => t?.stop());

  const knowledge = async (): Promise<Knowledge> => {
    const { VIGIL_DASHBOARD_URL: url, VIGIL_DASHBOARD_TOKEN: token } = t.system.env;
    const answer = await fetch(`${url}/v1/fleet`, { headers: { authorization: `Bearer ${token}` } });
    return ((await answer.json()) as { knowledge: Knowledge }).knowledge;
  };
  /** Those of `BEHIND` that are away. The dashboard itself may be busy. */
  const away = async (): Promise<readonly string[]> => {
    const parts = (await knowledge()).away.map(({ part }) => part);
    return BEHIND.filter((name) => parts.includes(name));
  };

  // Each is frozen while those before it still are: a new one is named, and none that works.
  test.runIf(soak(false, true))(
    'every service that stands still is named in the knowledge of the fleet, and none that works',
    async () => {
      await until('all answer', async () => (await away()).length === 0);
      for (const [n, name] of BEHIND.entries()) {
        t.system.service(name).freeze();
        await until(`${name} is named`, async () => (await away()).includes(name));
        expect(await away()).toEqual(BEHIND.slice(0, n + 1));
        expect((await knowledge()).blindSince).not.toBeNull();
      }
      for (const name of BEHIND) t.system.service(name).thaw();
      await until('all answer again', async () => (await away()).length === 0);
      await until('it is current again', async () => (await knowledge()).blindSince === null);
    },
    900_000,
  );

  test.each(soak(always, [...always, ...others]))(
    'without %s it shows that it is blind, no state as the present one, and recovers by itself',
    async (_, fault, shows) => {
      await sees();
      const end = await fault(t);
      const blind = await until('it is blind', async () => {
        const { code, text } = await look();
        return code === 2 && text;
      });
      const text = await until('it shows why', async () => {
        const seen = await look();
        return shows.test(seen.text) && seen.text;
      }).finally(end);
      expect(blind).not.toMatch(/steady +HEALTHY/);
      expect(text).not.toMatch(/steady +HEALTHY/);
      await sees();
    },
    300_000,
  );
});
