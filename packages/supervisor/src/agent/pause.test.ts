import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Report } from '../orders/order.ts';
import { RESUME_LATE_MS } from '../orders/pause-control.ts';
import { isAlive } from '../process/proc.ts';
import { liveOn, nudge, pause, resume, type Stage, scriptSpec, setStage, terminate } from '../testing/stage.ts';
import type { Supervised } from './agent-instance.ts';
import type { AgentSpec } from './agent-spec.ts';

let stage: Stage;
let instance: Supervised;
let shown = '';

beforeEach(async () => {
  stage = await setStage();
  shown = '';
});
afterEach(async () => {
  await instance.end('the test is over', 0).then(() => instance.settled);
  await stage.close();
});

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const start = async (script: string, more: Partial<AgentSpec> = {}): Promise<void> => {
  instance = await liveOn(stage, scriptSpec(script, more), 200, (data) => {
    shown += data.toString();
  });
};
const receipts = () =>
  stage.gateway.reports.flatMap((report: Report) => (report.type === 'ORDER_RECEIPT' ? [report.payload] : []));
const last = () => stage.gateway.heartbeats.at(-1);
const stateOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0];

/** Repeats what it reads on its terminal. */
const LISTENS = 'echo ready; while read line; do echo "got=$line"; done';
/** Repeats what it receives on its socket; sends `report`. */
const talks = (report = '{ phase: "build" }') => `exec node -e '
  const socket = require("node:net").connect(process.env.VIGIL_SOCKET);
  socket.on("data", (data) => console.log("data=" + data));
  socket.write(JSON.stringify(${report}) + "\\n");
  setInterval(() => {}, 1000);
  console.log("ready")'`;

test('a paused agent stands still and reports that; resumed, it continues and receives the reason once', async () => {
  await start(LISTENS);
  await until(() => expect(shown).toContain('ready'));
  stage.gateway.offer(pause());
  await until(() => expect(receipts()).toMatchObject([{ orderId: 'pause-1', outcome: 'done' }]));
  await until(() => expect(stateOf(instance.terminal.pid.pid)).toBe('T'));
  await until(() => expect(last()?.activity).toBe('paused'));
  stage.gateway.offer(resume());
  await until(() => expect(receipts()).toMatchObject([{}, { orderId: 'resume-1', outcome: 'done', why: null }]));
  await until(() => expect(shown).toContain('got=please go on'));
  await until(() => expect(last()?.activity).not.toBe('paused'));
  expect(shown.match(/got=/g)).toHaveLength(1);
});

test('a pause and its resume that arrive together leave the agent at work, and it receives the reason', async () => {
  await start(LISTENS);
  await until(() => expect(shown).toContain('ready'));
  stage.gateway.offer(pause());
  stage.gateway.offer(resume());
  await until(() => expect(shown).toContain('got=please go on'));
  await until(() =>
    expect(receipts()).toMatchObject([
      { orderId: 'pause-1', outcome: 'done' },
      { orderId: 'resume-1', outcome: 'done', why: null },
    ]),
  );
  expect(stateOf(instance.terminal.pid.pid)).not.toBe('T');
  expect(last()?.activity).not.toBe('paused');
});

test('a paused agent whose resume never comes continues when its pause is over; a late resume still delivers the reason', async () => {
  await start(LISTENS);
  await until(() => expect(shown).toContain('ready'));
  stage.gateway.offer(pause({ forMs: 1 - RESUME_LATE_MS }));
  await until(() => expect(receipts()).toMatchObject([{ orderId: 'pause-1', outcome: 'done' }]));
  await until(() => expect(stateOf(instance.terminal.pid.pid)).not.toBe('T'));
  await until(() => expect(last()?.activity).not.toBe('paused'));
  expect(shown).not.toContain('got=');
  stage.gateway.offer(resume());
  await until(() => expect(shown).toContain('got=please go on'));
  await until(() =>
    expect(receipts()[1]).toMatchObject({ outcome: 'done', why: expect.stringContaining('by itself') }),
  );
});

