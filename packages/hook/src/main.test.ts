import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Heartbeat } from '@vigil/events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readSpool, spoolFile } from './spool/spool.ts';

const vigil = fileURLToPath(new URL('../../dev/bootstrap/vigil.mjs', import.meta.url));
const quiet = { code: 0, stdout: '', stderr: '' };
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-hook-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

type Run = { readonly code: number | null; readonly stdout: string; readonly stderr: string };
const run = (input: string | Buffer, env: Record<string, string> = {}, client = 'claude-code'): Promise<Run> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [vigil, 'hook', '--client', client], {
      env: { PATH: process.env.PATH ?? '', VIGIL_STATE_DIR: dir, ...env },
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (data) => {
      stdout += data;
    });
    child.stderr.on('data', (data) => {
      stderr += data;
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });

/** A gateway that takes connections, and answers nothing. */
const muteGateway = async (work: (url: string) => Promise<void>): Promise<void> => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  server.close();
};
const stop = JSON.stringify({ session_id: 's-1', hook_event_name: 'Stop' });
const ended = (id: string) =>
  JSON.stringify({
    session_id: 's-1',
    hook_event_name: 'PostToolUse',
    tool_name: 'Bash',
    tool_use_id: id,
    tool_input: { command: 'ls' },
    tool_response: { stdout: 'secret' },
  });
const spooled = () =>
  readSpool(join(dir, spoolFile('claude-code', 's-1')), 0, false).entries.map(({ record }) => record);

test('with nothing there, each client is silent, and one that is not known too', async () => {
  for (const client of ['claude-code', 'codex', 'gemini-cli', 'unknown', '__proto__'])
    expect(await run(stop, {}, client)).toEqual(quiet);
});

test('the facts of an event are on the disk before the supervisor is asked, without its content', async () => {
  const env = { VIGIL_SOCKET: join(dir, 'none.sock'), VIGIL_SPOOL: dir };
  expect(await run(ended('c-1'), env)).toEqual(quiet);
  expect(spooled()).toMatchObject([
    { client: 'claude-code', session: 's-1', events: [{ call: { call_id: 'c-1', outcome: 'ok' } }] },
  ]);
  expect(JSON.stringify(spooled())).not.toContain('secret');
});

/** As a client does that gives up on its hook: as soon as the record is on the disk. */
const killedWhenSpooled = (id: string, env: Record<string, string>): Promise<void> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [vigil, 'hook', '--client', 'claude-code'], {
      env: { PATH: process.env.PATH ?? '', ...env },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.stdin?.end(ended(id));
    const look = setInterval(() => {
      if (spooled().some(({ events }) => JSON.stringify(events).includes(id))) child.kill('SIGKILL');
    }, 2);
    child.on('close', () => {
      clearInterval(look);
      resolve();
    });
  });

