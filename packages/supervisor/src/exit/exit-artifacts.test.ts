import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { stallReasonOf } from '../adapters/omniclaude.ts';
import type { Supervised } from '../agent/agent-instance.ts';
import type { AgentSpec } from '../agent/agent-spec.ts';
import { supervise } from '../agent/supervise.ts';
import { validate } from '../checkpoint/validate.ts';
import { dispatch } from '../orders/dispatch.ts';
import { type Stage, scriptSpec, setStage, spawn, terminate } from '../testing/stage.ts';
import { logRedispatch, saveRecovery } from './exit-artifacts.ts';
import { attemptsOf, isLastAttempt, noStateFiles } from './state-files.ts';

let stage: Stage;
let instance: Supervised | null = null;
beforeEach(async () => {
  stage = await setStage();
});
afterEach(async () => {
  await instance?.end('the test is over', 0).then(() => instance?.settled);
  await stage.close();
});

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const start = async (script: string, more: Partial<AgentSpec>): Promise<Supervised> => {
  const deps = {
    ...stage.deps,
    killAfterMs: 200,
    onOrders: (orders: Parameters<typeof dispatch>[2]) => give(orders),
  };
  const give = (orders: Parameters<typeof dispatch>[2]) =>
    dispatch(
      deps,
      {
        runtimeId: 'run-1',
        instances: () => (instance ? [instance] : []),
        isLeftAlone: () => false,
        spawn: () => {},
        recallSpawn: () => {},
      },
      orders,
    );
  instance = await supervise(scriptSpec(script, more), deps, {
    size: { columns: 80, rows: 24 },
    isPiped: false,
    output: () => {},
  });
  return instance;
};
const within = (...parts: string[]) => join(stage.dir, 'state', ...parts);
const files = () => ({
  recovery: within('pipeline_checkpoints'),
  partialState: null,
  dispatchLog: within('dispatch-log'),
  friction: within('friction'),
  root: null,
});
const REPORTS_HALF = `node -e '
  const socket = require("node:net").connect(process.env.VIGIL_SOCKET);
  const checkpoint = { checkpoint_id: "c-1", completed_work: ["one"], remaining_work: ["two", "three"] };
  socket.end(JSON.stringify({ checkpoint }) + "\\n")'; sleep 600`;
const logged = (folder: string) => {
  const [day = ''] = readdirSync(folder);
  expect(day).toMatch(/^\d{4}-\d\d-\d\d\.ndjson$/);
  return readFileSync(join(folder, day), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
};

test('the handover file of an ended agent lists what is done and what is left, and names the checkpoint to continue from', async () => {
  await start(REPORTS_HALF, { files: files(), attempt: 1, maxAttempts: 2 });
  await until(() => expect(stage.gateway.heartbeats.at(-1)?.checkpoint?.checkpoint_id).toBe('c-1'));
  instance?.offer(terminate({ reason: 'no call for 3 min', axes: ['absence'] }), 5000);
  await until(() => expect(stage.gateway.reports.some(({ type }) => type === 'ORDER_RECEIPT')).toBe(true));
  const [name = ''] = readdirSync(within('pipeline_checkpoints', 'TASK-1'));
  expect(name).toMatch(/^recovery-\d{8}T\d{6}\.yaml$/);
  const path = within('pipeline_checkpoints', 'TASK-1', name);
  expect(statSync(path).mode & 0o777, 'its output may hold a secret').toBe(0o600);
  expect(readFileSync(within('pipeline_checkpoints', '.gitignore'), 'utf8')).toBe('*\n');
  expect(Object.entries(parse(readFileSync(path, 'utf8')))).toEqual([
    ['schema_version', '1.1.0'],
    ['ticket_id', 'TASK-1'],
    ['timestamp_utc', expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)],
    ['stall_reason', 'inactivity'],
    ['completed_work', ['one']],
    ['remaining_work', ['two', 'three']],
    ['redispatch_attempt', 2],
    ['recovery_action', 'relaunch_fresh_agent'],
    ['calls_since_checkpoint', []],
    ['last_output', []],
    ['last_checkpoint', { id: 'c-1', uri: null }],
    ['open_work', []],
  ]);
  const receipt = stage.gateway.reports.find(({ type }) => type === 'ORDER_RECEIPT')?.payload;
  expect(receipt).toMatchObject({
    outcome: 'done',
    checkpoint: { uri: pathToFileURL(path).href, parentId: 'c-1', valid: true },
    completedWork: ['one'],
    remainingWork: ['two', 'three'],
  });
  expect(logged(within('dispatch-log'))).toEqual([
    {
      timestamp_utc: expect.any(String),
      event: 'stall_detected',
      ticket_id: 'TASK-1',
      agent_id: 'worker-1',
      stall_reason: 'inactivity',
      idle_minutes: expect.any(Number),
      bash_timeout_exemption: false,
      redispatch_attempt: 2,
      max_redispatches: 2,
      action: 'kill_and_redispatch',
    },
    { timestamp_utc: expect.any(String), event: 'agent_killed', ticket_id: 'TASK-1', agent_id: 'worker-1' },
  ]);
});

