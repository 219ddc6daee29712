import { spawn } from 'node:child_process';
import { connect, createServer, type Socket } from 'node:net';
import { bundleOf, type ServiceName } from '@vigil/dev';
import type { Knowledge } from '@vigil/read-model';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goTo, installedBrowser, openBrowser, openPage } from '../page/browser.ts';
import { openSystem, ownServers, type TestSystem, until } from '../support/system.ts';
import { brokerFrozen, type Fault, postgresClosed, postmasterFrozen, frozen as serviceFrozen } from './standstill.ts';

/** The servers, and the dashboard itself: what `vigil health` shows. */
const faults: readonly (readonly [name: string, Fault, shows: RegExp, part: string])[] = [
  ['the broker', brokerFrozen, /BLIND since .*AWAY {2}broker since /s, 'broker'],
  ['Postgres', postgresClosed, /Postgres has not answered since /, 'postgres'],
  ['new connections to Postgres', postmasterFrozen, /Postgres has not answered since /, 'postgres'],
  ['the dashboard', serviceFrozen('dashboard'), /has not answered in time/, 'the dashboard'],
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
const NAMES = ['registry', ...services.map(([name]) => name)];

/** The registry as the services reach it. The systems of a run share one, so what stands still is the way to it. */
const openRegistry = async () => {
  const { hostname, port } = new URL(process.env.SCHEMA_REGISTRY_URL ?? 'http://127.0.0.1:1');
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    // While it is frozen, connections are taken and not answered.
    if (isFrozen) return;
    const registry = connect(Number(port), hostname).on('error', () => socket.destroy());
    socket.pipe(registry).pipe(socket);
    socket.resume();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = new URL(process.env.SCHEMA_REGISTRY_URL ?? '');
  address.port = String((server.address() as { readonly port: number }).port);
  address.hostname = '127.0.0.1';
  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: address.href.replace(/\/$/, ''),
    freeze: () => {
      isFrozen = true;
      drop();
    },
    thaw: () => {
      isFrozen = false;
      drop();
    },
    [Symbol.dispose]: () => {
      drop();
      server.close();
    },
  };
};

const REGISTRY = 'registry';
const executable = installedBrowser();