test('of hooks that run beside each other, every second one killed after its append, no event is lost', async () => {
  const path = join(dir, 'mute.sock');
  const server = createServer((socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const env = { VIGIL_SOCKET: path, VIGIL_SPOOL: dir };
  const ids = Array.from({ length: 8 }, (_, n) => `call-${n}`);
  await Promise.all(ids.map((id, n) => (n % 2 === 0 ? run(ended(id), env) : killedWhenSpooled(id, env))));
  server.close();
  const found = spooled().flatMap(({ events }) =>
    events.map((event) => (event.kind === 'call_ended' ? event.call.call_id : '')),
  );
  expect(found.sort()).toEqual(ids);
});

test('with everything down, it is silent', async () => {
  expect(await run(stop, { VIGIL_SOCKET: join(dir, 'none.sock'), VIGIL_SPOOL: dir })).toEqual(quiet);
  expect(await run(stop, { VIGIL_SOCKET: dir, VIGIL_SPOOL: '/proc/nope' })).toEqual(quiet);
  expect(await run(stop, { VIGIL_GATEWAY_URL: 'http://127.0.0.1:1' })).toEqual(quiet);
  expect(await run(stop, { VIGIL_GATEWAY_URL: 'no address' })).toEqual(quiet);
  expect(await run(stop, { VIGIL_GATEWAY_URL: 'http://127.0.0.1:1', VIGIL_STATE_DIR: '/dev/null' })).toEqual(quiet);
  expect(await run(stop, { VIGIL_HOOK_DEBUG: '/dev/null/x' })).toEqual(quiet);
});

test('where the file system takes no folder, it is silent and ends', async () => {
  for (const VIGIL_STATE_DIR of ['/proc/nope', '/proc/nope/deeper', '/proc'])
    expect(await run(stop, { VIGIL_GATEWAY_URL: 'http://127.0.0.1:1', VIGIL_STATE_DIR })).toEqual(quiet);
});

test('folders on the way to its state are made', async () => {
  const state = join(dir, 'a', 'b');
  expect(await run(stop, { VIGIL_GATEWAY_URL: 'http://127.0.0.1:1', VIGIL_STATE_DIR: state })).toEqual(quiet);
  expect(readdirSync(join(state, 'hooks'))).toHaveLength(1);
});

test('a supervisor that does not answer is not awaited, and neither is a gateway', async () => {
  const path = join(dir, 'mute.sock');
  const server = createServer((socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  expect(await run(stop, { VIGIL_SOCKET: path, VIGIL_SPOOL: dir })).toEqual(quiet);
  server.close();
  await muteGateway(async (url) => expect(await run(stop, { VIGIL_GATEWAY_URL: url })).toEqual(quiet));
});

test('invalid lines of a supervisor are ignored', async () => {
  const path = join(dir, 'nonsense.sock');
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('nonsense\n{"hook":7}\n[]\n');
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  expect(await run(stop, { VIGIL_SOCKET: path, VIGIL_SPOOL: dir })).toEqual(quiet);
  server.close();
});

test('it is silent on input that is not a hook event', async () => {
  for (const input of [
    '',
    'nonsense',
    '[]',
    'null',
    '{"hook_event_name":',
    Buffer.from([0xff, 0xfe, 0]),
    '9'.repeat(1e6),
  ])
    expect(await run(input, { VIGIL_SOCKET: join(dir, 'none.sock'), VIGIL_SPOOL: dir })).toEqual(quiet);
});

test('a debug file shows what the hook does', async () => {
  const file = join(dir, 'debug.jsonl');
  expect(await run(stop, { VIGIL_HOOK_DEBUG: file, VIGIL_SOCKET: join(dir, 'none.sock'), VIGIL_SPOOL: dir })).toEqual(
    quiet,
  );
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ what: 'turn_ended', ms: expect.any(Number) });
});

/** A gateway that keeps what it is asked, and answers requests to people by `answer`. */
const answering = async (
  answer: (path: string) => object,
  work: (
    url: string,
    asked: readonly { path: string; body: Record<string, unknown> }[],
    heartbeats: readonly Partial<Heartbeat>[],
  ) => Promise<void>,
): Promise<void> => {
  const heartbeats: Partial<Heartbeat>[] = [];
  const asked: { path: string; body: Record<string, unknown> }[] = [];
  const server = createHttpServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const path = request.url ?? '';
    if (path.startsWith('/v1/requests')) asked.push({ path, body: JSON.parse(body) });
    if (path.startsWith('/v1/heartbeats')) heartbeats.push(...[JSON.parse(body)].flat());
    response.writeHead(200).end(JSON.stringify(path.startsWith('/v1/requests') ? answer(path) : {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, heartbeats);
  server.closeAllConnections();
  server.close();
};
const permission = JSON.stringify({
  ...{ session_id: 's-1', hook_event_name: 'PermissionRequest', tool_name: 'Bash' },
  tool_input: { command: 'rm -rf build' },
});
const OPEN = { kind: 'open', remainingMs: 60_000 };

/** As Codex sends it: the reason is beside the arguments. */
const codexPermission = JSON.stringify({
  ...{ session_id: 's-1', turn_id: 't-1', transcript_path: null, cwd: '/home/dev', model: 'gpt-5.1-codex' },
  ...{ hook_event_name: 'PermissionRequest', permission_mode: 'default', tool_name: 'Bash' },
  tool_input: { command: 'rm -rf build', description: 'Do you allow this?' },
});
const answered = (option: string, more: object = {}) => ({
  ...{ kind: 'answered', option, by: 'ada', why: 'go on' },
  ...more,
});
const decisionIn = ({ stdout }: Run): unknown => JSON.parse(stdout).hookSpecificOutput;

test.each([
  ['claude-code', permission, 'Bash: rm -rf build'],
  ['codex', codexPermission, 'Bash: rm -rf build (Do you allow this?)'],
] as const)('a permission of %s is asked of people, and the hook prints their answer', async (client, event, text) => {
  const decisions = [
    ['allow', { behavior: 'allow' }],
    ['deny', { behavior: 'deny', message: 'ada: go on' }],
  ] as const;
  for (const [option, decision] of decisions) {
    const answer = (path: string) => (path.endsWith('wait=0') ? OPEN : answered(option));
    await answering(answer, async (url, asked) => {
      const ran = await run(event, { VIGIL_GATEWAY_URL: url, VIGIL_AGENT: 'worker-1' }, client);
      // Codex refuses an answer with any other field.
      expect(JSON.parse(ran.stdout)).toEqual({
        hookSpecificOutput: { hookEventName: 'PermissionRequest', decision },
      });
      expect(asked.map(({ path }) => path)).toEqual(['/v1/requests?wait=0', '/v1/requests?wait=25']);
      expect(asked[0]?.body).toMatchObject({
        client,
        agentId: 'worker-1',
        instanceId: 's-1',
        kind: 'permission',
        text,
      });
    });
  }
});

test.each([
  ['claude-code', permission],
  ['codex', codexPermission],
] as const)(
  'without an answer of people the hook of %s prints nothing, so that the client asks',
  async (client, event) => {
    const expired = { kind: 'expired', outcome: 'no_decision' };
    await answering(
      (path) => (path.endsWith('wait=0') ? OPEN : expired),
      async (url) => expect(await run(event, { VIGIL_GATEWAY_URL: url }, client)).toEqual(quiet),
    );
  },
);

const database = {
  ...{ question: 'Which database?', header: 'Database', multiSelect: false },
  options: [
    { label: 'Postgres', description: 'a server' },
    { label: 'SQLite', description: 'a file' },
  ],
};
const checks = { ...database, question: 'Which checks?', header: 'Checks', multiSelect: true };
const questions = (event: string, ...asked: readonly object[]) =>
  JSON.stringify({
    ...{ session_id: 's-1', hook_event_name: event, tool_name: 'AskUserQuestion' },
    tool_input: { questions: asked },
  });

test('a question of Claude Code without a terminal is asked of people when its call begins, and the hook prints their answer', async () => {
  const event = questions('PreToolUse', database);
  const answer = (path: string) => (path.endsWith('wait=0') ? OPEN : answered('2'));
  await answering(answer, async (url, asked) => {
    const env = { VIGIL_GATEWAY_URL: url, CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' };
    expect(decisionIn(await run(event, env))).toEqual({
      ...{ hookEventName: 'PreToolUse', permissionDecision: 'allow', permissionDecisionReason: 'ada: go on' },
      updatedInput: { questions: [database], answers: { 'Which database?': 'SQLite' } },
    });
    expect(asked[0]?.body).toMatchObject({ kind: 'question', text: 'Which database?' });
  });
});

test('several questions of Claude Code at a terminal are asked of people beside its dialog, and the hook prints the answer to each', async () => {
  const answers = [
    { question: 'Database', labels: ['Postgres'], text: null },
    { question: 'Checks', labels: ['Postgres', 'SQLite'], text: 'a dry run' },
  ];
  const answer = (path: string) => (path.endsWith('wait=0') ? OPEN : answered('Database: Postgres', { answers }));
  await answering(answer, async (url, asked) => {
    const env = { VIGIL_GATEWAY_URL: url, CLAUDE_CODE_ENTRYPOINT: 'cli' };
    // The dialog is shown after this event: it is asked then.
    expect(await run(questions('PreToolUse', database, checks), env)).toEqual(quiet);
    expect(asked).toEqual([]);
    expect(decisionIn(await run(questions('PermissionRequest', database, checks), env))).toEqual({
      hookEventName: 'PermissionRequest',
      decision: {
        behavior: 'allow',
        updatedInput: {
          questions: [database, checks],
          answers: { 'Which database?': 'Postgres', 'Which checks?': 'Postgres, SQLite, a dry run' },
        },
      },
    });
    expect(asked[0]?.body).toMatchObject({ kind: 'question', questions: [{ name: 'Database' }, { name: 'Checks' }] });
  });
});

test('the answer that a hook prints ends the wait of its session, before the next hook', async () => {
  await answering(
    () => answered('allow'),
    async (url, _, heartbeats) => {
      await run(permission, { VIGIL_GATEWAY_URL: url, VIGIL_AGENT: 'worker-1' });
      expect(heartbeats.map(({ activity }) => activity)).toEqual(['awaiting_input', 'working']);
    },
  );
});

test('a hook that is ended while it waits withdraws its request, and prints nothing', async () => {
  const held = (path: string) => (path.endsWith('wait=0') ? OPEN : { kind: 'open', remainingMs: 50_000 });
  await answering(held, async (url, asked) => {
    const child = spawn(process.execPath, [vigil, 'hook', '--client', 'claude-code'], {
      env: { PATH: process.env.PATH ?? '', VIGIL_STATE_DIR: dir, VIGIL_GATEWAY_URL: url },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let printed = '';
    child.stdout?.on('data', (data) => {
      printed += data;
    });
    child.stdin?.end(permission);
    const look = setInterval(() => {
      if (asked.length > 1) child.kill('SIGTERM');
    }, 5);
    const code = await new Promise((resolve) => child.on('close', resolve));
    clearInterval(look);
    expect([code, printed]).toEqual([0, '']);
    const { requestId } = asked[0]?.body ?? {};
    expect(asked.at(-1)).toMatchObject({ path: '/v1/requests/withdraw', body: { requestId } });
  });
});
