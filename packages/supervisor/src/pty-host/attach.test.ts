import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { environmentOf } from '../agent/agent-spec.ts';
import { assemble, type InstanceStart, newInstance } from '../agent/supervise.ts';
import type { AgentDeps } from '../deps.ts';
import { type Pid, signalled } from '../process/proc.ts';
import { until } from '../testing/orphans.ts';
import { type Stage, scriptSpec, setStage } from '../testing/stage.ts';
import { openView, stopAgent } from './attach.ts';
import { connectPtyHost, hostedTerminal, type Link } from './hosted-terminal.ts';
import type { ViewerAction } from './protocol.ts';
import { ptyHostSocket, startPtyHost } from './start.ts';

let stage: Stage;
const links: Link[] = [];
const ptyHosts: Pid[] = [];
beforeEach(async () => {
  stage = await setStage();
});
afterEach(async () => {
  vi.useRealTimers();
  for (const { pid } of ptyHosts.splice(0)) signalled(pid, 'SIGKILL');
  for (const link of links.splice(0)) link.close();
  await stage.close();
});

const deps = (): AgentDeps => ({ ...stage.deps, killAfterMs: 500, onOrders: () => {} });
const path = () => ptyHostSocket(stage.dir, 'instance-1');

/** A hosted agent. No more than this is recorded of its supervisor. */
const held = async (script: string): Promise<InstanceStart> => {
  const beginning = newInstance(scriptSpec(script), deps(), { columns: 80, rows: 24 });
  const { spec, lock, socket } = beginning;
  const env = environmentOf(spec, stage.dir, socket);
  const what = { ...spec, env, prints: 'terminal' as const, cgroup: null, user: null, size: { columns: 80, rows: 24 } };
  await startPtyHost(stage.dir, { ...what, socket: path(), ring: 1 << 20, kept: null }, (ptyHost) => {
    lock.has({ ptyHost });
    ptyHosts.push(ptyHost);
  });
  return beginning;
};
const supervised = async (): Promise<Link> => {
  const link = await connectPtyHost(path(), { kind: 'supervisor', self: stage.deps.self });
  links.push(link);
  return link;
};
const exits = () => stage.gateway.reports.flatMap(({ type, payload }) => (type === 'AGENT_EXITED' ? [payload] : []));
const view = (writes = false) => openView(stage.dir, 'worker-1', { who: 'ada', writes }, () => {});

test('an action at a terminal while a supervisor takes the agent over is carried out right after that', async () => {
  const beginning = await held('read line; exit 7');
  const link = await supervised();
  const writer = await view(true);
  writer.type(Buffer.from('x\r'));
  const stopped = stopAgent(stage.dir, 'worker-1', 'bob', 60_000);
  const received: ViewerAction[] = [];
  await assemble(beginning, async (on) => {
    const action = (one: ViewerAction) => {
      received.push(one);
      on.action(one);
    };
    const terminal = hostedTerminal(link, beginning, { ...on, action }, beginning.deps);
    await until(() => expect(received.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['types', 'ends'])));
    return terminal;
  });
  expect(await stopped).toBe('exited with code 7');
  const details = 'exited with code 7; stopped by bob with vigil stop';
  await until(() => expect(exits()).toMatchObject([{ reason: 'explicit', details }]));
});

test('an end by Ctrl-C is a requested one, and names its person', async () => {
  const beginning = await held('exec sleep 600');
  const link = await supervised();
  await assemble(beginning, (on) => hostedTerminal(link, beginning, on, beginning.deps));
  const writer = await view(true);
  writer.type(Buffer.from('\x03'));
  const details = 'ended by SIGINT; Ctrl-C by ada at its terminal';
  await until(() => expect(exits()).toMatchObject([{ reason: 'explicit', details }]));
});

test('log and reports have who has typed at a terminal, and the length of each line, but not its text', async () => {
  const beginning = await held('exec sleep 600');
  const link = await supervised();
  const logged: object[] = [];
  const logger = (message: string, fields = {}) => void logged.push({ message, ...fields });
  const own = { ...beginning, deps: { ...beginning.deps, logger } };
  await assemble(own, (on) => hostedTerminal(link, own, on, own.deps));
  const typed = () => logged.filter((one) => 'bytes' in one);
  const line = { message: 'a viewer has typed at an agent’s terminal', agentId: 'worker-1', who: 'ada' };
  const one = await view(true);
  for (const keys of ['sec', 'ret', '\r', 'ab']) one.type(Buffer.from(keys));
  await one.leave();
  await until(() =>
    expect(typed()).toMatchObject([
      { ...line, bytes: 7 },
      { ...line, bytes: 2 },
    ]),
  );
  const other = await view(true);
  other.type(Buffer.from('\x03'));
  await until(() => expect(exits()).toHaveLength(1));
  expect(typed().at(-1)).toMatchObject({ ...line, bytes: 1 });
  const used = () => stage.gateway.reports.flatMap(({ type, payload }) => (type === 'TERMINAL_USED' ? [payload] : []));
  const use = { agentId: 'worker-1', instanceId: own.spec.instanceId, taskId: own.spec.taskId, by: 'ada', bytes: 0 };
  await until(() =>
    expect(used()).toMatchObject([
      { ...use, use: 'opened' },
      { ...use, use: 'typed', bytes: 7 },
      { ...use, use: 'typed', bytes: 2 },
      { ...use, use: 'left' },
      { ...use, use: 'opened' },
      { ...use, use: 'typed', bytes: 1 },
    ]),
  );
  expect(JSON.stringify([...logged, ...used()])).not.toMatch(/sec|ret/);
});

test('if the supervisor never carries out a stop, the stop reports that in the end', async () => {
  await held('sleep 600');
  const link = await supervised();
  const received: ViewerAction[] = [];
  link.listen((message) => 'action' in message && received.push(message.action));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const refused = expect(stopAgent(stage.dir, 'worker-1', 'ada', 1000)).rejects.toThrow(
    `agent worker-1 has not ended: its supervisor (process ${process.pid}) was asked 91 s ago; its log may have the reason`,
  );
  await vi.waitFor(() => expect(received.at(-1)).toMatchObject({ kind: 'ends' }), 60_000);
  await vi.advanceTimersByTimeAsync(91_000);
  await refused;
});

test('a rejected viewer receives the matching reason', async () => {
  await held('sleep 600');
  await expect(view(true)).rejects.toThrow(/^agent worker-1: no supervisor is running, .*: start its runtime again/);
  await supervised();
  const views = await Promise.all(Array.from({ length: 16 }, () => view()));
  await expect(view()).rejects.toThrow(/^agent worker-1: 16 terminals are attached to it already: detach one of them$/);
  await Promise.all(views.map((one) => one.leave()));
});