/** Saves c-1, calls a tool, begins another call, prints a line, and ignores SIGTERM. `onRequest`: how it handles the request for a checkpoint. */
const partly = (onRequest = ''): string => `exec ${process.execPath} -e '
  process.on("SIGTERM", () => {});
  const socket = require("node:net").connect(process.env.VIGIL_SOCKET);
  const send = (fields) => socket.write(JSON.stringify(fields) + "\\n");
  const save = (id, one, uri) =>
    send({ checkpoint: { checkpoint_id: id, completed_work: [one], remaining_work: ["rest"], uri: uri || null } });
  send({ tool_calls: [{ call_id: "a", tool: "Read", outcome: "ok" }] });
  save("c-1", "one");
  send({ tool_calls: [{ call_id: "b", tool: "Edit", target: "a.ts", outcome: "ok" }] });
  send({ tool_calls: [{ call_id: "c", tool: "Bash", outcome: "running" }] });
  console.log("half way through");
  require("node:readline").createInterface({ input: socket }).on("line", (line) => {
    const { type, deadline_ms: deadline } = JSON.parse(line);
    if (type === "checkpoint_request") { ${onRequest} }
  });
  setInterval(() => {}, 1000)'`;
const isHalfWay = () =>
  until(() => {
    expect(stage.gateway.heartbeats.flatMap(({ tool_calls }) => tool_calls).map(({ call_id }) => call_id)).toContain(
      'c',
    );
    expect(stage.gateway.heartbeats.at(-1)?.output?.lines).toBe(1);
  });
const savedIn = (folder: string) => {
  const [name = ''] = readdirSync(join(folder, 'TASK-1'));
  return parse(readFileSync(join(folder, 'TASK-1', name), 'utf8'));
};
const receipt = () => stage.gateway.reports.find(({ type }) => type === 'ORDER_RECEIPT')?.payload;

test('before an agent is ended, what it did since its checkpoint, its last output and its open work are on the disk', async () => {
  await start(partly(), { files: files() });
  await isHalfWay();
  instance?.offer(terminate({ axes: ['absence'], graceMs: 60_000 }), 70_000);
  await until(() => expect(readdirSync(within('pipeline_checkpoints', 'TASK-1'))).toHaveLength(1));
  expect(instance?.isOver()).toBe(false);
  expect(savedIn(within('pipeline_checkpoints'))).toMatchObject({
    completed_work: ['one'],
    remaining_work: ['rest'],
    calls_since_checkpoint: [
      { tool: 'Edit', target: 'a.ts', outcome: 'ok' },
      { tool: 'Bash', outcome: 'running' },
    ],
    last_output: ['half way through'],
    open_work: [{ tool: 'Bash', outcome: 'running' }],
  });
});

