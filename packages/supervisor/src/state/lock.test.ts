import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { identify, type Pid } from '../process/proc.ts';
import { stopAgent } from '../pty-host/attach.ts';
import {
  checkFree,
  createLockFile,
  type Occupant,
  occupantOf,
  removeLockDrafts,
  takeName,
  takeRuntime,
} from './lock.ts';
import { makeFolder, openStateDir } from './own-folder.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-test-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const dead: Pid = { pid: 2 ** 22 + 1, startTime: '1' };
const self = identify(process.pid);
const occupant = (more: Partial<Occupant> = {}): Occupant => ({
  agentId: 'worker-1',
  instanceId: 'instance-1',
  taskId: null,
  runtimeId: 'run-1',
  attempt: 0,
  orderId: null,
  supervisor: dead,
  ptyHost: null,
  child: null,
  cgroup: null,
  endRequestedBy: null,
  ...more,
});

test('the rest of a lock that a process died while writing is removed; that of a living one stays', () => {
  mkdirSync(join(dir, 'runtimes'), { recursive: true });
  const draft = (pid: number) => join(dir, 'runtimes', `run-1.lock.${pid}`);
  for (const path of [draft(dead.pid), `${draft(dead.pid)}.dead`, draft(self.pid)]) writeFileSync(path, '');
  removeLockDrafts(dir);
  expect(readdirSync(join(dir, 'runtimes'))).toEqual([`run-1.lock.${self.pid}`]);
});

test('a name is free again when every process of its occupant has ended; a reused process number does not count', () => {
  takeName(dir, occupant({ child: { ...self, startTime: '1' }, ptyHost: { ...self, startTime: '1' } }));
  takeName(dir, occupant({ instanceId: 'instance-2' })).release();
  expect(occupantOf(dir, 'worker-1')).toBeNull();
  expect(readdirSync(join(dir, 'agents'))).toEqual([]);
});

test('a name is taken while its supervisor, its PTY host or its process runs', () => {
  for (const who of ['supervisor', 'ptyHost', 'child'] as const) {
    const lock = takeName(dir, occupant({ [who]: self }));
    expect(() => takeName(dir, occupant())).toThrow(/agent worker-1 (runs already|still runs)/);
    lock.release();
  }
});

test('the refusal for an agent whose PTY host alone runs names how to supervise it again', () => {
  takeName(dir, occupant({ ptyHost: self, child: self }));
  expect(() => checkFree(dir, 'worker-1')).toThrow(/its supervisor 4194305 has died: start its runtime again, or/);
});

test('a claim that has come in the place of a dead one is put back', () => {
  const path = join(dir, 'x.lock');
  const [gone, fresh, late] = [{ n: 1 }, { n: 2 }, { n: 3 }];
  createLockFile(path, fresh, null);
  expect(createLockFile(path, late, gone)).toBe(false);
  expect(readdirSync(dir)).toEqual(['x.lock']);
  expect(createLockFile(path, late, fresh)).toBe(true);
});

test('a foreign lock is refused with its path, and stays as it is', () => {
  mkdirSync(join(dir, 'agents'));
  for (const garbage of ['', 'garbage', '[]', '{"agentId":"worker-1"}']) {
    writeFileSync(join(dir, 'agents', 'worker-1.lock'), garbage);
    expect(() => takeName(dir, occupant())).toThrow(
      /worker-1.lock is not a Vigil lock file: remove it once you are sure/,
    );
  }
});

test('a runtime is one process', () => {
  takeRuntime(dir, 'run-1', identify(process.ppid));
  expect(() => takeRuntime(dir, 'run-1', self)).toThrow(`(process ${process.ppid}); end that one first`);
  takeRuntime(dir, 'run-2', dead);
  takeRuntime(dir, 'run-2', self)();
  expect(readdirSync(join(dir, 'runtimes'))).toEqual(['run-1.lock']);
});

test('a runtime with the number of an earlier one is another, and its lock shows that', () => {
  takeRuntime(dir, 'run-1', { ...self, startTime: '1' });
  takeRuntime(dir, 'run-1', self);
  expect(() => takeRuntime(dir, 'run-1', identify(process.ppid))).toThrow(
    `(process ${process.pid}); end that one first`,
  );
});

test('a lock of a dead supervisor ends no agent, and an agent that a runtime is starting does not block it', async () => {
  takeName(dir, occupant({ ptyHost: null, child: null, supervisor: dead }));
  await expect(stopAgent(dir, 'worker-1', 'ann', 0)).rejects.toThrow('has died, and no PTY host holds its terminal');
  takeName(dir, occupant({ agentId: 'worker-2', ptyHost: null, child: null, supervisor: self }));
  await expect(stopAgent(dir, 'worker-2', 'ann', 0)).rejects.toThrow('is just being started: try again');
});

test('a state folder of another user is refused', () => {
  const asRoot = process.getuid?.() === 0;
  if (asRoot) chownSync(dir, 12_345, 12_345);
  const theirs = asRoot ? dir : '/';
  expect(() => makeFolder(theirs, 'choose another')).toThrow(`${theirs} is not a folder of this user`);
});

test('a state folder that others may write to is refused, and one that they may only read is not', () => {
  for (const mode of [0o770, 0o702, 0o777]) {
    chmodSync(dir, mode);
    expect(() => openStateDir(dir)).toThrow(`other users may write to the state folder ${dir}`);
  }
  chmodSync(dir, 0o755);
  openStateDir(dir);
});
