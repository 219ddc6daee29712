import { spawn as start } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openTestCgroups, type TestCgroups } from '../testing/cgroups.ts';
import {
  type AgentCgroups,
  cgroupFolderIn,
  cgroupOf,
  divideMemory,
  isCgroup,
  isPopulated,
  killCgroup,
  makeCgroup,
  processesIn,
  removeAbandoned,
  removeCgroup,
  startIn,
  wasOutOfMemory,
} from './cgroup.ts';

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });

describe('the cgroup of a process', () => {
  const tmpfs = '31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755';
  const memoryV1 = '35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory';

  test.each([
    {
      where: 'alone',
      cgroups: '0::/system.slice/vigil.service',
      mounts: '24 1 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw',
      folder: '/sys/fs/cgroup/system.slice/vigil.service',
    },
    {
      where: 'beside version 1',
      cgroups: '4:memory:/x\n0::/',
      mounts: `${tmpfs}\n${memoryV1}\n41 31 0:38 / /mnt/unified rw - cgroup2 cgroup2 rw`,
      folder: '/mnt/unified',
    },
    {
      where: 'of a part',
      cgroups: '0::/pods/a/b',
      mounts: '24 1 0:22 /pods/a /sys/fs/cgroup rw - cgroup2 cgroup rw',
      folder: '/sys/fs/cgroup/b',
    },
    {
      where: 'in a folder with a space',
      cgroups: '0::/a',
      mounts: String.raw`24 1 0:22 / /mnt/my\040groups rw - cgroup2 none rw`,
      folder: '/mnt/my groups/a',
    },
  ])('is below the mount of version 2 $where', ({ cgroups, mounts, folder }) => {
    expect(cgroupFolderIn(`${cgroups}\n`, mounts)).toBe(folder);
  });

  test.each([
    ['only version 1 is mounted', '4:memory:/x\n', memoryV1],
    ['version 2 is not mounted', '0::/a\n', memoryV1],
    ['it is outside the namespace', '0::/../other\n', '24 1 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw'],
    ['it is outside the mounted part', '0::/pods/other\n', '24 1 0:22 /pods/a /sys/fs/cgroup rw - cgroup2 cgroup2 rw'],
    ['it is beside a part with a similar name', '0::/a\n', '24 1 0:22 /a..b /sys/fs/cgroup rw - cgroup2 cgroup2 rw'],
  ])('cannot be used where %s', (_, cgroups, mounts) => {
    expect(cgroupFolderIn(cgroups, mounts)).toBeNull();
  });
});

describe('in a folder with the files of a cgroup', () => {
  let dir: string;
  const logged: string[] = [];
  const log = (message: string) => void logged.push(message);
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'vigil-cgroup-'));
    logged.length = 0;
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  const has = (controllers: string, divided: string) => {
    writeFileSync(join(dir, 'cgroup.controllers'), controllers);
    writeFileSync(join(dir, 'cgroup.subtree_control'), divided);
  };
  const divided = () => readFileSync(join(dir, 'cgroup.subtree_control'), 'utf8');
  const available = (withoutMemory: string | null): AgentCgroups => ({ kind: 'available', parent: dir, withoutMemory });
  const made = (cgroups: AgentCgroups, memory: number | null) => makeCgroup(cgroups, 'instance-1', memory, log) ?? '';

  test('memory is divided among agents where its controller is delegated', () => {
    has('cpu memory pids\n', '\n');
    expect(divideMemory(dir)).toBeNull();
    expect(divided()).toBe('+memory');
  });

  test('a division that is there already is not written again', () => {
    has('cpu memory pids\n', 'memory pids\n');
    expect(divideMemory(dir)).toBeNull();
    expect(divided()).toBe('memory pids\n');
  });

  test('without its controller memory is not divided, and the reason names the remedy', () => {
    has('cpu memory_other\n', '');
    expect(divideMemory(dir)).toContain('Delegate=memory');
    expect(divided()).toBe('');
  });

  test('where the kernel refuses the division, the reason names the remedy', () => {
    writeFileSync(join(dir, 'cgroup.controllers'), 'memory');
    expect(divideMemory(dir)).toContain('DelegateSubgroup=vigil-supervisor');
  });

  test('the limit of memory is that of the agent, for all its processes at once', () => {
    const folder = made(available(null), 4096);
    expect(folder).toBe(cgroupOf(available(null), 'instance-1'));
    expect(readFileSync(join(folder, 'memory.max'), 'utf8')).toBe('4096');
    expect(readFileSync(join(folder, 'memory.oom.group'), 'utf8')).toBe('1');
  });

  test.each([
    ['the agent has none', null, null],
    ['the kernel cannot hold one', 'no memory controller', 4096],
  ])('no limit of memory is set where %s', (_, withoutMemory, memory) => {
    expect(readdirSync(made(available(withoutMemory), memory))).toEqual([]);
    expect(logged).toEqual([]);
  });

  test('a cgroup that cannot be made is none, with the reason in the log', () => {
    mkdirSync(cgroupOf(available(null), 'instance-1') ?? '');
    expect(made(available(null), null)).toBe('');
    expect(logged).toHaveLength(1);
  });

  test('no cgroup is made where none is available', () => {
    expect(made({ kind: 'unavailable', why: 'a test' }, 4096)).toBe('');
    expect(logged).toEqual([]);
  });

  test.each([
    ['low 0\noom 3\noom_kill 1\noom_group_kill 1\n', true],
    ['low 0\noom 3\noom_kill 0\noom_group_kill 0\n', false],
  ])('a kill at the limit is one that the kernel counts: %j', (events, isKilled) => {
    writeFileSync(join(dir, 'memory.events'), events);
    expect(wasOutOfMemory(dir)).toBe(isKilled);
  });

  test('without a count nothing was killed at the limit', () => {
    expect(wasOutOfMemory(dir)).toBe(false);
  });
});

