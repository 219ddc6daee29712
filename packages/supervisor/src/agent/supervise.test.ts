import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Logger } from '../clock.ts';
import type { AgentDeps } from '../deps.ts';
import type { Order, Report } from '../orders/order.ts';
import { identify, isAlive, type Pid, sessionOf } from '../process/proc.ts';
import { occupantOf } from '../state/lock.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { dispatching, nudge, type Stage, scriptSpec, setStage, terminate } from '../testing/stage.ts';
import type { Supervised } from './agent-instance.ts';
import { type AgentSpec, environmentOf } from './agent-spec.ts';
import { newInstance, startInstance, supervise } from './supervise.ts';

let stage: Stage;
let shown = '';
const instances: Supervised[] = [];

beforeEach(async () => {
  stage = await setStage();
});
afterEach(async () => {
  for (const instance of instances.splice(0)) await instance.end('the test is over', 0).then(() => instance.settled);
  await stage.close();
});

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const start = async (script: string, more: Partial<AgentSpec> = {}, logger: Logger = () => {}): Promise<Supervised> => {
  shown = '';
  const deps: AgentDeps = dispatching({ ...stage.deps, logger }, () => instances, stage.killAfterMs);
  const output = (data: Buffer) => {
    shown += data.toString();
  };
  const size = { columns: 80, rows: 24 };
  const instance = await supervise(scriptSpec(script, more), deps, { size, isPiped: false, output });
  instances.push(instance);
  return instance;
};
const reported = <T extends Report['type']>(type: T) =>
  stage.gateway.reports.flatMap((report) =>
    report.type === type ? [report.payload as Extract<Report, { type: T }>['payload']] : [],
  );
const offer = (order: Order) => stage.gateway.offer(order);
const last = () => stage.gateway.heartbeats.at(-1);

test('a hung agent is nudged, and nothing claims that it has read that; then it is ended for sure, with everything that it started', async () => {
  const { terminal } = await start('trap "" TERM; echo working; sleep 600 & while :; do sleep 60; done');
  await until(() => expect(shown).toContain('working'));
  offer(nudge());
  await until(() => expect(reported('ORDER_RECEIPT')).toMatchObject([{ orderId: 'nudge-1', outcome: 'uncertain' }]));
  expect(shown).toContain('are you still there');
  // SIGTERM is ignored, so this goes through to SIGKILL
  offer(terminate());
  await until(() => expect(reported('ORDER_RECEIPT')).toHaveLength(2));
  expect(reported('ORDER_RECEIPT')[1]).toMatchObject({
    orderId: 'end-1',
    outcome: 'done',
    confirmed: true,
    forced: true,
    signal: 'SIGKILL',
  });
  expect(reported('ORDER_RECEIPT')[1]?.lastOutput).toContain('working');
  await until(() =>
    expect(reported('AGENT_EXITED')).toMatchObject([{ reason: 'explicit', orderId: 'end-1', signal: 'SIGKILL' }]),
  );
  expect(isAlive(terminal.pid)).toBe(false);
  expect(sessionOf(terminal.pid.pid)).toEqual([]);
});

test.runIf(process.platform === 'linux')(
  'a process in a session of its own ends with its agent, and the receipt names how it was found',
  async () => {
    await start('setsid sh -c \'echo "escaped $$ "; exec sleep 600\' & while :; do sleep 0.05; done');
    await until(() => expect(shown).toMatch(/escaped \d+ /));
    const escaped = identify(Number(/escaped (\d+) /.exec(shown)?.[1]));
    expect(isAlive(escaped)).toBe(true);
    offer(terminate());
    await until(() => expect(reported('ORDER_RECEIPT')).toMatchObject([{ confirmed: true, by: 'environment' }]));
    expect(isAlive(escaped)).toBe(false);
  },
);

test('a receipt of an order that ended no process names no way in which one was found', async () => {
  await start('echo working; while :; do sleep 0.05; done');
  await until(() => expect(shown).toContain('working'));
  offer(nudge());
  await until(() => expect(reported('ORDER_RECEIPT')).toMatchObject([{ orderId: 'nudge-1', by: null }]));
});

test('an agent that leaves on SIGTERM is not forced', async () => {
  await start('trap "exit 9" TERM; echo ready; while :; do sleep 0.05; done');
  await until(() => expect(shown).toContain('ready'));
  offer(terminate());
  await until(() =>
    expect(reported('ORDER_RECEIPT')).toMatchObject([{ confirmed: true, forced: false, code: 9, signal: null }]),
  );
});

