import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adapters } from '@vigil/adapters';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { vigilProgram } from '../../program.fixture.ts';
import { agentRow } from '../../render/rows.fixture.ts';

const TOKEN = 'a-token-for-tests-only';
let folder: string;
let looks: number;

/**
 * A dashboard that shows one session; from the third poll on another agent too, and from the fourth a new session of
 * the first name.
 */
const server = createServer((request, response) => {
  looks += 1;
  const session = { agentId: 'worker-1', client: 'claude-code' };
  const agents = [
    agentRow({
      ...session,
      ...(looks < 4 ? { instanceId: 'i1', phase: 'before' } : { instanceId: 'i2', phase: 'after' }),
    }),
    ...(looks < 3 ? [] : [agentRow({ agentId: 'another-agent' })]),
  ];
  const isKnown = request.headers.authorization === `Bearer ${TOKEN}` && request.url?.startsWith('/v1/agents');
  response.writeHead(isKnown ? 200 : 404).end(JSON.stringify(isKnown ? { agents } : { detail: 'no' }));
});

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'vigil-adopt-')));
  for (const name of ['bin', 'project']) mkdirSync(join(folder, name));
  looks = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A client that stands on the PATH, and runs until it is ended. */
const client = (name: string): string => {
  const file = join(folder, 'bin', name);
  writeFileSync(file, '#!/bin/sh\nread line\n');
  chmodSync(file, 0o755);
  return file;
};

const written = (): readonly string[] =>
  readdirSync(join(folder, 'project'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, 'project').length + 1))
    .sort();

const adopt = async (...options: readonly string[]) => {
  const child = spawn(process.execPath, [vigilProgram, 'adopt', ...options], {
    cwd: join(folder, 'project'),
    env: {
      ...{ PATH: join(folder, 'bin'), HOME: folder, VIGIL_DASHBOARD_TOKEN: TOKEN },
      VIGIL_DASHBOARD_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, out, err };
};

test('without a client nothing is installed, and the output names what was looked for', async () => {
  const { code, err } = await adopt('--yes', '--no-wait');
  expect(code).toBe(1);
  expect(err).toContain(`none of ${adapters.map(({ install }) => install.binary).join(', ')} is on the PATH`);
  expect(written()).toEqual([]);
});

test('the hooks are shown before any write, and nothing is written without a yes', async () => {
  client('claude');
  client('codex');
  const { code, out, err } = await adopt('--no-wait');
  expect(code).toBe(1);
  expect(out).toMatch(/Claude Code: \d+ events would be reported; writes \S+\/project\/\.claude\/settings\.json/);
  expect(out).toMatch(/Codex: \d+ events would be reported/);
  expect(out).not.toContain('Gemini');
  expect(err).toContain('run `vigil adopt --yes`');
  expect(written()).toEqual([]);
});

test('with a yes the hooks of the clients that are found are written, once, with what a person has to do', async () => {
  client('claude');
  client('codex');
  const first = await adopt('--yes', '--no-wait');
  expect(first).toMatchObject({ code: 0, err: '' });
  expect(first.out).toContain('trust it where codex asks, or later under /hooks');
  expect(first.out).toContain('is moved or deleted, the hooks do nothing');
  expect(written()).toEqual(['.claude/settings.json', '.codex/hooks.json']);
  const before = readFileSync(join(folder, 'project', '.claude/settings.json'), 'utf8');
  const second = await adopt('--no-wait');
  expect(second).toMatchObject({ code: 0, err: '' });
  expect(second.out).toContain('Claude Code: has its hook in');
  expect(readFileSync(join(folder, 'project', '.claude/settings.json'), 'utf8')).toBe(before);
});

test('as JSON for programs, it changes nothing', async () => {
  client('gemini');
  const { code, out } = await adopt('--json');
  expect(code).toBe(0);
  expect(JSON.parse(out).hooks).toMatchObject([{ title: 'Gemini CLI', isCurrent: false }]);
  expect(written()).toEqual([]);
});

test.runIf(process.platform === 'linux')('a session that runs already must be started again to be seen', async () => {
  const session = spawn(client('claude'), ['-p', 'task'], {
    cwd: join(folder, 'project'),
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = once(session, 'close');
  try {
    const { out } = await adopt('--yes', '--no-wait');
    const line = `Claude Code (process ${session.pid} in ${join(folder, 'project')})`;
    expect(out).toContain(`${line} must be started again to be seen`);
    const { sessions } = JSON.parse((await adopt('--json')).out);
    expect(sessions).toContainEqual({
      ...{ pid: session.pid, client: 'Claude Code', cwd: join(folder, 'project'), seen: 'restart_to_be_seen' },
    });
  } finally {
    session.stdin.end();
    await ended;
  }
});

test('the first session that begins afterwards is shown, under a known name as well, and no other agent', async () => {
  client('claude');
  const { code, out } = await adopt('--yes');
  expect(code).toBe(0);
  const shown = out.slice(out.indexOf('Waiting for the first session'));
  expect(shown).toContain('worker-1');
  expect(shown).toContain('after');
  expect(shown).not.toContain('another-agent');
});
