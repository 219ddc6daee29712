import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AgentDeps } from '../deps.ts';
import type { Report } from '../orders/order.ts';
import { type AgentCgroups, cgroupOf, makeCgroup, removeCgroup } from '../process/cgroup.ts';
import { identify, isAlive, measuredOf, type Pid, signalled } from '../process/proc.ts';
import { occupantOf } from '../state/lock.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { openTestCgroups, type TestCgroups } from '../testing/cgroups.ts';
import { liveOn, type Stage, scriptSpec, setStage, terminate } from '../testing/stage.ts';
import type { Supervised } from './agent-instance.ts';
import type { AgentSpec } from './agent-spec.ts';
import { noLimits } from './limits.ts';
import { superviseHosted } from './supervise.ts';

let stage: Stage;
let real: TestCgroups;
let instance: Supervised | null = null;
let shown = '';
beforeEach(async () => {
  real = openTestCgroups();
  stage = await setStage();
  shown = '';
});
afterEach(async () => {
  if (instance !== null) await instance.end('the test is over', 0).then(() => instance?.settled);
  instance = null;
  await stage.close();
  real.close();
});

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const reported = <T extends Report['type']>(type: T) =>
  stage.gateway.reports.flatMap((report) =>
    report.type === type ? [report.payload as Extract<Report, { type: T }>['payload']] : [],
  );
const live = async (cgroups: AgentCgroups, script: string, more: Partial<AgentSpec> = {}): Promise<void> => {
  const deps = { ...stage.deps, cgroups };
  instance = await liveOn({ ...stage, deps }, scriptSpec(script, more), 80, (data) => {
    shown += data.toString();
  });
};
const realOrSkip = (context: { readonly skip: (why: string) => never }) => real.cgroups ?? context.skip(real.why);

/** Starts a process in a session of its own, without its parent and the variable by which processes of an agent are found. */
const hides = (then: string, name = 'hidden'): string => {
  const file = join(stage.dir, name);
  const escapes = `(setsid env -u VIGIL_SOCKET sh -c 'echo $$ > ${file}; exec sleep 600' &);`;
  return `trap "" HUP; ${escapes} until [ -s ${file} ]; do sleep 0.05; done; ${then}`;
};
const hidden = (name = 'hidden'): Promise<Pid> =>
  until(() => {
    const pid = Number(readFileSync(join(stage.dir, name), 'utf8'));
    expect(pid).toBeGreaterThan(0);
    return identify(pid);
  });

test('a process that hides from its supervisor ends with its agent, where that has a cgroup', async (context) => {
  const cgroups = realOrSkip(context);
  await live(cgroups, hides('sleep 600'));
  const escaped = await hidden();
  stage.gateway.offer(terminate());
  await until(() => expect(reported('ORDER_RECEIPT')).toMatchObject([{ confirmed: true, by: 'cgroup' }]));
  expect(isAlive(escaped)).toBe(false);
  await instance?.settled;
  expect(existsSync(cgroupOf(cgroups, 'instance-1') ?? '')).toBe(false);
});

test.runIf(process.platform === 'linux')(
  'without a cgroup it is not found, and the receipt names the weaker way',
  async () => {
    await live(stage.deps.cgroups, hides('sleep 600'));
    const escaped = await hidden();
    stage.gateway.offer(terminate());
    await until(() => expect(reported('ORDER_RECEIPT')).toMatchObject([{ confirmed: true, by: 'environment' }]));
    expect(isAlive(escaped)).toBe(true);
    signalled(escaped.pid, 'SIGKILL');
  },
);

test('what hides in the cgroup of an agent that has crashed is ended before that is reported', async (context) => {
  const cgroups = realOrSkip(context);
  await live(cgroups, hides('exit 3'));
  const escaped = await hidden();
  const details = expect.stringContaining('what it left running has been ended');
  await until(() => expect(reported('AGENT_EXITED')).toMatchObject([{ code: 3, details }]));
  expect(isAlive(escaped)).toBe(false);
});

test('an agent that has finished may leave processes in its cgroup, which then stays', async (context) => {
  const cgroups = realOrSkip(context);
  await live(cgroups, hides('exit 0'));
  const left = await hidden();
  await until(() => expect(reported('AGENT_EXITED')).toMatchObject([{ reason: 'finished' }]));
  await instance?.settled;
  expect(isAlive(left)).toBe(true);
  expect(existsSync(cgroupOf(cgroups, 'instance-1') ?? '')).toBe(true);
});

