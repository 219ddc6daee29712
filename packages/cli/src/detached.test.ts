import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { vigilProgram } from './program.fixture.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-cli-'));
});
afterEach(async () => {
  for (const name of ['worker-1', 'outer']) if (isThere(name)) await vigil(['stop', name, '--grace', '100ms']);
  rmSync(dir, { recursive: true, force: true });
});

type Process = { readonly pid: number };
type Lock = Record<'supervisor' | 'ptyHost' | 'child', Process> & { readonly instanceId: string };
const lockOf = (name: string) => join(dir, 'agents', `${name}.lock`);
const isThere = (name: string) => existsSync(lockOf(name));
const lock = (name = 'worker-1') => JSON.parse(readFileSync(lockOf(name), 'utf8')) as Lock;
const readLog = (name = 'worker-1') => readFileSync(join(dir, 'logs', `${name}.log`), 'utf8');
const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 50 });
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const env = () => ({
  PATH: process.env.PATH ?? '',
  USER: 'ada',
  TMPDIR: dir,
  VIGIL_STATE_DIR: join(dir),
  NODE_COMPILE_CACHE: join(tmpdir(), 'vigil-compiled'),
  // An agent does not wait for a supervisor.
  VIGIL_GATEWAY_URL: 'http://127.0.0.1:9',
});
const start = (args: readonly string[]) => spawn(process.execPath, [vigilProgram, ...args], { env: env() });
const endOf = async (child: ReturnType<typeof start>) => {
  let [out, err] = ['', ''];
  child.stdout.on('data', (data) => {
    out += data;
  });
  child.stderr.on('data', (data) => {
    err += data;
  });
  const [code] = await once(child, 'close');
  return { code, out, err };
};
const vigil = (args: readonly string[], input = '') => {
  const child = start(args);
  child.stdin.end(input);
  return endOf(child);
};
const run = (script: string, name = 'worker-1') =>
  vigil(['run', '--detach', '--json', '--name', name, '--env', 'VIGIL_STATE_DIR', '--', '/bin/sh', '-c', script]);
const READER = 'echo ready; while read line; do echo "got=$line"; done';

test('in the background an agent outlives the shell that it was started from', async () => {
  const words = ['run', '--detach', '--json', '--name', 'worker-1', '--', '/bin/sh', '-c', READER];
  const command = [process.execPath, vigilProgram, ...words].map((word) => `'${word}'`).join(' ');
  const shell = spawn('/bin/sh', ['-c', `${command}; sleep 600`], { env: env(), detached: true });
  let out = '';
  shell.stdout.on('data', (data) => {
    out += data;
  });
  const started = await until(() => JSON.parse(out) as Record<string, unknown>);
  for (const signal of ['SIGHUP', 'SIGKILL'] as const) process.kill(-(shell.pid ?? 0), signal);
  await once(shell, 'close');
  const { supervisor, child } = lock();
  expect(started).toMatchObject({ agent: 'worker-1', pid: child.pid, supervisor_pid: supervisor.pid });
  expect([started.attach, started.stop]).toEqual([
    `vigil attach worker-1 --dir ${dir}`,
    `vigil stop worker-1 --dir ${dir}`,
  ]);
  expect([supervisor.pid, child.pid].map(isAlive)).toEqual([true, true]);
  expect(await vigil(['stop', 'worker-1', '--grace', '100ms'])).toMatchObject({ code: 0, err: '' });
  expect(isThere('worker-1')).toBe(false);
  expect(isAlive(child.pid)).toBe(false);
  expect(readLog()).toContain('"details":"ended by SIGTERM; stopped by ada with vigil stop"');
});

test('a name that runs already is refused, in the foreground, too', async () => {
  await run(READER);
  const { child } = lock();
  for (const more of [['--detach'], []])
    expect(await vigil(['run', ...more, '--name', 'worker-1', '--', 'true'])).toMatchObject({
      code: 2,
      err: expect.stringContaining(`agent worker-1 runs already (supervisor ${lock().supervisor.pid}, process`),
    });
  expect(lock().child).toEqual(child);
});

test('a command that does not exist has run, and ended', async () => {
  expect(await vigil(['run', '--detach', '--name', 'worker-1', '--', 'no-such-program'])).toMatchObject({ code: 0 });
  await until(() => expect(readLog()).toContain('exited with code 127'));
});

test('an attached viewer shows the earlier output, and its keys reach the agent only with --write, on record', async () => {
  await run(READER);
  const looker = start(['attach', 'worker-1']);
  const looked = endOf(looker);
  let seen = '';
  looker.stdout.on('data', (data) => {
    seen += data;
  });
  await until(() => expect(seen).toContain('ready'));
  looker.stdin.write('nothing\n');
  expect(readLog()).not.toContain('may type');
  const writer = start(['attach', 'worker-1', '--write']);
  const wrote = endOf(writer);
  writer.stdin.write('hello\r');
  await until(() => expect(seen).toContain('got=hello'));
  expect(readLog()).toMatch(/a viewer may type at an agent’s terminal.*"who":"ada"/);
  expect(seen).not.toContain('nothing');
  await vigil(['stop', 'worker-1', '--grace', '100ms']);
  expect(await looked).toMatchObject({ code: 0, err: expect.stringContaining('worker-1 has ended: ended by SIGTERM') });
  expect(await wrote).toMatchObject({ code: 0, err: expect.stringContaining('your keys reach it') });
});

