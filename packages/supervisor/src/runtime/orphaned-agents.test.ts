import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { memoryIn, noMemory } from '../agent/memory.ts';
import { isAlive } from '../process/proc.ts';
import { occupantOf } from '../state/lock.ts';
import { killed, OrphanStage, until } from '../testing/orphans.ts';
import { nudge, terminate } from '../testing/stage.ts';

let on: OrphanStage;
beforeEach(async () => {
  on = await OrphanStage.open();
});
afterEach(() => on.close());

test('an agent whose supervisor was killed is the same process, and the next supervisor reports the same instance', async () => {
  const first = await on.runs('while :; do sleep 0.05; done');
  await on.keepsReporting();
  const before = on.held;
  await killed(first);
  expect(isAlive(before.child)).toBe(true);
  const sent = on.heartbeats.length;
  await on.runs('while :; do sleep 0.05; done');
  await until(() => expect(on.heartbeats.length).toBeGreaterThan(sent + 2));
  expect(on.held).toMatchObject({ instanceId: before.instanceId, child: before.child, ptyHost: before.ptyHost });
  expect(new Set(on.heartbeats.map(({ instance_id }) => instance_id))).toEqual(new Set([before.instanceId]));
  // An unanswered heartbeat is sent again unchanged; no number has two contents.
  const bySequence = new Map(
    on.heartbeats.map((nextHeartbeat) => [nextHeartbeat.sequence, JSON.stringify(nextHeartbeat)]),
  );
  expect(on.heartbeats.map((nextHeartbeat) => JSON.stringify(nextHeartbeat))).toEqual(
    on.heartbeats.map(({ sequence }) => bySequence.get(sequence)),
  );
  const order = on.heartbeats.map(({ sequence }) => sequence ?? 0);
  expect(order).toEqual([...order].sort((a, b) => a - b));
  expect(on.reported('AGENT_EXITED')).toEqual([]);
});

test('a heartbeat that was accepted but never answered is sent again unchanged', async () => {
  const { gateway } = on.stage;
  const first = await on.runs('sleep 600');
  await on.keepsReporting();
  gateway.silent = true;
  const sent = on.heartbeats.length;
  await until(() => expect(on.heartbeats.length).toBeGreaterThan(sent));
  await killed(first);
  gateway.silent = false;
  const unanswered = on.last;
  const seen = on.heartbeats.length;
  await on.runs('sleep 600');
  await until(() => expect(on.heartbeats.length).toBeGreaterThan(seen + 1));
  expect(on.heartbeats[seen]).toEqual(unanswered);
  expect(on.heartbeats[seen + 1]?.sequence).toBe((unanswered?.sequence ?? 0) + 1);
});

test('output that its terminal host no longer keeps still counts', async () => {
  const wait = (name: string) => `while [ ! -e ${name} ]; do sleep 0.02; done`;
  const lines = 'yes "a line of some fifty characters, as it may well be" | head -n 40000';
  const script = `${wait('watched')}; ${lines}; ${wait('go')}; echo last; sleep 600`;
  const first = await on.runs(script);
  // Output from before a supervisor watches is not kept either.
  await on.keepsReporting();
  on.touch('watched');
  await on.printed(40_000);
  await on.keepsReporting();
  await killed(first);
  on.touch('go');
  await on.runs(script);
  await on.printed(40_001);
});

test('output from the time without a supervisor is neither lost nor counted twice', async () => {
  const script = 'i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo "rate limit $i"; sleep 0.01; done; sleep 600';
  const first = await on.runs(script);
  await until(() => expect(on.last?.output?.lines).toBeGreaterThan(20));
  await killed(first);
  await on.runs(script);
  await on.printed(300);
  await on.keepsReporting();
  expect(on.last?.output?.lines).toBe(300);
  const lines = on.heartbeats.map(({ output }) => output?.lines ?? 0);
  expect(lines).toEqual([...lines].sort((a, b) => a - b));
});

test('a match in the output is reported once, also if its heartbeat could not be sent before the kill', async () => {
  const script =
    'echo working; while [ ! -e go ]; do sleep 0.02; done; echo "rate limit"; echo ok > received; sleep 600';
  const first = await on.runs(script);
  await on.keepsReporting();
  on.stage.gateway.away = true;
  on.touch('go');
  await on.wrote('ok');
  await killed(first);
  on.stage.gateway.away = false;
  await on.runs(script);
  await until(() => expect(on.heartbeats.flatMap(({ output }) => output?.matched_patterns ?? [])).toHaveLength(1));
  await on.keepsReporting();
  expect(on.heartbeats.flatMap(({ output }) => output?.matched_patterns ?? [])).toHaveLength(1);
});

