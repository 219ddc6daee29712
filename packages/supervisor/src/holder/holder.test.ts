import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { identify, isAlive, type Pid, signalled } from '../proc.ts';
import { until } from '../testing-orphans.ts';
import { connectHolder, type Link } from './link.ts';
import { holderSocket } from './place.ts';
import type { FromHolder } from './protocol.ts';
import { startHolder } from './start.ts';

const self = identify(process.pid);
let dir = '';
let holder: Pid;
const links: Link[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-holder-'));
});
afterEach(() => {
  for (const link of links.splice(0)) link.close();
  if (holder && isAlive(holder)) signalled(holder.pid, 'SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

const path = () => holderSocket(dir, 'instance-1');
const hold = (script: string, ring = 1 << 20): Promise<void> => {
  const launch = { agentId: 'worker-1', instanceId: 'instance-1', cwd: dir, env: { PATH: process.env.PATH ?? '' } };
  const command = { command: '/bin/sh', args: ['-c', script], size: { columns: 80, rows: 24 } };
  return startHolder(dir, { ...launch, ...command, socket: path(), ring, kept: { a: 1 } }, (pid) => {
    holder = pid;
  });
};

type Seen = { readonly link: Link; text: string; readonly others: FromHolder[] };
const listening = (link: Link): Seen => {
  links.push(link);
  const seen: Seen = { link, text: '', others: [] };
  link.listen((message) => {
    if ('output' in message) seen.text += Buffer.from(message.output, 'base64');
    else seen.others.push(message);
  });
  return seen;
};
const supervise = async () => listening(await connectHolder(path(), { as: 'supervisor', self }));
const look = async (writes = false, last = 1 << 20) =>
  listening(await connectHolder(path(), { as: 'viewer', who: 'ann', writes, last }));

test('several look on: each sees what was printed last, and what is printed then', async () => {
  await hold('printf first; read go; printf second; sleep 600');
  const supervisor = await supervise();
  await until(() => expect(supervisor.text).toBe('first'));
  const [one, two] = [await look(), await look(false, 2)];
  await until(() => expect([one.text, two.text]).toEqual(['first', 'st']));
  supervisor.link.send({ input: Buffer.from('\r').toString('base64') });
  await until(() => expect([one.text, two.text]).toEqual([supervisor.text, supervisor.text.slice(3)]));
  await until(() => expect(one.text).toContain('second'));
});

test('who only looks on can do nothing, and is cut off for trying; the environment is not theirs either', async () => {
  await hold('read line; echo "got=$line"; sleep 600');
  const supervisor = await supervise();
  const viewer = await look();
  expect(viewer.link.holding).toMatchObject({ kept: null, note: null });
  viewer.link.send({ deed: { does: 'types', input: Buffer.from('x\r').toString('base64') } });
  await viewer.link.closed;
  const other = await look();
  other.link.send({ input: Buffer.from('x\r').toString('base64') });
  await other.link.closed;
  expect(supervisor.others).toEqual([]);
  expect(supervisor.text).toBe('');
});

test('keys reach the agent only through its supervisor, who knows whose they are', async () => {
  await hold('read line; echo "got=$line"; sleep 600');
  await expect(look(true)).rejects.toThrow('nobody supervises it now');
  const supervisor = await supervise();
  const viewer = await look(true);
  const input = Buffer.from('x\r').toString('base64');
  viewer.link.send({ deed: { does: 'types', input } });
  const who = { who: 'ann', writes: true };
  await until(() =>
    expect(supervisor.others).toEqual([
      { deed: expect.objectContaining({ ...who, does: 'opens' }) },
      { deed: expect.objectContaining({ ...who, does: 'types', input }) },
    ]),
  );
  expect(supervisor.text).toBe('');
  viewer.link.close();
  await until(() => expect(supervisor.others.at(-1)).toMatchObject({ deed: { who: 'ann', does: 'leaves' } }));
});

test('one that reads too slowly is cut off and told, while the agent prints on', async () => {
  await hold(
    'read go; i=0; while [ $i -lt 40000 ]; do i=$((i+1)); echo "line $i of a long output"; done; echo end',
    1 << 16,
  );
  const supervisor = await supervise();
  const slow = await look();
  slow.link.pause();
  supervisor.link.send({ input: Buffer.from('\r').toString('base64') });
  await until(() => expect(supervisor.text).toContain('end'));
  slow.link.resume();
  await slow.link.closed;
  expect(slow.others).toEqual([{ missed: expect.any(Number) }]);
});

test('the agent waits for a supervisor that is behind, so that nothing is missed, and for nobody where it has none', async () => {
  const script = 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo "line $i of a long output"; done; echo end';
  await hold(`read go; ${script}; read more; ${script}; sleep 600`, 1 << 16);
  const supervisor = await supervise();
  supervisor.link.pause();
  supervisor.link.send({ input: Buffer.from('\r').toString('base64') });
  const viewer = await look();
  await until(() => expect(viewer.text).toContain('line 100 '));
  supervisor.link.resume();
  await until(() => expect(supervisor.text).toContain('end'));
  expect(supervisor.others).toEqual([]);
  expect(supervisor.text.match(/line/g)).toHaveLength(20_000);
  supervisor.link.pause();
  supervisor.link.send({ input: Buffer.from('\r').toString('base64') });
  supervisor.link.close();
  const orphan = await look(false, 1 << 10);
  await until(() => expect(orphan.text).toContain('line 20000 of a long output\r\nend'));
});

test('there is one supervisor at a time; what it has noted is the next one’s', async () => {
  await hold('sleep 600');
  const first = await supervise();
  await expect(supervise()).rejects.toThrow(`it is supervised by process ${process.pid} already`);
  first.link.send({ note: { sequence: 7 } });
  first.link.close();
  await first.link.closed;
  const second = await supervise();
  expect(second.link.holding).toMatchObject({ kept: { a: 1 }, note: { sequence: 7 } });
});

test('an end is kept, with its code and time, until its supervisor says good-bye', async () => {
  await hold('echo done; exit 3');
  const viewer = await look();
  await until(() => expect(viewer.others).toEqual([{ ended: { code: 3, signal: null, at: expect.any(Number) } }]));
  const supervisor = await supervise();
  await until(() => expect(supervisor.others).toEqual(viewer.others));
  expect(supervisor.text).toBe('done\r\n');
  supervisor.link.send({ bye: true });
  await until(() => expect(isAlive(holder)).toBe(false));
  expect(statSync(path(), { throwIfNoEntry: false })).toBeUndefined();
});

test('where its folder is gone it keeps an agent, but not an end that nobody can ask for', async () => {
  await hold('read go; exit 3');
  const supervisor = await supervise();
  rmSync(dirname(path()), { recursive: true });
  supervisor.link.send({ input: Buffer.from('\r').toString('base64') });
  await until(() => expect(supervisor.others).toMatchObject([{ ended: { code: 3 } }]));
  await supervisor.link.closed;
  await until(() => expect(isAlive(holder)).toBe(false));
});

test('nobody else can reach it', async () => {
  await hold('sleep 600');
  expect(statSync(path()).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(path())).mode & 0o777).toBe(0o700);
});

test('something else in its place is not spoken to', async () => {
  mkdirSync(dirname(path()), { recursive: true });
  writeFileSync(path(), 'garbage');
  await expect(supervise()).rejects.toThrow('is no socket of ours');
  rmSync(path());
  const server = createServer((socket) => socket.end('garbage\n')).listen(path());
  await once(server, 'listening');
  await expect(supervise()).rejects.toThrow(/JSON/);
  server.close();
});

test('a state folder too deep for a socket is refused with what to do', async () => {
  dir = join(dir, 'x'.repeat(100));
  await expect(hold('sleep 1')).rejects.toThrow(/has at most 103: choose a shorter --dir/);
});

test('a program that does not exist ends at once with 127, as in a shell', async () => {
  await hold('exec no-such-program');
  const viewer = await look();
  await until(() => expect(viewer.others).toMatchObject([{ ended: { code: 127 } }]));
});