describe.skipIf(!ownServers || executable === null)('a view that cannot see', () => {
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

  let registry: Awaited<ReturnType<typeof openRegistry>>;
  let browser: Browser;
  let page: Page;
  const url = () => t.system.env.VIGIL_DASHBOARD_URL;

  beforeAll(async () => {
    registry = await openRegistry();
    t = await openSystem({ name: 'blindness', env: { SCHEMA_REGISTRY_URL: registry.url } });
    await t.fleet(['steady']);
    browser = await openBrowser(executable ?? '');
    page = await openPage(browser, []);
    const headers = { authorization: `Bearer ${t.system.env.VIGIL_DASHBOARD_TOKEN}` };
    const login = await fetch(`${url()}/v1/login-links`, { method: 'POST', headers });
    await page.goto(`${url()}${((await login.json()) as { readonly path: string }).path}`);
    await goTo(page, url(), 'fleet/steady');
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await t?.stop();
    registry?.[Symbol.dispose]();
  });

  /** `vigil health --watch`, and what it has shown. */
  const startWatch = () => {
    const watch = spawn(process.execPath, [bundleOf('vigil'), 'health', '--watch'], {
      env: { ...process.env, ...t.system.env, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let watched = '';
    watch.stdout.setEncoding('utf8').on('data', (text: string) => {
      watched += text;
    });
    return { text: () => watched, end: () => void watch.kill() };
  };

  const title = () => page.locator('.title');
  const pageNames = (part: string) =>
    page.getByLabel('Parts of Vigil that do not answer').getByText(`${part} since`).waitFor();
  /** It shows that it is blind, and no state as the present one. */
  const pageIsBlind = async (): Promise<void> => {
    await page.getByText(/^BLIND since/).waitFor();
    await title().getByText(/^was /).waitFor();
    expect(await title().getByText('HEALTHY', { exact: true }).count()).toBe(0);
  };
  const pageSees = async (): Promise<void> => {
    await page.getByText(/^current, /).waitFor();
    await title().getByText('HEALTHY', { exact: true }).waitFor();
  };

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
    const watch = startWatch();
    await pageSees();
    const parts = [
      { ...registry, name: REGISTRY, blinds: false },
      ...services.map(([name, blinds]) => {
        const { freeze, thaw } = t.system.service(name);
        return { name, blinds, freeze, thaw };
      }),
    ];
    const frozen: typeof parts = [];
    try {
      for (const part of parts) {
        const { name, blinds } = part;
        part.freeze();
        frozen.push(part);
        await until(`${name} is named`, async () => (await away()).includes(name));
        expect(await away()).toEqual(NAMES.slice(0, frozen.length));
        const line = `AWAY  ${name} since `;
        await until(`the watch names ${name}`, async () => watch.text().includes(line));
        await pageNames(name);
        const [{ code, text }, listed] = await Promise.all([look(), toolAnswer()]);
        expect(listed.knowledge.away.map(({ part }) => part)).toEqual(expect.arrayContaining([name]));
        if (frozen.length <= 6) expect(text).toContain(line);
        if (!blinds) continue;
        await pageIsBlind();
        expect({ code, text }).toMatchObject({ code: 2, text: expect.stringContaining('BLIND since ') });
        expect(text).not.toMatch(/steady +HEALTHY/);
        expect(listed.knowledge.blind_since).not.toBeNull();
        expect(listed.agents.map(({ state }) => state)).toEqual([expect.stringMatching(/^was /)]);
        expect(watch.text()).toContain('BLIND since ');
      }
    } finally {
      for (const part of frozen) part.thaw();
    }
    await until('all answer again', async () => (await away()).length === 0);
    await sees();
    await until('the watch is current again', async () => watch.text().includes('current again at '));
    await pageSees();
    watch.end();
  }, 300_000);

  test('with the projector frozen, vigil doctor names it, since when, and what to do', async () => {
    await sees();
    const projector = t.system.service('projector');
    projector.freeze();
    const report = await until('vigil doctor names the projector with its beginning', async () => {
      const { code, stdout } = await t.vigil('doctor');
      return /BAD {2}projector since \d\d:\d\d:\d\d: /.test(stdout) && { code, stdout };
    }).finally(() => projector.thaw());
    expect(report.code).toBe(1);
    expect(report.stdout).toMatch(
      /BAD {2}projector since \d\d:\d\d:\d\d: .*does not answer within 2 s.*\n +what to do: end its process if it is frozen/,
    );
    expect(report.stdout).toMatch(/ok {3}gateway/);
    await until('vigil doctor is content', async () => (await t.vigil('doctor')).code === 0);
  }, 120_000);

  test('with the dashboard frozen, vigil doctor and vigil health have its beginning from alerting', async () => {
    await sees();
    const dashboard = t.system.service('dashboard');
    const before = Date.now();
    dashboard.freeze();
    const report = await until('vigil doctor has its beginning', async () => {
      const { stdout } = await t.vigil('doctor');
      return /BAD {2}dashboard since \d\d:\d\d:\d\d: /.test(stdout) && `${stdout}${(await look()).text}`;
    }).finally(() => dashboard.thaw());
    const [, since] = /BAD {2}API of the dashboard since (\d\d:\d\d:\d\d): /.exec(report) ?? [];
    expect(since).toBeDefined();
    expect(report).toContain(`BLIND since ${since}: The dashboard at `);
    // Alerting looks every five seconds, and waits as long for an answer.
    const times = [0, 1, 2, 3].map((n) => new Date(before + n * 5000).toTimeString().slice(0, 5));
    expect(times).toContain(since?.slice(0, 5));
    await sees();
  }, 120_000);

  test.each(faults)(
    'without %s each view shows that it is blind, names what does not answer, shows no state as the present one, and recovers by itself',
    async (_, fault, shows, part) => {
      await sees();
      await pageSees();
      const watch = startWatch();
      const end = await fault(t);
      const blind = await until('it is blind', async () => {
        const { code, text } = await look();
        return code === 2 && text;
      });
      const text = await until('it shows why', async () => {
        const seen = await look();
        if (!shows.test(seen.text)) return false;
        await pageIsBlind();
        await pageNames(part);
        await until('the watch names it', async () => watch.text().includes(`AWAY  ${part} since `));
        return seen.text;
      }).finally(async () => {
        watch.end();
        await end();
      });
      expect(blind).not.toMatch(/steady +HEALTHY/);
      expect(text).not.toMatch(/steady +HEALTHY/);
      await sees();
      await pageSees();
    },
    300_000,
  );
});