test('a resumed session stays in the cgroup of its agent', async (context) => {
  const cgroups = realOrSkip(context);
  const terminal = openTerminal(
    { ...scriptSpec(''), prints: 'terminal', cgroup: makeCgroup(cgroups, 'instance-1', null, () => {}) },
    { columns: 80, rows: 24 },
    (data) => {
      shown += data.toString();
    },
  );
  terminal.prepareNext({ id: 'next', command: '/bin/cat', args: ['/proc/self/cgroup'] });
  await terminal.startNext('next');
  await terminal.exited;
  expect(shown).toMatch(/0::.*\/vigil-[0-9a-f]{16}\s/);
});

test('an agent whose session cannot be started in its cgroup again has ended', async (context) => {
  const cgroups = realOrSkip(context);
  const cgroup = makeCgroup(cgroups, 'instance-1', null, () => {}) ?? '';
  const spec = scriptSpec('exit 3');
  const terminal = openTerminal({ ...spec, prints: 'terminal', cgroup }, { columns: 80, rows: 24 }, () => {});
  terminal.prepareNext({ id: 'next', command: '/bin/cat', args: [] });
  await until(() => expect(removeCgroup(cgroup)).toBe(true));
  await expect(terminal.startNext('next')).rejects.toThrow('ENOENT');
  expect(await terminal.exited).toEqual({ code: 3, signal: null });
});

test('the memory of a process that hides in the cgroup of an agent counts as the agent’s', async (context) => {
  const cgroups = realOrSkip(context);
  await live(cgroups, hides('sleep 600'));
  const escaped = await hidden();
  const tree = { leader: instance?.terminal.pid ?? escaped, socket: '/none' };
  expect(measuredOf({ ...tree, cgroup: cgroupOf(cgroups, 'instance-1') })).toContain(escaped.pid);
  expect(measuredOf({ ...tree, cgroup: null })).not.toContain(escaped.pid);
});

test('an agent whose terminal is lost ends with what hides in its cgroup', async (context) => {
  const cgroups = realOrSkip(context);
  const deps: AgentDeps = { ...stage.deps, cgroups, killAfterMs: 200, onOrders: () => {} };
  const hosted = await superviseHosted(scriptSpec(hides('sleep 600')), deps, { columns: 80, rows: 24 });
  const escaped = await hidden();
  const occupant = occupantOf(stage.dir, 'worker-1');
  expect(occupant?.cgroup).toBe(cgroupOf(cgroups, 'instance-1'));
  signalled(occupant?.ptyHost?.pid ?? 0, 'SIGKILL');
  await hosted.settled;
  expect(isAlive(escaped)).toBe(false);
  expect(existsSync(occupant?.cgroup ?? '')).toBe(false);
});

test('the kernel’s kill at the limit of memory is an end by that limit, and no crash', async (context) => {
  realOrSkip(context);
  const parent = mkdtempSync(join(tmpdir(), 'vigil-cgroup-'));
  const cgroups: AgentCgroups = { kind: 'available', parent, withoutMemory: null };
  const folder = cgroupOf(cgroups, 'instance-1') ?? '';
  const limits = { ...noLimits, memory: 64 << 20 };
  await live(cgroups, `cat ${folder}/memory.max; echo oom_kill 1 > ${folder}/memory.events; kill -9 $$`, { limits });
  const details = expect.stringContaining('over its limit of memory: the kernel ended it at 64 MiB');
  await until(() => expect(reported('AGENT_EXITED')).toMatchObject([{ reason: 'resource_limit', details }]));
  expect(shown).toContain(String(64 << 20));
  await instance?.settled;
  rmSync(parent, { recursive: true });
});

test('a limit of memory that is only reported is not set in the kernel', async (context) => {
  realOrSkip(context);
  const parent = mkdtempSync(join(tmpdir(), 'vigil-cgroup-'));
  const cgroups: AgentCgroups = { kind: 'available', parent, withoutMemory: null };
  const limits = { ...noLimits, memory: 64 << 20, reportOnly: true };
  await live(cgroups, 'exit 0', { limits });
  await until(() => expect(reported('AGENT_EXITED')).toHaveLength(1));
  expect(existsSync(join(cgroupOf(cgroups, 'instance-1') ?? '', 'memory.max'))).toBe(false);
  await instance?.settled;
  rmSync(parent, { recursive: true });
});