test('the echo of a nudge does not count as output of the agent', async () => {
  await start('echo working; sleep 600');
  await until(() => expect(last()?.output?.last_output_at).toBeTypeOf('number'));
  const before = last()?.output;
  offer(nudge());
  await until(() => expect(shown).toContain('are you still there'));
  const seen = stage.gateway.heartbeats.length;
  await until(() => expect(stage.gateway.heartbeats.length).toBeGreaterThan(seen + 1));
  expect(last()?.output).toMatchObject({ last_output_at: before?.last_output_at, lines: 1 });
});

test('a nudge presses no keys: it is one line, with any text in it', async () => {
  await start('echo working; read line; echo "got=$line"; sleep 600');
  await until(() => expect(shown).toContain('working'));
  offer(nudge({ message: 'are you \u0003still\n\n there\u001b[A\u0004?' }));
  await until(() => expect(shown).toContain('got=are you  still there [A ?'));
});

test('nothing is typed before the first output: the agent is still starting', async () => {
  const ready = join(stage.dir, 'ready');
  await start(`until [ -e ${ready} ]; do sleep 0.1; done; echo working; read line; echo "got=$line"; sleep 600`);
  const before = stage.gateway.heartbeats.length;
  offer(nudge());
  await until(() => expect(stage.gateway.heartbeats.length).toBeGreaterThan(before + 10));
  expect(shown).toBe('');
  writeFileSync(ready, '');
  await until(() => expect(shown).toMatch(/^working\r\nare you still there/));
  await until(() => expect(shown).toContain('got=are you still there'));
});

test('an agent at a question reports it, and is never typed into', async () => {
  await start('printf "Overwrite the file? [y/N] "; read answer; echo "answer=$answer"; sleep 600');
  await until(() => expect(last()?.activity).toBe('awaiting_input'));
  stage.gateway.offer(nudge(), 300);
  await until(() => expect(reported('ORDER_RECEIPT')).toMatchObject([{ orderId: 'nudge-1', outcome: 'superseded' }]));
  expect(shown).not.toContain('are you still there');
  expect(shown).not.toContain('answer=');
});

test('an order offered twice is done once and answered the same', async () => {
  const instance = await start('echo ready; while read line; do echo "got $line"; done');
  instance.offer(nudge(), 5000);
  instance.offer(nudge(), 5000);
  await until(() => expect(shown).toContain('got are you still there'));
  await until(() => expect(reported('ORDER_RECEIPT')).toHaveLength(1));
  await until(() => {
    instance.offer(nudge(), 5000);
    expect(reported('ORDER_RECEIPT').length).toBeGreaterThan(1);
  });
  expect(reported('ORDER_RECEIPT')[1]).toEqual(reported('ORDER_RECEIPT')[0]);
  expect(shown.match(/got are you/g)).toHaveLength(1);
});

test('an order for an instance that has ended is answered as superseded', async () => {
  offer(terminate({ instanceId: 'instance-0' }));
  await start('sleep 600');
  await until(() => expect(reported('ORDER_RECEIPT')).toMatchObject([{ outcome: 'superseded', confirmed: false }]));
});

test('an order for another runtime is left to that runtime', async () => {
  offer(terminate({ runtimeId: 'run-2' }));
  offer(nudge());
  await start('echo working; sleep 600');
  await until(() => expect(reported('ORDER_RECEIPT')).toMatchObject([{ orderId: 'nudge-1' }]));
});

test('an end names the policy of its agent, for consumers that have not seen the agent before', async () => {
  await (await start('exit 1', { policy: 'strict', labels: { team: 'core' } })).settled;
  await until(() => expect(reported('AGENT_EXITED')).toMatchObject([{ policy: 'strict', labels: { team: 'core' } }]));
});

test('exit 0 is finished, anything else is crashed', async () => {
  await (await start('exit 0')).ended;
  await (await start('exit 3', { agentId: 'worker-2', instanceId: 'instance-2' })).ended;
  await until(() => expect(reported('AGENT_EXITED')).toHaveLength(2));
  expect(reported('AGENT_EXITED')).toMatchObject([
    { reason: 'finished', code: 0 },
    { reason: 'crashed', code: 3 },
  ]);
});

