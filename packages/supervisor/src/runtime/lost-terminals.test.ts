import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isAlive } from '../process/proc.ts';
import { killed, OrphanStage, until } from '../testing/orphans.ts';

let on: OrphanStage;
beforeEach(async () => {
  on = await OrphanStage.open();
});
afterEach(() => on.close());

test('an agent whose PTY host is killed is ended, and its end is reported as unobserved', async () => {
  // It ignores the hangup of its terminal, as nohup makes it.
  await on.runs('trap "" HUP; echo ready; while :; do sleep 0.05; done');
  await on.printed(1);
  const { child, ptyHost } = on.held;
  process.kill(ptyHost.pid, 'SIGKILL');
  await until(() =>
    expect(on.reported('AGENT_EXITED')).toMatchObject([{ reason: 'crashed', code: null, signal: null }]),
  );
  expect(on.reported('AGENT_EXITED')[0]?.details).toContain('the process that held its terminal died');
  expect(on.reported('AGENT_EXITED')[0]?.lastOutput).toContain('ready');
  expect(isAlive(child)).toBe(false);
});

test('if supervisor and PTY host are both gone, the remaining processes are ended and reported', async () => {
  const first = await on.runs('trap "" HUP; while :; do sleep 0.05; done');
  const { child, ptyHost } = on.held;
  await killed(first);
  process.kill(ptyHost.pid, 'SIGKILL');
  await on.runs('sleep 600');
  await until(() => expect(on.reported('AGENT_EXITED')).toHaveLength(1));
  expect(on.reported('AGENT_EXITED')[0]?.details).toContain('and so did the PTY host of its terminal');
  expect(isAlive(child)).toBe(false);
});

test('a second runtime of the same name is refused, and a frozen one keeps its agents', async () => {
  const first = await on.runs('sleep 600');
  const before = on.held;
  first.kill('SIGSTOP');
  const second = on.launch('sleep 600');
  const [code] = await once(second, 'exit');
  expect(code).toBe(1);
  expect(on.logged).toContain(`runtime run-1 runs already on ${on.stage.dir} (process ${first.pid})`);
  first.kill('SIGCONT');
  await on.keepsReporting();
  expect(on.held).toEqual(before);
});

test('of two runtimes that start after a kill only one has the agent', async () => {
  await killed(await on.runs('sleep 600'));
  const { instanceId, child } = on.held;
  const both = [on.launch('sleep 600'), on.launch('sleep 600')];
  await Promise.race(both.map((one) => once(one, 'exit')));
  await until(() => expect(on.heartbeats.length).toBeGreaterThan(2));
  expect(both.filter(({ exitCode }) => exitCode === null)).toHaveLength(1);
  expect(on.held).toMatchObject({
    instanceId,
    child,
    supervisor: { pid: both.find((one) => one.exitCode === null)?.pid },
  });
});
