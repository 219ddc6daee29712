import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { outboxFolder } from '../gateway/outbox.ts';
import { identify, isAlive } from '../process/proc.ts';
import { occupantOf } from '../state/lock.ts';
import { type Stage, setStage } from '../testing/stage.ts';
import { streaming } from '../testing/streams.ts';
import { openTerminal, type Terminal } from './terminal.ts';

let stage: Stage;
let shown = '';
beforeEach(async () => {
  stage = await setStage('test');
  shown = '';
});
afterEach(() => stage.close());

const fixture = fileURLToPath(new URL('./foreground.fixture.ts', import.meta.url));
const commandLine = (script: string) => [fixture, stage.dir, stage.gateway.url, script];
const env = { PATH: process.env.PATH ?? '', TERM: 'xterm' };
const sit = (script: string): Terminal =>
  openTerminal(
    {
      command: process.execPath,
      args: commandLine(script),
      cwd: tmpdir(),
      env,
      prints: 'terminal',
      cgroup: null,
      user: null,
    },
    { columns: 91, rows: 33 },
    (data) => {
      shown += data.toString();
    },
  );
const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const exited = () =>
  until(() => {
    const found = stage.gateway.reports.find(({ type }) => type === 'AGENT_EXITED');
    expect(found).toBeDefined();
    return found?.payload;
  });

test('size, colours, input and exit status are the command’s own', async () => {
  const resized = 'while [ "$(stty size)" != "20 70" ]; do sleep 0.02; done';
  const terminal = sit(
    `stty size; printf "\\033[31mred\\033[0m\\n"; printf "name "; read name; ${resized}; echo "hello $name"; exit 7`,
  );
  await until(() => expect(shown).toContain('name '));
  expect(shown).toContain('33 91');
  expect(shown).toContain('\u001b[31mred\u001b[0m');
  terminal.resize(70, 20);
  terminal.write('world\r');
  expect(await terminal.exited).toEqual({ code: 7, signal: null });
  expect(shown).toContain('hello world');
  expect(shown.match(/world/g)).toHaveLength(2);
});

test('Ctrl-C goes to the command, which may take it as it likes', async () => {
  const terminal = sit(
    'trap "echo caught" INT; echo ready; while read line; do :; done; sleep 0.1; echo still here; exit 5',
  );
  await until(() => expect(shown).toContain('ready'));
  terminal.write('\x03');
  await until(() => expect(shown).toContain('caught'));
  terminal.write('\x04');
  expect(await terminal.exited).toMatchObject({ code: 5 });
  expect(await exited()).toMatchObject({ reason: 'crashed', code: 5 });
});

test('a command that Ctrl-C has ended was ended on purpose, with the status of a shell', async () => {
  const terminal = sit('echo ready; exec sleep 600');
  await until(() => expect(shown).toContain('ready'));
  terminal.write('\x03');
  expect(await terminal.exited).toMatchObject({ code: 130 });
  expect(await exited()).toMatchObject({ reason: 'explicit', signal: 'SIGINT' });
});

test('a signal to the supervisor reaches the command', async () => {
  const terminal = sit('trap "exit 3" TERM; echo ready; while :; do sleep 0.05; done');
  await until(() => expect(shown).toContain('ready'));
  process.kill(terminal.pid.pid, 'SIGTERM');
  expect(await terminal.exited).toMatchObject({ code: 3 });
  expect(await exited()).toMatchObject({ reason: 'explicit' });
});

/** A terminal whose owner can be killed, which closes it, and the supervisor on it. */
const sitClosable = async (script: string) => {
  const args = JSON.stringify([process.execPath, commandLine(script), { cwd: tmpdir(), env }]);
  const open = `import { spawn } from '@lydell/node-pty'; console.log(spawn(...${args}).pid)`;
  const ptyHost = spawn(process.execPath, ['--input-type=module', '-e', open], { cwd: import.meta.dirname });
  const [pid] = await once(ptyHost.stdout, 'data');
  return { supervisor: identify(Number(pid)), close: () => ptyHost.kill('SIGKILL') };
};
/** The process of the agent, once the gateway has its first heartbeat. */
const supervised = () =>
  until(() => {
    const child = occupantOf(stage.dir, 'worker-1')?.child;
    if (!child || stage.gateway.heartbeats.length === 0) throw new Error('it does not run yet');
    return child;
  });
const gone = (pid: Parameters<typeof isAlive>[0]) => until(() => expect(isAlive(pid)).toBe(false));

