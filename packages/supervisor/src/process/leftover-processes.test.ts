import { spawn as start } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Supervised } from '../agent/agent-instance.ts';
import { killed, OrphanStage } from '../testing/orphans.ts';
import { handoff, liveOn, type Stage, scriptSpec, setStage } from '../testing/stage.ts';
import { identify, leftoversOf, sessionOf, signalled, treeOf } from './proc.ts';

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const killAll = (pids: readonly number[]): void => {
  for (const pid of pids) signalled(pid, 'SIGKILL');
};

describe('of an agent that has ended', () => {
  let stage: Stage;
  let instance: Supervised;
  let shown = '';
  beforeEach(async () => {
    stage = await setStage();
    shown = '';
  });
  afterEach(async () => {
    await instance.end('the test is over', 0).then(() => instance.settled);
    killAll(sessionOf(instance.terminal.pid.pid));
    await stage.close();
  });

  /** The hangup of its terminal ends nothing of it, as nohup makes it. */
  const leaves = async (script: string): Promise<void> => {
    instance = await liveOn(stage, scriptSpec(`trap "" HUP; ${script}`), 200, (data) => {
      shown += data.toString();
    });
  };
  /** As its end is reported. */
  const ends = () =>
    until(() => {
      const found = stage.gateway.reports.flatMap((one) => (one.type === 'AGENT_EXITED' ? [one.payload] : []));
      expect(found).toHaveLength(1);
      return found[0];
    });
  const stillRunning = () => sessionOf(instance.terminal.pid.pid);

  test('by a crash no process is left when that is reported, and the report names what was left', async () => {
    await leaves('sleep 600 & exit 3');
    const details = 'exited with code 3; what it left running has been ended';
    expect(await ends()).toMatchObject({ reason: 'crashed', code: 3, details });
    expect(stillRunning()).toEqual([]);
  });

  test('what takes no SIGTERM is killed', async () => {
    await leaves('trap "" TERM; sleep 600 & exit 3');
    expect((await ends())?.details).toContain('what it left running has been ended');
    expect(stillRunning()).toEqual([]);
  });

  test('as it was asked to nothing works on either', async () => {
    await leaves('echo ready; read line; sleep 600 & exit 0');
    await until(() => expect(shown).toContain('ready'));
    stage.gateway.offer(handoff());
    const details = expect.stringContaining('what it left running has been ended');
    expect(await ends()).toMatchObject({ reason: 'explicit', orderId: 'handoff-1', details });
    expect(stillRunning()).toEqual([]);
  });

  test('the processes of an agent that has finished may keep running', async () => {
    await leaves('sleep 600 & exit 0');
    expect(await ends()).toMatchObject({ reason: 'finished', details: 'exited with code 0' });
    expect(stillRunning()).toHaveLength(1);
  });
});

describe('of an agent that has ended without a supervisor', () => {
  let on: OrphanStage;
  beforeEach(async () => {
    on = await OrphanStage.open();
  });
  afterEach(() => on.close());

  test('the next supervisor ends processes that were left running', async () => {
    const script = 'trap "" HUP; sleep 600 & echo working; while [ ! -e go ]; do sleep 0.02; done; exit 7';
    const first = await on.runs(script);
    await on.keepsReporting();
    const { child, instanceId } = on.held;
    await killed(first);
    on.touch('go');
    await on.endSeenBy(instanceId);
    expect(sessionOf(child.pid)).toHaveLength(1);
    await on.runs(script);
    await until(() => expect(on.reported('AGENT_EXITED')).toMatchObject([{ reason: 'crashed', code: 7 }]));
    expect(sessionOf(child.pid)).toEqual([]);
  });
});

test('a session with the same number that began after that end belongs to another process', async () => {
  const other = start('/bin/sh', ['-c', 'sleep 600 & exit 0'], { detached: true });
  const pid = other.pid as number;
  const { startTime } = identify(pid);
  await once(other, 'exit');
  const [member] = sessionOf(pid);
  const longBefore = { pid, startTime: String(Number(startTime) - 10_000) };
  expect(leftoversOf({ leader: longBefore, socket: '/no/socket', cgroup: null }, 90_000)).toEqual([]);
  expect(leftoversOf({ leader: longBefore, socket: '/no/socket', cgroup: null }, 110_000)).toEqual([member]);
  killAll(sessionOf(pid));
});

test('a process with the number of an ended agent is another process, and so is its session', async () => {
  const other = start('sleep', ['600'], { detached: true });
  await once(other, 'spawn');
  const pid = other.pid as number;
  const longBefore = { pid, startTime: String(Number(identify(pid).startTime) - 10_000) };
  expect(treeOf({ leader: longBefore, socket: '/no/socket', cgroup: null })).toEqual([]);
  expect(treeOf({ leader: identify(pid), socket: '/no/socket', cgroup: null })).toEqual([pid]);
  killAll([pid]);
});