describe('a real cgroup', () => {
  let real: TestCgroups;
  beforeAll(() => {
    real = openTestCgroups();
  });
  afterAll(() => real.close());
  let made = 0;
  const newCgroup = (context: { readonly skip: (why: string) => never }): string => {
    if (real.cgroups === null) return context.skip(real.why);
    made += 1;
    return makeCgroup(real.cgroups, `instance-${made}`, null, () => {}) ?? '';
  };
  const run = async (folder: string, script: string): Promise<void> => {
    const shell = startIn(folder, () => start('/bin/sh', ['-c', script], { stdio: 'ignore' }));
    await once(shell, 'spawn');
    expect(isPopulated(folder)).toBe(true);
  };

  test('names what was started in it, in any session, and is empty after it was killed', async (context) => {
    const folder = newCgroup(context);
    await run(folder, 'trap "" TERM; setsid env -i sleep 600 & sleep 600');
    await until(() => expect(processesIn(folder)).toHaveLength(3));
    expect(removeCgroup(folder)).toBe(false);
    killCgroup(folder);
    await until(() => expect(isPopulated(folder)).toBe(false));
    expect(processesIn(folder)).toEqual([]);
    expect(removeCgroup(folder)).toBe(true);
    expect(existsSync(folder)).toBe(false);
  });

  test('includes those that are made in it', async (context) => {
    const folder = newCgroup(context);
    const inner = join(folder, 'inner');
    mkdirSync(inner);
    await run(inner, 'exec sleep 600');
    await until(() => expect(processesIn(folder)).toHaveLength(1));
    expect(isPopulated(folder)).toBe(true);
    killCgroup(folder);
    await until(() => expect(isPopulated(folder)).toBe(false));
    expect(removeCgroup(folder)).toBe(true);
  });

  test('that is removed has no process, and can be killed again', (context) => {
    const folder = newCgroup(context);
    expect([isCgroup(folder), isPopulated(folder)]).toEqual([true, false]);
    removeCgroup(folder);
    killCgroup(folder);
    expect([isCgroup(folder), isPopulated(folder), processesIn(folder)]).toEqual([false, false, []]);
  });

  test('that is gone starts nothing', (context) => {
    const folder = newCgroup(context);
    removeCgroup(folder);
    let isStarted = false;
    const begin = () => {
      isStarted = true;
    };
    expect(() => startIn(folder, begin)).toThrow('ENOENT');
    expect(isStarted).toBe(false);
  });

  test('does not keep the process that has started another in it, also where that failed', (context) => {
    const folder = newCgroup(context);
    const fails = () => {
      expect(processesIn(folder)).toEqual([process.pid]);
      throw new Error('it does not start');
    };
    expect(() => startIn(folder, fails)).toThrow('it does not start');
    expect(isPopulated(folder)).toBe(false);
  });

  test('that processes have left is removed after a minute, and one with a process never', async (context) => {
    const [left, used] = [newCgroup(context), newCgroup(context)];
    await run(used, 'exec sleep 600');
    const parent = real.cgroups?.parent ?? '';
    removeAbandoned(parent, Date.now());
    expect([existsSync(left), existsSync(used)]).toEqual([true, true]);
    removeAbandoned(parent, Date.now() + 61_000);
    expect([existsSync(left), existsSync(used)]).toEqual([false, true]);
    killCgroup(used);
  });
});