test('what its policy has it looked through for is looked for in all that came meanwhile, and found once', async () => {
  const { gateway } = on.stage;
  gateway.policies.set('p', { signals: { error_pattern: { patterns: ['bo+m'], lines: 10 } } });
  gateway.assigned = { name: 'p', hash: 'h' };
  const script = 'echo boom; while [ ! -e go ]; do sleep 0.02; done; echo boooom; echo ok > received; sleep 600';
  const found = () => on.heartbeats.flatMap(({ output }) => output?.matched_patterns ?? []).map(({ source }) => source);
  const first = await on.runs(script);
  await until(() => expect(found()).toEqual(['bo+m']));
  await on.keepsReporting();
  await killed(first);
  on.touch('go');
  await on.wrote('ok');
  // The next one has the policy from its predecessor, not from a gateway that may be away.
  gateway.policies.clear();
  await on.runs(script);
  await until(() => expect(found()).toEqual(['bo+m', 'bo+m']));
  await on.keepsReporting();
  expect(found()).toHaveLength(2);
  expect(on.last?.output?.tail).toEqual(['boom', 'boooom']);
});

test('taken over, it is nudged at its terminal and ended by order', async () => {
  const script = 'echo ready; while read line; do echo "got=$line" >> received; done; sleep 600';
  await killed(await on.runs(script));
  await on.runs(script);
  await on.keepsReporting();
  const { instanceId, child, ptyHost } = on.held;
  on.stage.gateway.offer(nudge({ instanceId }));
  await on.wrote('got=are you still there');
  on.stage.gateway.offer(terminate({ instanceId }));
  await until(() => expect(on.reported('ORDER_RECEIPT')).toHaveLength(2));
  expect(on.reported('ORDER_RECEIPT')[1]).toMatchObject({ outcome: 'done', confirmed: true, signal: 'SIGTERM' });
  await until(() => expect(on.reported('AGENT_EXITED')).toMatchObject([{ reason: 'explicit', orderId: 'end-1' }]));
  expect(isAlive(child)).toBe(false);
  await until(() => expect(isAlive(ptyHost)).toBe(false));
});

test('taken over, its stall is logged with the time since the call that it reported before', async () => {
  const { dir, gateway } = on.stage;
  gateway.policies.set('p', { files: { dispatch_log: 'log/' } });
  gateway.assigned = { name: 'p', hash: 'h' };
  const endedAt = Date.now() - 300_000;
  const call = { call_id: 'c', tool: 'Read', outcome: 'ok', ended_at: endedAt };
  const script = `${process.execPath} -e '
    const socket = require("node:net").connect(process.env.VIGIL_SOCKET);
    socket.end(JSON.stringify({ tool_calls: [${JSON.stringify(call)}] }) + "\\n")'; sleep 600`;
  const first = await on.runs(script);
  await until(() => expect(on.heartbeats.some(({ tool_calls }) => tool_calls.length > 0)).toBe(true));
  await on.keepsReporting();
  await killed(first);
  await on.runs(script);
  await on.keepsReporting();
  gateway.offer(terminate({ instanceId: on.held.instanceId, axes: ['absence'] }));
  await until(() => expect(on.reported('ORDER_RECEIPT')).toHaveLength(1));
  const [day = ''] = readdirSync(join(dir, 'log'));
  const [stall = ''] = readFileSync(join(dir, 'log', day), 'utf8').split('\n');
  expect(JSON.parse(stall)).toMatchObject({ event: 'stall_detected', agent_id: 'worker-1' });
  expect(JSON.parse(stall).idle_minutes).toBeGreaterThanOrEqual(5);
});

test('an end that was begun before the kill is carried through, with the agent’s own exit in its receipt', async () => {
  const script = 'trap "sleep 0.3; exit 9" TERM; echo ready; while :; do sleep 0.05; done';
  const first = await on.runs(script);
  await on.printed(1);
  const { instanceId } = on.held;
  on.stage.gateway.offer(terminate({ instanceId, graceMs: 2000 }));
  await until(() => expect(readFileSync(join(on.stage.dir, 'journal', 'run-1.jsonl'), 'utf8')).toContain('begun'));
  await killed(first);
  await on.runs(script);
  await until(() =>
    expect(on.reported('AGENT_EXITED')).toMatchObject([{ reason: 'explicit', orderId: 'end-1', code: 9 }]),
  );
  await until(() =>
    expect(on.reported('ORDER_RECEIPT')).toMatchObject([{ outcome: 'done', confirmed: true, forced: false, code: 9 }]),
  );
});