test.each<[string, string, object]>([
  ['its own file', 'file:///c-2.json', { checkpointId: 'c-2', completedWork: ['in 30000'] }],
  ['the recovery file, where its own is none', '', { parentId: 'c-2', completedWork: ['in 30000'], valid: true }],
  ['the recovery file, where its own is elsewhere', 's3://b/c-2', { parentId: 'c-2', completedWork: ['in 30000'] }],
])('an agent that saves a checkpoint within the grace is continued from %s', async (_, uri, expected) => {
  const saves = `save("c-2", "in " + deadline, "${uri}"); setTimeout(() => process.exit(0), 300);`;
  await start(partly(saves), { files: files() });
  await isHalfWay();
  await endedForStall({ graceMs: 30_000 });
  expect(receipt()).toMatchObject({ forced: false, checkpoint: expected, completedWork: ['in 30000'] });
});

test('a checkpoint that an agent saves within the grace is in the one recovery file', async () => {
  await start(partly('save("c-2", "in " + deadline); setTimeout(() => process.exit(0), 300);'), { files: files() });
  await isHalfWay();
  await endedForStall({ graceMs: 30_000 });
  expect(savedIn(within('pipeline_checkpoints')).completed_work).toEqual(['in 30000']);
  expect(readdirSync(within('pipeline_checkpoints', 'TASK-1'))).toHaveLength(1);
});

test('an agent that saves nothing within the grace is continued from the file', async () => {
  await start(partly(), { files: files() });
  await isHalfWay();
  await endedForStall();
  expect(receipt()).toMatchObject({ forced: true, checkpoint: { parentId: 'c-1' }, completedWork: ['one'] });
});

const partialState = () => ({ ...noStateFiles, partialState: within('partial') });

test.each([
  ['its own checkpoint', partly(), 'c-1'],
  ['a newer checkpoint that it saves when it is asked for one', partly('save("c-2", "more");'), 'c-2'],
  ['no checkpoint, where it has none', 'echo ready; sleep 600', undefined],
])('partial state is written beside, and a replacement continues from %s', async (_, script, own) => {
  await start(script, { files: partialState(), checkpointRoots: [stage.dir] });
  await until(() => expect(stage.gateway.heartbeats.at(-1)?.output?.lines).toBe(1));
  if (own !== undefined) await isHalfWay();
  await endedForStall({ graceMs: 1000 });
  const { checkpoint } = receipt() as { checkpoint: { checkpointId: string } | null };
  expect(checkpoint?.checkpointId).toBe(own);
  const [name = ''] = readdirSync(within('partial', 'TASK-1'));
  expect(savedIn(within('partial')).last_output).toHaveLength(1);
  await until(() =>
    expect(stage.gateway.reports.find(({ type }) => type === 'AGENT_EXITED')?.payload).toMatchObject({
      details: expect.stringContaining(`open work are in ${within('partial', 'TASK-1', name)}`),
    }),
  );
});

test('of an agent that crashes no partial state is saved: nothing announced its end', async () => {
  await (await start('exit 3', { files: partialState() })).ended;
  expect(() => readdirSync(within())).toThrow(/ENOENT/);
});

const friction = () => (existsSync(within('friction')) ? readdirSync(within('friction')) : []);
const eventsLogged = () => logged(within('dispatch-log')).map(({ event }) => event);
const endedForStall = async (order: Parameters<typeof terminate>[0] = {}) => {
  instance?.offer(terminate({ axes: ['absence'], ...order }), 5000);
  await until(() => expect(stage.gateway.reports.some(({ type }) => type === 'ORDER_RECEIPT')).toBe(true));
};

