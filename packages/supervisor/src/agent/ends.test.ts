import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { handoff, liveOn, nudge, type Stage, scriptSpec, setStage, terminate } from '../testing/stage.ts';
import type { Supervised } from './agent-instance.ts';
import type { AgentSpec } from './agent-spec.ts';
import { noLimits } from './limits.ts';

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
const exits = () => stage.gateway.reports.flatMap(({ type, payload }) => (type === 'AGENT_EXITED' ? [payload] : []));
const receipts = () => stage.gateway.reports.filter(({ type }) => type === 'ORDER_RECEIPT');
const last = () => stage.gateway.heartbeats.at(-1);
/** The script exits with its first output, on a handoff order or by itself. */
const stops = (more = '') => `echo ready; read line; ${more} exit`;

test('an agent that stops after a handoff order has carried it out', async () => {
  await start(`${stops()} 0`);
  await until(() => expect(shown).toContain('ready'));
  stage.gateway.offer(handoff());
  await until(() => expect(exits()).toMatchObject([{ reason: 'explicit', orderId: 'handoff-1', code: 0 }]));
  expect(exits()[0]?.details).toContain('asked to hand off');
});

test('asked to hand off, an agent that works on past the deadline has an end of its own: it has finished', async () => {
  await start(`${stops('sleep 0.1;')} 0`);
  await until(() => expect(shown).toContain('ready'));
  stage.gateway.offer(handoff({ deadlineMs: 1 }));
  await until(() => expect(exits()).toMatchObject([{ reason: 'finished', orderId: null, code: 0 }]));
});

test('asked to hand off, an agent that ends with an error has crashed', async () => {
  await start(`${stops()} 3`);
  await until(() => expect(shown).toContain('ready'));
  stage.gateway.offer(handoff());
  await until(() => expect(exits()).toMatchObject([{ reason: 'crashed', orderId: null, code: 3 }]));
});

test('an agent that reports `finished` after a handoff order is finished', async () => {
  await start(`${stops('echo "<promise>COMPLETE</promise>";')} 0`);
  await until(() => expect(shown).toContain('ready'));
  stage.gateway.offer(handoff());
  await until(() => expect(exits()).toMatchObject([{ reason: 'finished', orderId: null }]));
});

test('a nudge is not a handoff: an agent that stops after it has finished, or crashed', async () => {
  await start(`${stops()} 3`);
  await until(() => expect(shown).toContain('ready'));
  stage.gateway.offer(nudge());
  await until(() => expect(exits()).toMatchObject([{ reason: 'crashed', orderId: null, code: 3 }]));
});

test('asked to hand off, an agent that is killed has crashed', async () => {
  await start('echo ready; read line; kill -9 $$');
  await until(() => expect(shown).toContain('ready'));
  stage.gateway.offer(handoff());
  await until(() => expect(exits()).toMatchObject([{ reason: 'crashed', signal: 'SIGKILL' }]));
});

describe('an agent that is being ended by order, and is stopped by a person meanwhile', () => {
  const isStopped = { reason: 'explicit', orderId: null, details: expect.stringContaining('ada') };
  const stubborn = "trap '' TERM; echo ready; while :; do sleep 0.1; done";

  test('has been stopped: the end is the person’s, and the order is superseded', async () => {
    await start(stubborn);
    await until(() => expect(shown).toContain('ready'));
    stage.gateway.offer(terminate({ graceMs: 600_000 }));
    await until(() => expect(last()?.activity).toBe('exiting'));
    await instance.end('stopped by ada', 0);
    await until(() => expect(exits()).toMatchObject([isStopped]));
    await until(() => expect(receipts()).toMatchObject([{ payload: { orderId: 'end-1', outcome: 'superseded' } }]));
  });

  test('has been stopped also where the order came later', async () => {
    await start(stubborn);
    await until(() => expect(shown).toContain('ready'));
    const stopping = instance.end('stopped by ada', 600_000);
    stage.gateway.offer(terminate({ graceMs: 0 }));
    await stopping;
    await until(() => expect(exits()).toMatchObject([isStopped]));
    await until(() => expect(receipts()).toMatchObject([{ payload: { orderId: 'end-1', outcome: 'superseded' } }]));
  });
});

test('an end before anyone requested one keeps its own reason', async () => {
  await start('exit 3');
  await instance.terminal.exited;
  await instance.end('too late', 0);
  await until(() => expect(exits()).toMatchObject([{ reason: 'crashed', details: 'exited with code 3' }]));
});

test('an agent that prints more than its limit is ended, and its heartbeats carry the amount', async () => {
  await start('while :; do echo 0123456789012345678901234567890123456789; sleep 0.01; done', {
    limits: { ...noLimits, output: 2000 },
  });
  await until(() => expect(exits()).toMatchObject([{ reason: 'resource_limit', orderId: null }]));
  expect(exits()[0]?.details).toContain('over its limit of output');
  await until(() => expect(last()?.limits).toMatchObject([{ name: 'output_bytes', max: 2000 }]));
  await until(() => expect(last()?.limits[0]?.used).toBeGreaterThan(2000));
});

test('one that runs longer than it may is ended, one within its time is not', async () => {
  await start('echo ready; sleep 600', { limits: { ...noLimits, time: 600_000 } });
  await until(() => expect(last()?.limits).toMatchObject([{ name: 'time_ms', max: 600_000 }]));
  expect(exits()).toEqual([]);
  await instance.end('next', 0).then(() => instance.settled);
  await start('echo ready; sleep 600', { instanceId: 'instance-2', limits: { ...noLimits, time: 300 } });
  await until(() => expect(exits()).toMatchObject([{ reason: 'explicit' }, { reason: 'resource_limit' }]));
});

