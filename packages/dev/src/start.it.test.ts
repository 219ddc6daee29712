import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { root } from './paths.ts';
import { livingNames } from './processes/pid-file.ts';
import { hasJavaAndMaven } from './servers/requirements.ts';

let dir: string;
let started: ChildProcess | null;
let lines: string[];
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'vigil-start-'));
  started = null;
  lines = [];
});
afterEach(async () => {
  if (started?.pid !== undefined && started.exitCode === null) {
    const ended = once(started, 'exit');
    process.kill(-started.pid, 'SIGINT');
    await ended;
  }
  rmSync(dir, { recursive: true, force: true });
});

const LIMIT_MS = 120_000;
const soon = <T>(look: () => T | Promise<T>): Promise<T> => vi.waitFor(look, { timeout: LIMIT_MS, interval: 200 });

/** `npm start` on ports and in a folder of its own, without the servers of the tests. */
const start = (...options: readonly string[]): ChildProcess => {
  const { KAFKA_BROKERS: _, SCHEMA_REGISTRY_URL: __, DATABASE_URL: ___, ...env } = process.env;
  const own = { VIGIL_START_DIR: dir, VIGIL_PORT_OFFSET: String(1000 + (process.pid % 200) * 100) };
  const command = ['packages/dev/bootstrap/run.mjs', 'packages/dev/src/start.ts', ...options];
  const child = spawn(process.execPath, command, {
    ...{ cwd: root, detached: true, env: { ...env, ...own } },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  started = child;
  createInterface({ input: child.stderr }).on('line', (line) => {
    const [, text] = /^\[start .*?\] (.*)$/.exec(line) ?? [];
    if (text !== undefined) lines.push(text);
  });
  return child;
};

/** The link of the line that names the page. */
const link = (): string => {
  const [, url = ''] =
    lines.map((line) => /^page: (\S+) \(works once/.exec(line)).find((found) => found !== null) ?? [];
  expect(url, lines.join('\n')).not.toBe('');
  return url;
};

/** As the file of addresses and tokens of this start has it. */
const variable = (name: string): string =>
  new RegExp(`^export ${name}='(.*)'$`, 'm').exec(readFileSync(path.join(dir, 'start.env'), 'utf8'))?.[1] ?? '';

const dashboard = async <T>(of: string): Promise<T> => {
  const headers = { authorization: `Bearer ${variable('VIGIL_DASHBOARD_TOKEN')}` };
  return (await (await fetch(`${variable('VIGIL_DASHBOARD_URL')}${of}`, { headers })).json()) as T;
};

const PERMISSION = JSON.stringify({
  ...{ session_id: 's-1', hook_event_name: 'PermissionRequest', tool_name: 'Bash' },
  tool_input: { command: 'rm -rf build' },
});

/** A session of a coding agent that asks for a permission, and waits. */
const asking = (agent: string): ChildProcess => {
  const hook = spawn(
    process.execPath,
    [path.join(root, 'packages/dev/bootstrap/vigil.mjs'), 'hook', '--client', 'claude-code'],
    {
      env: {
        ...{ PATH: process.env.PATH ?? '', VIGIL_STATE_DIR: dir, VIGIL_AGENT: agent },
        VIGIL_GATEWAY_URL: variable('VIGIL_GATEWAY_URL'),
        VIGIL_GATEWAY_TOKEN: variable('VIGIL_GATEWAY_TOKEN'),
      },
      stdio: ['pipe', 'ignore', 'ignore'],
    },
  );
  hook.stdin?.end(PERMISSION);
  return hook;
};

/** The first one who opens it, and no other. */
const logsInOnce = async (url: string): Promise<void> => {
  const login = await fetch(url, { redirect: 'manual' });
  const [cookie = ''] = login.headers.getSetCookie();
  expect([login.status, login.headers.get('location')]).toEqual([303, '/']);
  const me = await fetch(new URL('/v1/me', url), { headers: { cookie: cookie.split(';')[0] ?? '' } });
  expect(me.status).toBe(200);
  const again = await fetch(url, { redirect: 'manual' });
  expect(again.status).toBeGreaterThanOrEqual(400);
  expect(again.headers.getSetCookie()).toEqual([]);
};

/** With all that it has started. */
const endsByCtrlC = async (child: ChildProcess, url: string): Promise<void> => {
  const ended = once(child, 'exit');
  process.kill(-(child.pid ?? 0), 'SIGINT');
  await ended;
  expect(lines.at(-1)).toBe('stopped');
  for (const folder of ['.', 'embedded', 'fleet']) expect(livingNames(path.join(dir, folder))).toEqual([]);
  await expect(fetch(url)).rejects.toThrow();
};

it('npm start names its log and why, prints a link that logs in once, gives only the demonstration its policy, and Ctrl-C ends all', async () => {
  const child = start('--embedded');
  const url = await soon(link);
  expect(lines[0]).toBe(
    'log: one file, without Kafka, because --embedded is given (choose with --embedded or --kafka)',
  );

  await logsInOnce(url);

  const hook = asking('mine');
  type Item = { agentId: string; since: number; deadlineAt: number };
  const item = await soon(async () => {
    const { inbox } = await dashboard<{ inbox: readonly Item[] }>('/v1/inbox');
    return inbox.find(({ agentId }) => agentId === 'mine') ?? expect.fail(JSON.stringify(inbox));
  });
  // Ten minutes in `vigil`, 20 s in `demo`.
  expect(item.deadlineAt - item.since).toBeGreaterThan(500_000);
  await soon(async () => {
    const { agents } = await dashboard<{ agents: readonly { agentId: string; policyName: string }[] }>('/v1/agents');
    const policies = Object.fromEntries(agents.map(({ agentId, policyName }) => [agentId, policyName]));
    expect(policies).toMatchObject({ mine: 'vigil', steady: 'demo' });
  });
  hook.kill('SIGTERM');

  // README.md promises both: the governor has the pace of the demonstration.
  await soon(async () => {
    const { agents } = await dashboard<{ agents: readonly { agentId: string }[] }>('/v1/agents');
    const names = agents.map(({ agentId }) => agentId);
    expect(names).toEqual(expect.arrayContaining(['hangs-r1', 'crashes-r3']));
  });

  await endsByCtrlC(child, url);
}, 300_000);

it.runIf(hasJavaAndMaven())(
  'npm start on Kafka without the demonstration does the same',
  async () => {
    const child = start('--kafka', '--no-demo');
    const url = await soon(link);
    expect(lines[0]).toBe('log: Kafka, because --kafka is given (choose with --kafka or --embedded)');
    await logsInOnce(url);
    await endsByCtrlC(child, url);
  },
  300_000,
);