test('on the third stall the runtime writes the friction event and its line, and claims no change in Linear', async () => {
  await start(REPORTS_HALF, { files: files(), attempt: 2, maxAttempts: 2, cwd: stage.dir, taskId: 'OMN-1234' });
  await until(() => expect(stage.gateway.heartbeats.at(-1)?.checkpoint?.checkpoint_id).toBe('c-1'));
  await endedForStall();
  const [stall, killed, escalated] = logged(within('dispatch-log'));
  expect([stall.event, stall.action, killed.event]).toEqual(['stall_detected', 'escalate_to_blocked', 'agent_killed']);
  const day = stall.timestamp_utc.slice(0, 10);
  const path = `state/friction/${day}-agent-stall-escalation-omn-1234.md`;
  expect(Object.entries(escalated)).toEqual([
    ['timestamp_utc', expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)],
    ['event', 'escalated_to_blocked'],
    ['ticket_id', 'OMN-1234'],
    ['attempt_count', 3],
    ['friction_path', path],
  ]);
  const [saved = ''] = readdirSync(within('pipeline_checkpoints', 'OMN-1234'));
  expect(readFileSync(join(stage.dir, path), 'utf8')).toBe(`# Agent Stall Escalation: OMN-1234
## Summary
Agent stalled 3 times on OMN-1234, exceeding the max redispatch
limit of 2. The task waits for a person.
## Stall History
- See dispatch log: state/dispatch-log/${day}.ndjson
- Recovery checkpoint: state/pipeline_checkpoints/OMN-1234/${saved}
## Root Cause Hypothesis
Agent likely hitting context exhaustion or encountering a blocking issue that
persists across redispatches (e.g., missing dependency, broken test, infra issue).
## Recommended Action
Manual investigation required. Read the checkpoint and dispatch log to determine
whether the issue is agent-side (scope too large) or environment-side (broken infra).
`);
});

test('the second stall escalates nothing, and neither does an end by a person', async () => {
  await start('sleep 600', { files: files(), attempt: 1, maxAttempts: 2 });
  await endedForStall();
  expect(eventsLogged()).toEqual(['stall_detected', 'agent_killed']);
  await start('sleep 600', { files: files(), attempt: 2, maxAttempts: 2, instanceId: 'instance-2' });
  instance?.offer(terminate({ orderId: 'end-2', instanceId: 'instance-2', axes: [] }), 5000);
  await instance?.settled;
  expect(friction()).toEqual([]);
  expect(eventsLogged()).toEqual(['stall_detected', 'agent_killed', 'agent_killed']);
});

test('a crash after the last attempt is not a stall: it escalates nothing', async () => {
  await (await start('exit 3', { files: files(), attempt: 2, maxAttempts: 2 })).ended;
  expect(friction()).toEqual([]);
});

test('an agent that may have started a new count is not on its last attempt', () => {
  const last = { attempt: 2, maxAttempts: 2 };
  const policy = { recovery: { probation: '1m', stable: '2m' } };
  expect(isLastAttempt(policy, last, 179_999)).toBe(true);
  expect(isLastAttempt(policy, last, 180_000)).toBe(false);
  expect(isLastAttempt({ recovery: { ...policy.recovery, reset_attempts: 'by_people' } }, last, 180_000)).toBe(true);
  expect(isLastAttempt(policy, { ...last, attempt: 1 }, 0)).toBe(false);
  expect(isLastAttempt(policy, { ...last, maxAttempts: null }, 0)).toBe(false);
});

test('after the first attempt at a task, as many attempts are left as its policy sets', async () => {
  const { gateway } = stage;
  gateway.policies.set('p', { signals: { error_pattern: { patterns: ['bo+m'] } }, recovery: { max_attempts: 2 } });
  gateway.assigned = { name: 'p', hash: 'h' };
  await start('echo boom; sleep 600', { files: files() });
  await until(() => expect(gateway.heartbeats.some(({ output }) => output?.matched_patterns.length)).toBe(true));
  instance?.offer(terminate({ axes: ['absence'] }), 5000);
  await until(() => expect(gateway.reports.some(({ type }) => type === 'ORDER_RECEIPT')).toBe(true));
  expect(logged(within('dispatch-log'))[0]).toMatchObject({ redispatch_attempt: 1, max_redispatches: 2 });
});

test('a policy without a number of attempts means the default; an invalid policy is ignored', () => {
  expect(attemptsOf({ recovery: { max_attempts: 0 } })).toBe(0);
  expect([{}, { recovery: {} }].map(attemptsOf)).toEqual([3, 3]);
  expect([null, undefined, 'text', { recovery: { max_attempts: 'many' } }].map(attemptsOf)).toEqual([
    null,
    null,
    null,
    null,
  ]);
});