test('an exit that no supervisor saw is reported with its code and its time, and the agent is not started again', async () => {
  const script = 'echo working; while [ ! -e go ]; do sleep 0.02; done; echo "last words"; exit 7';
  const first = await on.runs(script);
  await on.keepsReporting();
  const { child, instanceId } = on.held;
  await killed(first);
  on.touch('go');
  const at = await on.endSeenBy(instanceId);
  expect(isAlive(child)).toBe(false);
  await on.runs(script);
  await until(() => expect(on.reported('AGENT_EXITED')).toHaveLength(1));
  const [end] = on.reported('AGENT_EXITED');
  expect(end).toMatchObject({ reason: 'crashed', code: 7, signal: null, at });
  expect(end?.lastOutput).toContain('last words');
  await until(() => expect(occupantOf(on.stage.dir, 'worker-1')).toBeNull());
});

test('an agent that cannot be taken over yet is looked at again, and its orders wait until it is', async () => {
  const first = await on.runs('exec sleep 600');
  await on.keepsReporting();
  const { instanceId, child } = on.held;
  await killed(first);
  const sockets = join(on.stage.dir, 's');
  rmSync(sockets, { recursive: true });
  writeFileSync(sockets, 'a file where a folder belongs');
  on.stage.gateway.offer(terminate({ instanceId }));
  const announced = on.reported('RUNTIME_ANNOUNCED').length;
  on.launch('exec sleep 600');
  await until(() => expect(on.logged).toContain('an agent is not taken over'));
  await until(() => expect(on.reported('RUNTIME_ANNOUNCED').length).toBeGreaterThan(announced));
  expect(on.reported('RUNTIME_ANNOUNCED').at(-1)).toMatchObject({ agents: ['worker-1'] });
  expect([isAlive(child), on.reported('ORDER_RECEIPT')]).toEqual([true, []]);
  rmSync(sockets);
  await until(() => expect(on.reported('AGENT_EXITED')).toMatchObject([{ instanceId, orderId: 'end-1' }]));
  await until(() => expect(on.reported('ORDER_RECEIPT')).toMatchObject([{ outcome: 'done', confirmed: true }]));
});

test('the calls that an agent reported to its previous supervisor are in what is saved before its end', async () => {
  const { dir, gateway } = on.stage;
  gateway.policies.set('saving', { files: { recovery: 'saved', dispatch_log: 'log' } });
  gateway.assigned = { name: 'saving', hash: 'h' };
  const startedAt = Date.now() - 200_000;
  const call = { call_id: 'a', tool: 'Bash', target: 'make', outcome: 'running', started_at: startedAt };
  const script = `node -e '
    require("node:net").connect(process.env.VIGIL_SOCKET).end(${JSON.stringify(JSON.stringify({ tool_calls: [call] }))} + "\\n")'; sleep 600`;
  const first = await on.runs(script);
  await until(() => expect(on.heartbeats.flatMap(({ tool_calls }) => tool_calls)).toHaveLength(1));
  await on.keepsReporting();
  await killed(first);
  await on.runs(script);
  await on.keepsReporting();
  gateway.offer(terminate({ instanceId: on.held.instanceId, axes: ['absence'] }));
  await until(() => expect(on.reported('ORDER_RECEIPT')).toMatchObject([{ outcome: 'done' }]));
  const [name = ''] = readdirSync(join(dir, 'saved', 'TASK-1'));
  const { calls_since_checkpoint: calls } = parse(readFileSync(join(dir, 'saved', 'TASK-1', name), 'utf8'));
  expect(calls).toMatchObject([{ tool: 'Bash', target: 'make', outcome: 'running' }]);
  const [day = ''] = readdirSync(join(dir, 'log'));
  const [stall = ''] = readFileSync(join(dir, 'log', day), 'utf8').split('\n');
  expect(JSON.parse(stall).idle_minutes).toBeGreaterThan(3.2);
});

test('an agent of a version that kept no calls is taken over without any', () => {
  const { calls, ...observed } = noMemory(0).observed;
  const note = { ...noMemory(0), observed: { ...observed, outputAt: 7 } };
  expect(memoryIn(note, 0).observed).toEqual({ ...observed, calls, outputAt: 7 });
  expect(memoryIn(null, 5)).toEqual(noMemory(5));
});