test('a terminal that is closed while the end of its agent is being reported does not lose the report', async () => {
  const { supervisor, close } = await sitClosable('echo ready; exec sleep 600');
  const agent = await supervised();
  // The report waits for the answer to the last heartbeat.
  stage.gateway.silent = true;
  process.kill(supervisor.pid, 'SIGTERM');
  await gone(agent);
  close();
  expect(await exited()).toMatchObject({ reason: 'explicit', signal: 'SIGTERM' });
  await gone(supervisor);
  expect(occupantOf(stage.dir, 'worker-1')).toBeNull();
  expect(readdirSync(outboxFolder(stage.dir, stage.gateway.url))).toEqual([]);
});

test('where the supervisor is killed after it was asked to stop, the next one reports a requested end', async () => {
  const { pid: first } = sit('trap "" TERM; echo ready; while :; do sleep 0.05; done');
  const agent = await supervised();
  process.kill(first.pid, 'SIGTERM');
  await until(() => expect(occupantOf(stage.dir, 'worker-1')?.endRequestedBy).toBe('the supervisor received SIGTERM'));
  process.kill(first.pid, 'SIGKILL');
  await gone(agent);
  const { pid: second } = sit('exit 0');
  const details = expect.stringMatching(/^the supervisor received SIGTERM; its supervisor .* died/);
  expect(await exited()).toMatchObject({ reason: 'explicit', orderId: null, details });
  await gone(second);
});

test.each([
  ['a client that prints a stream', () => streaming(stage.dir, 'claude')],
  ['any other command', () => []],
])('a pipe gets the bytes that %s printed, unchanged', async (_, more) => {
  const bytes = Buffer.from(`{"a":"\t\u00fc \u{1f600}"}\n{"b":1}\r\n\n\u001b[0m${'x'.repeat(200_000)}\nno newline`);
  const file = join(stage.dir, 'stream');
  writeFileSync(file, bytes);
  const pieces: Buffer[] = [];
  const piped = execFile(process.execPath, [...commandLine(`cat ${file}`), ...more()], { env });
  piped.stdout?.setEncoding('latin1').on('data', (data) => pieces.push(Buffer.from(data, 'latin1')));
  piped.stdin?.end();
  await new Promise((resolve) => piped.on('close', resolve));
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
});

/** What a pipe gets from a script that reads a line, where the input is there before its terminal is. */
const piped = async (script: string, more: readonly string[] = []): Promise<string> => {
  const agent = spawn(process.execPath, [...commandLine(script), ...more], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  agent.stdin.write('typed\n');
  let text = '';
  agent.stdout.on('data', (data) => {
    text += data;
  });
  await once(agent, 'close');
  return text;
};

test.each([
  ['a client that runs one prompt', () => streaming(stage.dir, 'claude')],
  ['any other command', () => []],
])('what is typed is not in the output of %s behind a pipe', async (_, more) => {
  expect(await piped('read line; printf "got "; echo "$line" | rev; exit 3', more())).toBe('got depyt\n');
});

test('a client that runs one prompt sees that its output goes to a pipe, and keeps a terminal for the rest', async () => {
  const script =
    '[ -t 1 ] && echo escapes; [ -t 2 ] && echo escapes >&2; [ -t 0 ] && echo input; stty size; echo end >&2';
  expect(await piped(script, streaming(stage.dir, 'claude'))).toBe('input\n40 120\nend\n');
  expect(await piped(script)).toContain('escapes');
});

test('the end of a client behind a pipe does not wait for a process that it left with its output', async () => {
  const script = 'trap "" HUP; sleep 600 & echo $!';
  const left = await piped(script, streaming(stage.dir, 'claude'));
  process.kill(Number(left), 'SIGKILL');
});

test('through pipes the command still has a terminal, and sees the end of its input', async () => {
  const piped = execFile(process.execPath, commandLine('tty; cat; echo end'), { env });
  let text = '';
  piped.stdout?.on('data', (data) => {
    text += data;
  });
  piped.stdin?.end('one line\n');
  await new Promise((resolve) => piped.on('close', resolve));
  expect(text).toMatch(/\/dev\/pts\/\d+/);
  expect(text).toMatch(/one line\r?\n[\s\S]*end/);
});

test.runIf(process.platform === 'linux')(
  'an agent whose output a full disk does not take works on to its end',
  async () => {
    const full = openSync('/dev/full', 'w');
    const agent = spawn(process.execPath, commandLine('for n in 1 2 3; do echo $n; sleep 0.1; done; exit 7'), {
      env,
      stdio: ['ignore', full, 'ignore'],
    });
    closeSync(full);
    expect(await once(agent, 'exit')).toEqual([7, null]);
    expect(await exited()).toMatchObject({ code: 7 });
  },
);

test('an agent whose output has lost its reader receives SIGHUP, and its end is reported', async () => {
  const agent = spawn(process.execPath, commandLine('while :; do echo line; sleep 0.05; done'), {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(agent.stdout, 'data');
  agent.stdout.destroy();
  expect(await exited()).toMatchObject({ reason: 'explicit', signal: 'SIGHUP' });
  await once(agent, 'exit');
});