test('one that finishes, or is stopped with its host, leaves no recovery file', async () => {
  await (await start('exit 0', { files: files() })).ended;
  await (await start('sleep 600', { files: files(), instanceId: 'instance-2' })).end('its runtime stops', 0);
  await instance?.settled;
  expect(() => readdirSync(within())).toThrow(/ENOENT/);
});

test('where the template names no folder the policy does, below the agent’s own', async () => {
  stage.gateway.policies.set('seeded', { files: { recovery: '.onex_state/pipeline_checkpoints/' } });
  await (await start('exit 3', { policy: 'seeded', cwd: stage.dir })).ended;
  expect(readdirSync(join(stage.dir, '.onex_state/pipeline_checkpoints/TASK-1'))).toHaveLength(1);
});

test('a policy does not set where files are written elsewhere on the host; a policy that is not served is ignored', async () => {
  stage.gateway.policies.set('wild', { files: { recovery: '../out', dispatch_log: stage.dir } });
  await (await start('exit 3', { policy: 'wild', cwd: stage.dir })).ended;
  const end = await (await start('exit 3', { policy: 'gone', cwd: stage.dir, instanceId: 'instance-2' })).ended;
  expect(end).toMatchObject({ reason: 'crashed', checkpoint: null });
  expect(() => readdirSync(join(stage.dir, '../out'))).toThrow(/ENOENT/);
  expect(readdirSync(stage.dir).filter((name) => name.endsWith('.ndjson'))).toEqual([]);
});

test('a link of the agent leads none of the policy’s files out of its folder, and its end is reported all the same', async () => {
  const [cwd, outside] = [join(stage.dir, 'work'), join(stage.dir, 'outside')];
  for (const folder of [cwd, outside]) mkdirSync(folder);
  for (const name of ['saved', 'log']) symlinkSync(outside, join(cwd, name));
  stage.gateway.policies.set('seeded', { files: { recovery: 'saved', dispatch_log: 'log' } });
  await start('sleep 600', { policy: 'seeded', cwd });
  await endedForStall();
  expect(receipt()).toMatchObject({ outcome: 'done', checkpoint: null });
  expect(readdirSync(outside)).toEqual([]);
});

test('a fresh agent on the task is a line of the log, with what is left to do', async () => {
  const spec = scriptSpec('', { files: { ...noStateFiles, dispatchLog: within('log') } });
  await logRedispatch(stage.deps, spec, spawn({ attempt: 2, remainingWork: ['two'] }));
  expect(logged(within('log'))).toMatchObject([
    { event: 'redispatch', ticket_id: 'TASK-1', redispatch_attempt: 2, remaining_tasks: ['two'] },
  ]);
});

test('a recovery file is a valid checkpoint of its task, and no task leads out of the folder', async () => {
  const known = { calls: [], output: [], work: null };
  const remains = { taskId: 'OMN-1', attempt: 1, checkpoint: null, stallReason: 'inactivity', known };
  const saved = saveRecovery(within(), within(), remains, Date.UTC(2026, 2, 28, 22, 0, 0));
  expect(saved.uri).toMatch(/\/OMN-1\/recovery-20260328T220000\.yaml$/);
  expect(await validate(saved, [within()], 'OMN-1')).toMatchObject({ valid: true });
  expect(() => saveRecovery(within(), within(), { ...remains, taskId: '../../etc' }, 0)).toThrow(/name/);
});

test('a stall has one of three reasons, or the one that it was given', () => {
  expect(stallReasonOf('no output for 20 min', ['absence'])).toBe('inactivity');
  expect(stallReasonOf('85 % of the context used', ['cost'])).toBe('context_overflow');
  expect(stallReasonOf('rate-limited for another 1 min', ['fact'])).toBe('rate_limit');
  expect(stallReasonOf('the same call 12 times', ['repetition'])).toBe('the same call 12 times');
});