test('the memory of everything that it has started counts', async () => {
  const hungry = 'const kept = Buffer.alloc(120 << 20, 1); console.log("fed"); setInterval(() => kept.length, 1000)';
  await start(`node -e '${hungry}'; true`, { limits: { ...noLimits, memory: 100 << 20 } });
  await until(() => expect(exits()).toMatchObject([{ reason: 'resource_limit' }]));
  expect(exits()[0]?.details).toMatch(/over its limit of memory: 1\d\d/);
});

test('a limit that is only reported ends no agent', async () => {
  await start('echo more than four; sleep 600', { limits: { ...noLimits, output: 4, reportOnly: true } });
  await until(() => expect(last()?.limits[0]?.used ?? 0).toBeGreaterThan(4));
  const seen = stage.gateway.heartbeats.length;
  await until(() => expect(stage.gateway.heartbeats.length).toBeGreaterThan(seen + 5));
  expect(exits()).toEqual([]);
});

test('an agent that reads a file finds its texts there, and the order to leave', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'vigil-test-'));
  const path = join(dir, 'worker-1.jsonl');
  await start('echo "at $VIGIL_NUDGE_FILE"; sleep 600', { nudge: 'file', nudgeFile: { path, format: 'jsonl' } });
  await until(() => expect(shown).toContain(`at ${path}`));
  stage.gateway.offer(nudge());
  const why = `nothing confirms that the agent has read ${path}`;
  await until(() => expect(receipts()).toMatchObject([{ payload: { outcome: 'uncertain', why } }]));
  stage.gateway.offer(terminate());
  await until(() => expect(exits()).toHaveLength(1));
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { nudge: 'are you still there', order_id: 'nudge-1' },
    { type: 'checkpoint_request', reason: 'no_activity', deadline_ms: 50 },
    { type: 'shutdown_request', reason: 'no_activity' },
  ]);
  expect(shown).not.toContain('are you still there');
  rmSync(dir, { recursive: true });
});

test.each([
  ['a finding ends', { axes: ['absence'] }, 'stall_detected'],
  ['a person ends', { axes: [], reason: 'taken over by hand' }, 'taken over by hand'],
])(
  'an agent that %s is asked for a checkpoint, and then to shut down with the reason for it',
  async (_, order, reason) => {
    await start(`exec ${process.execPath} -e '
    const socket = require("node:net").connect(process.env.VIGIL_SOCKET);
    socket.write(JSON.stringify({ activity: "working" }) + "\\n");
    require("node:readline").createInterface({ input: socket }).on("line", (line) => console.log(line));'`);
    await until(() => expect(last()?.activity).toBe('working'));
    stage.gateway.offer(terminate({ ...order, graceMs: 1000 }));
    await until(() => expect(exits()).toHaveLength(1));
    const requests = shown.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
    expect(requests).toEqual([
      { type: 'checkpoint_request', reason: expect.any(String), deadline_ms: 1000 },
      { type: 'shutdown_request', reason },
    ]);
  },
);

test('an agent of the SDK that is asked for a checkpoint and to shut down does both, and is continued from that checkpoint', async () => {
  const fixture = fileURLToPath(new URL('../testing/sdk-agent.fixture.ts', import.meta.url));
  await start(`exec ${process.execPath} ${fixture}`);
  await until(() => expect(last()?.phase).toBe('work'));
  stage.gateway.offer(terminate({ axes: ['absence'], reason: 'no call for 3 min', graceMs: 20_000 }));
  await until(() => expect(exits()).toMatchObject([{ code: 0, orderId: 'end-1' }]));
  const commands = shown.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  expect(commands).toEqual([
    { kind: 'checkpoint', reason: 'no call for 3 min', deadlineMs: 20_000 },
    { kind: 'shutdown', reason: 'stall_detected' },
  ]);
  await until(() =>
    expect(receipts()).toMatchObject([
      { payload: { forced: false, checkpoint: { checkpointId: 'on-request' }, remainingWork: ['two'] } },
    ]),
  );
});

/** An agent that listens on its socket. `onMessage`: how it handles a message, `word`. */
const listening = (onMessage: string): string =>
  `exec ${process.execPath} -e '
    const socket = require("node:net").connect(process.env.VIGIL_SOCKET);
    socket.write(JSON.stringify({ activity: "working" }) + "\\n");
    require("node:readline").createInterface({ input: socket }).on("line", (line) => {
      const word = JSON.parse(line);
      if (word.nudge !== undefined) { ${onMessage} }
    });'`;

test('a text is delivered when the agent confirms on its socket that it has it', async () => {
  await start(listening('socket.write(JSON.stringify({ received: word.order_id }) + "\\n");'), { nudge: 'socket' });
  await until(() => expect(last()?.activity).toBe('working'));
  stage.gateway.offer(nudge());
  await until(() => expect(receipts()).toMatchObject([{ payload: { outcome: 'delivered', why: null } }]));
});

test('a text that was sent to the socket of an agent, which never confirms it, is not called delivered', async () => {
  await start(listening('process.exit(0);'), { nudge: 'socket' });
  await until(() => expect(last()?.activity).toBe('working'));
  stage.gateway.offer(nudge());
  const why = expect.stringContaining('not confirmed');
  await until(() => expect(receipts()).toMatchObject([{ payload: { outcome: 'uncertain', why } }]));
});

test('an agent that cannot be reached by its file gets no text, and the receipt reports that', async () => {
  await start('sleep 600', { nudge: 'file', nudgeFile: { path: '/nonexistent/nudges', format: 'text' } });
  stage.gateway.offer(nudge());
  await until(() => expect(receipts()).toMatchObject([{ payload: { outcome: 'failed', why: expect.any(String) } }]));
});
