import { spawn } from 'node:child_process';
import { bundleOf, type ServiceName } from '@vigil/dev';
import type { Knowledge } from '@vigil/read-model';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSystem, ownServers, type TestSystem, until } from '../support/system.ts';

/** Makes a part stand still; returns the function that lets it work again. */
type Fault = (t: TestSystem) => Promise<() => Promise<void>>;

const dashboardFrozen: Fault = async ({ system }) => {
  const service = system.service('dashboard');
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

/** The servers, and the dashboard itself: what `vigil health` shows. */
const faults: readonly (readonly [string, Fault, RegExp])[] = [
  ['the broker', brokerFrozen, /BLIND since .*AWAY {2}broker since /s],
  ['Postgres', postgresClosed, /Postgres has not answered since /],
  ['the dashboard', dashboardFrozen, /has not answered in time/],
];
/** Every other service. `blinds`: without it states stay as they were. */
const services: readonly (readonly [name: ServiceName, blinds: boolean])[] = [
  ['alerting', false],
  ['recovery', false],
  ['intervention', false],
  ['projector', true],
  ['health-evaluator', true],
  ['heartbeat-ingest', true],
  ['gateway', true],
];
const NAMES = services.map(([name]) => name);

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

  const ask = async (path: string, body: object | null): Promise<unknown> => {
    const { VIGIL_DASHBOARD_URL: url, VIGIL_DASHBOARD_TOKEN: token } = t.system.env;
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const sent = body === null ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
    return await (await fetch(`${url}${path}`, sent)).json();
  };
  /** What the API has: the page shows the same. */
  const knowledge = async (): Promise<Knowledge> =>
    ((await ask('/v1/fleet', null)) as { knowledge: Knowledge }).knowledge;
  /** What a tool of MCP answers. */
  const toolAnswer = async () => {
    const params = { name: 'list_agents', arguments: { all: true } };
    const answer = await ask('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    type Listed = { agents: { state: string }[]; knowledge: { blind_since: string | null; away: { part: string }[] } };
    return (answer as { result: { structuredContent: Listed } }).result.structuredContent;
  };
  /** Those of the services that are away. The dashboard itself may be busy. */
  const away = async (): Promise<readonly string[]> => {
    const parts = (await knowledge()).away.map(({ part }) => part);
    return NAMES.filter((name) => parts.includes(name));
  };

  // Each is frozen while those before it still are: a new one is named, and none that works.
  test('every service that stands still is named by every view, and none that works; all recover by themselves', async () => {
    await sees();
    const watch = spawn(process.execPath, [bundleOf('vigil'), 'health', '--watch'], {
      env: { ...process.env, ...t.system.env, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let watched = '';
    watch.stdout.setEncoding('utf8').on('data', (text: string) => {
      watched += text;
    });
    const frozen: ServiceName[] = [];
    try {
      for (const [name, blinds] of services) {
        t.system.service(name).freeze();
        frozen.push(name);
        await until(`${name} is named`, async () => (await away()).includes(name));
        expect(await away()).toEqual(NAMES.slice(0, frozen.length));
        const line = `AWAY  ${name} since `;
        await until(`the watch names ${name}`, async () => watched.includes(line));
        const [{ code, text }, listed] = await Promise.all([look(), toolAnswer()]);
        expect(listed.knowledge.away.map(({ part }) => part)).toEqual(expect.arrayContaining([name]));
        if (frozen.length <= 6) expect(text).toContain(line);
        if (!blinds) continue;
        expect({ code, text }).toMatchObject({ code: 2, text: expect.stringContaining('BLIND since ') });
        expect(text).not.toMatch(/steady +HEALTHY/);
        expect(listed.knowledge.blind_since).not.toBeNull();
        expect(listed.agents.map(({ state }) => state)).toEqual([expect.stringMatching(/^was /)]);
        expect(watched).toContain('BLIND since ');
      }
    } finally {
      for (const name of frozen) t.system.service(name).thaw();
    }
    await until('all answer again', async () => (await away()).length === 0);
    await sees();
    await until('the watch is current again', async () => watched.includes('current again at '));
    watch.kill();
  }, 300_000);

  test.each(faults)(
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
