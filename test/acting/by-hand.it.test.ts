import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { type Command, connect, overGateway, type Vigil } from '@vigil/sdk';
import { writer } from '@vigil/stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Received, receive } from '../support/received.ts';
import { holds, openSystem, ownServers, ROOM, type TestSystem, until } from '../support/system.ts';
import { openPuppets, type Puppets } from './puppets.ts';

const env = {
  ...ROOM,
  VIGIL_POLICY_DIR: path.join(import.meta.dirname, 'policies'),
  VIGIL_GOVERNOR_SETTLE_S: '1',
  VIGIL_GOVERNOR_COOLDOWN_S: '0',
};
const topics = [
  Topic.heartbeat,
  Topic.agentHealth,
  Topic.agentIntervention,
  Topic.agentOrder,
  Topic.orderReceipt,
  Topic.spawnReceipt,
  Topic.stepRuling,
  Topic.spawnRuling,
  Topic.taskRecovery,
];

/** An agent without a runtime of Vigil, a lost host and a finished task, with a person's command for each. */
describe.skipIf(!ownServers)('at the command line', () => {
  let vigil: TestSystem;
  let received: Received;
  let puppets: Puppets;
  let alone: Vigil;
  const messages: Command[] = [];

  beforeAll(async () => {
    vigil = await openSystem({ name: 'by-hand', policy: 'by-hand', env });
    received = await receive(vigil, topics);
    const tracker = path.join(vigil.dir, 'tracker.json');
    writeFileSync(tracker, JSON.stringify([{ id: 'T-closed', status: 'closed', updated_at: '2026-11-22T00:00:00Z' }]));
    const work_source = { command: ['/bin/cat', tracker], interval: '1s' };
    puppets = openPuppets(vigil, received, 'by-hand', ['recovered', 'closed', 'restarted', '+far'], { work_source });
    puppets.start();
  });
  afterAll(async () => {
    await alone?.close({ withinMs: 500 });
    await puppets?.stop();
    received?.stop();
    await vigil?.stop();
  });

  const why = ['--why', 'the test decides it', '--by', 'tester'];
  const ok = async (...line: string[]) => expect(await vigil.vigil(...line)).toMatchObject({ code: 0 });
  const gateway = () => ({ url: vigil.system.env.VIGIL_GATEWAY_URL, token: vigil.system.env.VIGIL_GATEWAY_TOKEN });
  const receipts = (name: string) =>
    received.of(Topic.orderReceipt).flatMap(({ key, payload }) => (key === name ? [payload] : []));
  const heartbeatsOf = (name: string) => received.of(Topic.heartbeat).filter(({ key }) => key === name).length;
  const tale = (task: string) => received.of(Topic.taskRecovery).filter(({ key }) => key === task);
  const completed = (task: string, times: number) =>
    until(`${task} is taken up ${times} times`, async () => {
      const all = tale(task).flatMap((one) => (one.type === 'RECOVERY_COMPLETED' ? [one.payload] : []));
      return all.length === times && all.at(-1);
    });
  const shown = (name: string) =>
    until(`${name} is shown`, async () => (await vigil.vigil('health', name, '--json')).stdout.includes('"agent"'));

  test('the health of one agent has the fields of CODITECT', async () => {
    const { code, stdout } = await until('recovered is healthy and has reported', async () => {
      const asked = await vigil.vigil('health', 'recovered', '--json');
      return asked.code === 0 && JSON.parse(asked.stdout).last_output !== null && asked;
    });
    expect(code).toBe(0);
    const { agent, status, last_output, errors } = JSON.parse(stdout);
    expect({ agent, status, errors }).toEqual({ agent: 'recovered', status: 'healthy', errors: [] });
    expect(Date.parse(last_output)).toBeGreaterThan(0);
  });

  test('an agent that does not run here is restarted by its runtime: one end, a new instance, and who asked is on record', async () => {
    const before = await puppets.instance('restarted');
    await shown('restarted');
    const { code, stdout } = await vigil.vigil('restart', 'restarted', ...why);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Done: ') });
    expect(stdout).toMatch(/^Requested: a restart of restarted by its runtime\./);
    const after = await puppets.instance('restarted', before.instanceId);
    expect(after.instanceId).not.toBe(before.instanceId);
    await holds(() =>
      expect(receipts('restarted')).toMatchObject([
        { kind: 'terminate', outcome: 'done', confirmed: true, instanceId: before.instanceId },
      ]),
    );
    expect(puppets.ends('restarted')).toBe(1);
    expect(tale('T-restarted')).toEqual([]);
    await until('the new instance is HEALTHY, and the request is on record', async () => {
      const explained = (await vigil.vigil('explain', 'restarted', '--all')).stdout;
      return explained.startsWith('restarted is HEALTHY') && explained.includes('tester');
    });
  });

  test('a task that a person blocks is shown as BLOCKED, with an alert, and who asked is on record', async () => {
    await puppets.instance('restarted');
    await shown('restarted');
    const { VIGIL_DASHBOARD_URL: url, VIGIL_DASHBOARD_TOKEN: token } = vigil.system.env;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const command = {
      kind: 'block_task',
      taskId: 'T-restarted',
      attempts: 3,
      checkpoint: 'c-3',
      by: 'tester',
      why: 'stalled',
    };
    const written = await fetch(`${url}/v1/commands`, { method: 'POST', headers, body: JSON.stringify(command) });
    const { eventId } = (await written.json()) as { readonly eventId: string };
    const outcome = await (await fetch(`${url}/v1/commands/${eventId}?wait=30`, { headers })).json();
    expect(outcome).toMatchObject({ outcome: 'applied', events: [{ type: 'TASK_BLOCKED' }] });
    await holds(async () =>
      expect((await vigil.vigil('task', 'list')).stdout).toMatch(/T-restarted .*BLOCKED.*stalled/),
    );
    const raised = await until('the alert is raised', async () =>
      (await vigil.events(Topic.alert)).find(
        ({ key, type }) => type === 'ALERT_RAISED' && key === 'task_blocked:T-restarted',
      ),
    );
    expect(raised.payload).toMatchObject({ blocked: { attempts: 3, reason: 'stalled' }, checkpoint: { uri: 'c-3' } });
    expect((await vigil.vigil('explain', 'restarted', '--all')).stdout).toContain('stalled');
  });

  test('an agent without a runtime is nudged through the gateway, once', async () => {
    const over = overGateway(gateway());
    alone = connect({
      agentId: 'alone',
      taskId: 'T-alone',
      over,
      intervalMs: 300,
      onCommand: (word) => messages.push(word),
    });
    await alone.call({ tool: 'Edit', mutating: true, args: 1 }, () => 1);
    await until('it has received the nudge', async () => messages.length > 0);
    await until('its receipt', async () => receipts('alone').length > 0);
    const decisions = () => received.of(Topic.agentIntervention).filter(({ key }) => key === 'alone');
    const nudges = () => decisions().filter(({ type }) => type === 'NUDGE_SENT');
    await until('its nudge is recorded', async () => nudges().length > 0);
    const before = heartbeatsOf('alone');
    await until('it is asked ten times more', async () => heartbeatsOf('alone') > before + 10);
    expect(messages).toMatchObject([{ kind: 'nudge' }]);
    expect(receipts('alone')).toMatchObject([{ kind: 'nudge', outcome: 'delivered', runtimeId: 'alone' }]);
    expect(nudges()).toHaveLength(1);
  });

  test('unhealthy agents are listed, and no others', async () => {
    await holds(async () => {
      const { code, stdout } = await vigil.vigil('health', '--filter', 'unhealthy', '--json');
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject([{ agent: 'alone', status: 'stuck' }]);
    });
  });

  test('a nudge that was ordered for a silence that has ended is not delivered', async () => {
    await alone.call({ tool: 'Edit', mutating: true, args: 2 }, () => 2);
    const message = 'sent too late';
    const about = { agentId: 'alone', instanceId: alone.instanceId, runtimeId: '', number: 1_000_000, message };
    const finding = { axes: ['absence'], awaits: [['call']], foldedSequence: 0, ttlMs: 60_000 };
    const order = example(Topic.agentOrder, 'NUDGE_AGENT', { orderId: 'too-late', ...about, ...finding } as never);
    await writer(vigil.log, Date.now).write([{ ...order, key: 'alone' }]);
    const answer = await until('its receipt', async () =>
      receipts('alone').find(({ orderId }) => orderId === 'too-late'),
    );
    expect(answer.outcome).toBe('superseded');
    expect(messages).not.toContainEqual(expect.objectContaining({ message }));
  });

  test('a person’s nudge reaches an agent of a runtime, in their words', async () => {
    await shown('closed');
    const message = 'please write a checkpoint';
    await ok('nudge', 'closed', '--message', message, ...why);
    const decisions = await until('it is ordered', async () =>
      received
        .of(Topic.agentOrder)
        .find(({ key, type, payload }) => key === 'closed' && type === 'NUDGE_AGENT' && payload.message === message),
    );
    const answer = await until('its receipt', async () =>
      receipts('closed').find(({ orderId }) => orderId === decisions.payload.orderId),
    );
    expect(answer).toMatchObject({ outcome: 'delivered', runtimeId: 'puppets' });
  });

  test('an agent that is recovered by hand is ended and replaced at once, twice: each time as an attempt with a ruling, after a confirmed death', async () => {
    let name = 'recovered';
    const recovered: string[] = [];
    for (const attempt of [1, 2]) {
      recovered.push(name);
      await shown(name);
      expect(await vigil.vigil('recover', name, ...why)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`Done: recovered by recovered-r${attempt}`),
      });
      const done = await completed('T-recovered', attempt);
      const ended = name;
      await holds(() =>
        expect(receipts(ended).find(({ kind }) => kind === 'terminate')).toMatchObject({
          outcome: 'done',
          confirmed: true,
        }),
      );
      expect(done).toMatchObject({ attempt });
      name = done.newAgentId;
    }
    const admitted = () =>
      received
        .of(Topic.stepRuling)
        .flatMap((one) =>
          one.type === 'STEP_ADMITTED' && one.payload.step === 'terminate' && recovered.includes(one.payload.agentId)
            ? [one.payload.caseId]
            : [],
        );
    const ended = () =>
      received
        .of(Topic.agentOrder)
        .flatMap(({ type, payload }) =>
          type === 'TERMINATE_AGENT' && recovered.includes(payload.agentId) ? [payload.caseId] : [],
        );
    await holds(() => {
      expect(ended()).toHaveLength(2);
      expect(new Set(admitted())).toEqual(new Set(ended()));
    });
    const spawns = () =>
      received.of(Topic.spawnRuling).filter(({ key, type }) => key === 'T-recovered' && type === 'SPAWN_ADMITTED');
    await holds(() => expect(spawns()).toHaveLength(2));
    expect(tale('T-recovered').filter(({ type }) => type === 'RECOVERY_INITIATED')).toHaveLength(2);
  });

  test('a task that is closed in its tracker gets no fresh agent', async () => {
    expect(await vigil.vigil('recover', 'closed', ...why)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/Refused: not_needed: .*closed/),
    });
    const released = await until('it is released', async () =>
      tale('T-closed').find(({ type }) => type === 'TASK_RELEASED'),
    );
    expect(released.payload).toMatchObject({ why: 'not_needed', detail: expect.stringContaining('closed') });
    const spawned = () =>
      received
        .of(Topic.spawnReceipt)
        .filter(({ key }) => key === 'T-closed')
        .map(({ payload }) => payload.outcome);
    await holds(() => expect(spawned()).toEqual(['not_needed']));
    expect(tale('T-closed').filter(({ type }) => type === 'RECOVERY_COMPLETED')).toEqual([]);
  });

  test('an agent on a host that was reported gone counts as dead, and its task continues elsewhere', async () => {
    const heartbeat = {
      ...{ agent_id: 'far', task_id: 'T-far', phase: 'work', last_tool_call: null, token_count: 1, error_count: 0 },
      ...{ progress_indicator: '1/2', policy: 'gone', instance_id: 'far-1', sequence: 1, labels: { host: 'far-host' } },
    };
    const { url, token } = gateway();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ ...heartbeat, timestamp: Date.now() });
    expect((await fetch(`${url}/v1/heartbeats`, { method: 'POST', headers, body })).status).toBe(202);
    await shown('far');
    await ok('host', 'gone', 'far-host', ...why);
    expect(await completed('T-far', 1)).toMatchObject({ attempt: 1 });
    const [begun] = tale('T-far').filter(({ type }) => type === 'RECOVERY_INITIATED');
    expect(begun?.payload).toMatchObject({ deadAgentId: 'far', runtimeId: 'puppets' });
    await holds(async () =>
      expect((await vigil.vigil('health', 'far', '--json')).stdout).toContain('"status": "terminated"'),
    );
  });

  const launcher = path.resolve(import.meta.dirname, '../../packages/dev/bootstrap/vigil.mjs');
  /** The hook of a coding agent without a supervisor, as its client runs it. */
  const hooked = async (agent: string, event: object, more: Readonly<Record<string, string>> = {}): Promise<string> => {
    const { VIGIL_GATEWAY_URL, VIGIL_GATEWAY_TOKEN } = vigil.system.env;
    const env = { PATH: process.env.PATH ?? '', VIGIL_GATEWAY_URL, VIGIL_GATEWAY_TOKEN, VIGIL_AGENT: agent };
    const hook = spawn(process.execPath, [launcher, 'hook', '--client', 'claude-code'], {
      env: { ...env, ...more, VIGIL_STATE_DIR: path.join(vigil.dir, 'hooks') },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    hook.stdin.end(JSON.stringify({ session_id: agent, ...event }));
    return text(hook.stdout);
  };
  const permission = (agent: string, command: string): Promise<string> =>
    hooked(agent, { hook_event_name: 'PermissionRequest', tool_name: 'Bash', tool_input: { command } });
  type Item = { readonly id: string; readonly agentId: string; readonly text: string; readonly atDeadline: string };
  const itemOf = (agent: string) =>
    until(`${agent} waits in the inbox`, async () => {
      const { stdout } = await vigil.vigil('inbox', '--json');
      return (JSON.parse(stdout) as readonly Item[]).find(
        ({ agentId, id }) => agentId === agent && id.startsWith('request/'),
      );
    });

  test('the permission request of a hook is an item of the inbox, and its first answer is what the hook prints', async () => {
    const printed = permission('asking', 'rm -rf build');
    const { id, text: asked, atDeadline } = await itemOf('asking');
    expect([asked, atDeadline]).toEqual(['Bash: rm -rf build', 'no_decision']);
    const answered = await vigil.vigil('inbox', 'answer', id, 'deny', ...why);
    expect(answered).toMatchObject({ code: 0, stdout: expect.stringContaining('has answered deny') });
    expect(JSON.parse(await printed)).toMatchObject({
      hookSpecificOutput: { decision: { behavior: 'deny', message: expect.stringContaining('the test decides it') } },
    });
    expect(await vigil.vigil('inbox', 'answer', id, 'allow', ...why)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the first answer decides'),
    });
  });

  test('two questions of a hook are one item, and the first of two complete answers is what the hook prints', async () => {
    const options = (...labels: readonly string[]) => labels.map((label) => ({ label, description: '' }));
    const questions = [
      { question: 'Which database?', header: 'Database', multiSelect: false, options: options('Postgres', 'SQLite') },
      { question: 'Which features?', header: 'Features', multiSelect: true, options: options('Login', 'Search, fast') },
    ];
    const event = { hook_event_name: 'PreToolUse', tool_name: 'AskUserQuestion', tool_input: { questions } };
    const printed = hooked('asks-twice', event, { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' });
    const { id } = await itemOf('asks-twice');
    const answer = (...given: readonly string[]) => vigil.vigil('inbox', 'answer', id, ...given, ...why);
    expect(await answer('--answer', 'Database=SQLite')).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('"Features" has no answer') },
    });
    expect(await answer('--answer', 'Database=Oracle', '--answer', 'Features=Login')).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('"Oracle" is not one of "Postgres", "SQLite"') },
    });
    const features = ['--answer', 'Features=Login', '--answer', 'Features=Search, fast', '--other', 'Features=a cache'];
    const both = await Promise.all([
      answer('--answer', 'Database=SQLite', ...features),
      answer('--other', 'Database=DuckDB', ...features),
    ]);
    expect(both.map(({ code }) => code).toSorted(), JSON.stringify(both)).toEqual([0, 1]);
    const database = both[0].code === 0 ? 'SQLite' : 'DuckDB';
    const answers = { 'Which database?': database, 'Which features?': 'Login, "Search, fast", a cache' };
    expect(JSON.parse(await printed)).toMatchObject({
      hookSpecificOutput: {
        ...{ hookEventName: 'PreToolUse', permissionDecision: 'allow' },
        updatedInput: { questions, answers },
      },
    });
  });
});