test('a text for a paused agent waits until the agent continues', async () => {
  await start(talks());
  await until(() => expect(last()?.agent_heartbeat_at).toBeTypeOf('number'));
  stage.gateway.offer(pause());
  await until(() => expect(receipts()).toHaveLength(1));
  stage.gateway.offer(nudge({ number: 3 }));
  await until(() => expect(last()?.activity).toBe('paused'));
  const seen = stage.gateway.heartbeats.length;
  await until(() => expect(stage.gateway.heartbeats.length).toBeGreaterThan(seen + 3));
  expect(receipts()).toHaveLength(1);
  stage.gateway.offer(resume());
  await until(() => expect(shown).toContain('data={"nudge":"please go on"'));
  await until(() => expect(receipts()).toHaveLength(3));
});

test('in the middle of a call an agent is not paused; a pause after its resume is void', async () => {
  await start(talks('{ tool_calls: [{ call_id: "c", tool: "Bash", outcome: "running" }] }'));
  await until(() => expect(last()?.tool_calls ?? []).toBeDefined());
  await until(() =>
    expect(stage.gateway.heartbeats.flatMap((nextHeartbeat) => nextHeartbeat.tool_calls)).toHaveLength(1),
  );
  stage.gateway.offer(pause());
  stage.gateway.offer(resume());
  await until(() =>
    expect(receipts()).toMatchObject([
      { orderId: 'resume-1', outcome: 'done', why: 'it was not paused' },
      { orderId: 'pause-1', outcome: 'superseded' },
    ]),
  );
  expect(stateOf(instance.terminal.pid.pid)).not.toBe('T');
  expect(shown).not.toContain('please go on');
});

test('a paused agent that is terminated receives the signal and leaves by itself', async () => {
  await start(`exec node -e '
    const socket = require("node:net").connect(process.env.VIGIL_SOCKET);
    socket.on("data", (data) => data.includes("shutdown_request") && process.exit(0));
    socket.write(JSON.stringify({ phase: "build" }) + "\\n");
    setInterval(() => {}, 1000)'`);
  await until(() => expect(last()?.agent_heartbeat_at).toBeTypeOf('number'));
  stage.gateway.offer(pause());
  await until(() => expect(receipts()).toHaveLength(1));
  stage.gateway.offer(terminate({ graceMs: 10_000 }));
  await until(() => expect(receipts()[1]).toMatchObject({ confirmed: true, forced: false, code: 0, signal: null }));
  expect(isAlive(instance.terminal.pid)).toBe(false);
});

test('a paused agent that is killed is reported as crashed, and its resume is superseded', async () => {
  await start('echo ready; sleep 600');
  await until(() => expect(shown).toContain('ready'));
  stage.gateway.offer(pause());
  await until(() => expect(receipts()).toHaveLength(1));
  process.kill(instance.terminal.pid.pid, 'SIGKILL');
  await until(() => expect(stage.gateway.reports.at(-1)?.payload).toMatchObject({ reason: 'crashed' }));
  instance.offer(resume(), 5000);
  await until(() => expect(receipts()[1]).toMatchObject({ orderId: 'resume-1', outcome: 'superseded' }));
});

test('where commands are configured they pause and resume, and no signal does', async () => {
  const file = join(stage.dir, 'held');
  const spec = {
    pause: ['/bin/sh', '-c', `echo "$VIGIL_AGENT_ID" > ${file}`],
    resume: ['/bin/rm', file],
  } as const;
  await start(LISTENS, spec);
  await until(() => expect(shown).toContain('ready'));
  stage.gateway.offer(pause());
  await until(() => expect(receipts()).toMatchObject([{ outcome: 'done' }]));
  expect(readFileSync(file, 'utf8')).toBe('worker-1\n');
  expect(stateOf(instance.terminal.pid.pid)).not.toBe('T');
  await until(() => expect(last()?.activity).toBe('paused'));
  stage.gateway.offer(resume());
  await until(() => expect(shown).toContain('got=please go on'));
  expect(existsSync(file)).toBe(false);
});

test('a pause whose command fails pauses nothing', async () => {
  await start(LISTENS, { pause: ['/bin/false'], resume: ['/bin/true'] });
  await until(() => expect(shown).toContain('ready'));
  stage.gateway.offer(pause());
  await until(() => expect(receipts()).toMatchObject([{ outcome: 'failed' }]));
  expect(last()?.activity).not.toBe('paused');
});