test('if completion has to be signalled, exit 0 without the signal is not finished', async () => {
  await (await start('exit 0', { mustSignalCompletion: true })).ended;
  await (await start('echo "<promise>COMPLETE</promise>"', { mustSignalCompletion: true, instanceId: 'instance-2' }))
    .ended;
  await until(() => expect(reported('AGENT_EXITED')).toMatchObject([{ reason: 'crashed' }, { reason: 'finished' }]));
});

test('a name that runs already is refused', async () => {
  await start('sleep 600');
  await expect(start('sleep 600')).rejects.toThrow(/agent worker-1 runs already/);
});

test('while the gateway is away the agent continues, and none of its reports is lost or sent twice', async () => {
  stage.gateway.away = true;
  const script = `for i in 1 2 3; do echo "rate limit hit $i"; done; echo overloaded; node -e '
    const socket = require("node:net").connect(process.env.VIGIL_SOCKET);
    for (const id of ["a", "b"]) socket.write(JSON.stringify({ tool_calls: [{ call_id: id, tool: "Bash" }] }) + "\\n");
    socket.end();'; echo done; sleep 600`;
  await start(script);
  await until(() => expect(shown).toContain('done'));
  stage.gateway.away = false;
  await until(() =>
    expect(stage.gateway.heartbeats.flatMap((nextHeartbeat) => nextHeartbeat.tool_calls)).toHaveLength(2),
  );
  const heartbeats = stage.gateway.heartbeats;
  expect(heartbeats.flatMap((nextHeartbeat) => nextHeartbeat.tool_calls.map((call) => call.call_id))).toEqual([
    'a',
    'b',
  ]);
  expect(heartbeats.flatMap((nextHeartbeat) => nextHeartbeat.output?.matched_patterns ?? [])).toHaveLength(2);
  expect(new Set(heartbeats.map((nextHeartbeat) => nextHeartbeat.sequence)).size).toBe(heartbeats.length);
});

test('an agent whose supervision fails right after its start is ended, and its name is free again', async () => {
  const size = { columns: 80, rows: 24 };
  const deps: AgentDeps = { ...stage.deps, killAfterMs: 200, onOrders: () => {} };
  const beginning = newInstance(scriptSpec('trap "" TERM; sleep 600 & sleep 600'), deps, size);
  const { spec, socket } = beginning;
  const full = () => {
    throw new Error('ENOSPC: no space left on device, write');
  };
  let leader: Pid | null = null;
  const beginsOnFullDisk = startInstance({ ...beginning, lock: { ...beginning.lock, has: full } }, () => {
    const terminal = openTerminal(
      { ...spec, env: environmentOf(spec, deps.dir, socket), prints: 'terminal', cgroup: null, user: null },
      size,
      () => {},
    );
    leader = terminal.pid;
    return terminal;
  });
  await expect(beginsOnFullDisk).rejects.toThrow('ENOSPC');
  expect(leader !== null && isAlive(leader)).toBe(false);
  expect(sessionOf((leader as Pid | null)?.pid ?? 0)).toEqual([]);
  expect(occupantOf(deps.dir, spec.agentId)).toBeNull();
});

test('an agent whose cleanup cannot even be started is reported as ended', async () => {
  await start('exit 3', { cleanup: ['no\0command'] });
  await until(() => expect(reported('AGENT_EXITED')).toMatchObject([{ code: 3, reason: 'crashed' }]));
});

test('an end is reported even if its handling fails, and the report names the failure', async () => {
  writeFileSync(join(stage.dir, 'archive'), 'a file where a folder belongs');
  await start('exit 3', {}, (message) => {
    if (message === 'the archive could not be written') throw new Error('the log fails as well');
  });
  await until(() => expect(reported('AGENT_EXITED')).toMatchObject([{ code: 3, reason: 'crashed' }]));
  expect(reported('AGENT_EXITED')[0]?.details).toContain('the log fails as well');
});

test('a step log that cannot be read for a moment is read on', async () => {
  const path = join(stage.dir, 'steps.jsonl');
  writeFileSync(path, '');
  const logged: string[] = [];
  await start('exec sleep 600', { stepLog: path }, (message) => void logged.push(message));
  rmSync(path);
  symlinkSync(path, path);
  await until(() => expect(logged).toContain('the step log cannot be read'));
  rmSync(path);
  writeFileSync(path, '{"verdict":"RETRY"}\n');
  await until(() => expect(last()?.steps).toMatchObject({ total_steps: 1 }));
});