test('at a terminal Ctrl-] detaches, and the agent works on', async () => {
  await run(READER);
  await run(`'${process.execPath}' '${vigilProgram}' attach worker-1`, 'outer');
  const outer = start(['attach', 'outer', '--write']);
  const over = endOf(outer);
  let seen = '';
  outer.stdout.on('data', (data) => {
    seen += data;
  });
  await until(() => expect(seen).toContain('read-only; Ctrl-] detaches'));
  outer.stdin.write('\x1d');
  expect(await over).toMatchObject({ code: 0, err: expect.stringContaining('outer has ended: exited with code 0') });
  expect(seen).toContain('detached from worker-1, which works on');
  expect(isAlive(lock().child.pid)).toBe(true);
});

test('an agent whose supervisor was killed is not started again, but supervised again by its name alone', async () => {
  await run(READER);
  const before = lock();
  process.kill(before.supervisor.pid, 'SIGKILL');
  await until(() => expect(isAlive(before.supervisor.pid)).toBe(false));
  const remedy = `vigil run --detach --name worker-1`;
  for (const words of [
    ['run', '--detach', '--name', 'worker-1', '--', 'true'],
    ['stop', 'worker-1'],
    ['attach', 'worker-1', '--write'],
  ])
    expect(await vigil(words)).toMatchObject({ code: expect.any(Number), err: expect.stringContaining(remedy) });
  expect(await vigil(['run', '--detach', '--name', 'worker-1'])).toMatchObject({ code: 0 });
  expect(lock()).toMatchObject({ child: before.child, ptyHost: before.ptyHost });
  expect(lock().supervisor).not.toEqual(before.supervisor);
  expect(await vigil(['stop', 'worker-1', '--grace', '100ms'])).toMatchObject({ code: 0 });
  expect(isAlive(before.child.pid)).toBe(false);
});

test('without a command there has to be something to supervise', async () => {
  expect(await vigil(['run', '--detach', '--name', 'worker-1'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('nothing of worker-1 is left to supervise: write what to run after --'),
  });
  expect(await vigil(['run', '--name', 'worker-1'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('missing'),
  });
});

test('an agent that is not here is named with where it was looked for', async () => {
  for (const command of ['attach', 'stop'])
    expect(await vigil([command, 'missing'])).toMatchObject({
      code: 1,
      err: expect.stringContaining(`no agent missing runs on this host, according to ${dir}`),
    });
});

test('the nearest name of this host is suggested for one that is not here', async () => {
  await run(READER);
  const [near, far] = [await vigil(['attach', 'worker-2']), await vigil(['stop', 'missing'])];
  expect(near.err).toContain(`according to ${dir}: did you mean worker-1? Otherwise give the --dir`);
  expect(far.err).toContain(`according to ${dir}: there are worker-1; or give the --dir`);
});

test('a restarted agent runs the same command as a new instance, and its end was requested', async () => {
  await run('echo "task=$VIGIL_TASK_ID"; sleep 600');
  const before = lock();
  const restarted = await vigil(['restart', 'worker-1', '--grace', '100ms', '--json']);
  expect(restarted).toMatchObject({ code: 0, err: '' });
  const after = lock();
  expect(JSON.parse(restarted.out)).toEqual({ agent: 'worker-1', pid: after.child.pid });
  expect(after.supervisor).toEqual(before.supervisor);
  expect(after.instanceId).not.toEqual(before.instanceId);
  expect([before.child.pid, after.child.pid].map(isAlive)).toEqual([false, true]);
  expect(readLog()).toContain('restarted by ada with vigil restart');
  const stopped = await vigil(['stop', 'worker-1', '--grace', '100ms', '--json']);
  expect(stopped.code).toBe(0);
  expect(JSON.parse(stopped.out)).toEqual({ agent: 'worker-1', how: 'ended by SIGTERM' });
  expect(isThere('worker-1')).toBe(false);
});

test('one in the foreground is not restarted, with what to do instead', async () => {
  const foreground = start(['run', '--name', 'worker-1', '--', '/bin/sh', '-c', 'sleep 600']);
  const over = endOf(foreground);
  await until(() => expect(lock().child).not.toBeNull());
  expect(await vigil(['restart', 'worker-1'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('stop it, and run its command again'),
  });
  await vigil(['stop', 'worker-1', '--grace', '100ms']);
  await over;
});

test('one in the foreground has its own terminal, and is stopped like any other', async () => {
  const foreground = start([
    'run',
    '--name',
    'worker-1',
    '--',
    '/bin/sh',
    '-c',
    'trap "exit 3" TERM; echo ready; while :; do sleep 0.05; done',
  ]);
  const over = endOf(foreground);
  await until(() => expect(lock().child).not.toBeNull());
  expect(await vigil(['attach', 'worker-1'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('look at its own terminal'),
  });
  expect(await vigil(['stop', 'worker-1'])).toMatchObject({ code: 0 });
  expect(await over).toMatchObject({ code: 3 });
  expect(readLog()).toContain('"details":"exited with code 3; stopped by ada with vigil stop"');
  expect(readdirSync(join(dir, 'agents'))).toEqual([]);
});
