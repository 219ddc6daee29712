import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { describe, expect, test } from 'vitest';
import { answerOf, least, showingClaims, testGateway } from '../testing.ts';

const { log, get, post } = testGateway();

const NONE = { tasks: [], labels: {}, policies: [], capacity: 0 };
const agentWith = (claims: object) => showingClaims('agent', 'worker-1', { ...NONE, ...claims });
const runtimeWith = (claims: object) => showingClaims('runtime', 'host-1', { ...NONE, ...claims });

const outside = (field: string, option: string) => ({
  status: 403,
  body: { type: 'urn:vigil:problem:outside_claims', field, detail: expect.stringContaining(option) },
});
const heartbeatWith = (more: object, headers: Record<string, string>) =>
  post('/v1/heartbeats', { ...least, ...more }, headers).then(answerOf);
const written = () => log().events(Topic.heartbeat);

describe('a heartbeat', () => {
  test('names a task that the token permits, and no other', async () => {
    const own = await agentWith({ tasks: ['OMN-*', 'DOC-1'] });
    for (const task_id of ['OMN-1', 'OMN-', 'DOC-1', null])
      expect((await heartbeatWith({ task_id }, own)).status).toBe(202);
    for (const task_id of ['OMN', 'XOMN-1', 'DOC-12'])
      expect(await heartbeatWith({ task_id }, own)).toMatchObject(outside('task_id', `--tasks ${task_id}`));
    expect(written()).toHaveLength(4);
  });

  test('without a permitted task names none, and the refusal shows the command for a token that permits it', async () => {
    const own = await agentWith({ labels: { team: ['core'] }, policies: ['vigil'] });
    expect(await heartbeatWith({ task_id: 'OMN-1' }, own)).toMatchObject({
      body: {
        detail:
          'task_id is "OMN-1": the token of agent worker-1 permits tasks none; create one that permits it: ' +
          'vigil token create agent worker-1 --label team=core --policy vigil --tasks OMN-1',
      },
    });
  });

  test('requests a policy that the token permits, and no other', async () => {
    const own = await agentWith({ policies: ['vigil'] });
    expect((await heartbeatWith({ policy: 'vigil' }, own)).status).toBe(202);
    expect(await heartbeatWith({ policy: 'omniclaude' }, own)).toMatchObject(outside('policy', '--policy omniclaude'));
    expect(written()).toHaveLength(1);
  });

  test('has labels that the token permits, and no other', async () => {
    const own = await agentWith({ labels: { team: ['core', 'web-*'] } });
    for (const team of ['core', 'web-1']) expect((await heartbeatWith({ labels: { team } }, own)).status).toBe(202);
    for (const [name, value] of [
      ['team', 'ops'],
      ['scope', 'core'],
      ['parent_task', 'OMN-9'],
      ['agent_type', 'Explore'],
      ['constructor', 'x'],
    ] as const)
      expect(await heartbeatWith({ labels: { team: 'core', [name]: value } }, own)).toMatchObject(
        outside(`labels.${name}`, `--label ${name}=${value}`),
      );
    expect(written()).toHaveLength(2);
  });

  test('of a sub-agent has its type, and a parent task that the token permits', async () => {
    const own = await agentWith({ tasks: ['OMN-1'] });
    const subagent = { agent_id: 'worker-1:explore', parent_agent_id: 'worker-1' };
    const labels = { agent_type: 'Explore', parent_task: 'OMN-1' };
    expect((await heartbeatWith({ ...subagent, labels }, own)).status).toBe(202);
    expect(await heartbeatWith({ ...subagent, labels: { parent_task: 'OMN-2' } }, own)).toMatchObject(
      outside('labels.parent_task', '--tasks OMN-2'),
    );
  });

  test('of an agent has no host unless its token permits one; of a runtime it has', async () => {
    const labels = { host: 'build-7' };
    expect((await heartbeatWith({ labels }, await agentWith({}))).status).toBe(202);
    expect((await heartbeatWith({ labels }, await agentWith({ labels: { host: ['build-*'] } }))).status).toBe(202);
    expect(await heartbeatWith({ labels }, await agentWith({ labels: { host: ['mac-*'] } }))).toMatchObject(
      outside('labels.host', '--label host=build-7'),
    );
    const ofRuntime = { agent_id: 'worker-2', runtime_id: 'host-1', labels };
    expect((await heartbeatWith(ofRuntime, await runtimeWith({}))).status).toBe(202);
    const bound = await runtimeWith({ labels: { host: ['mac-*'] } });
    expect(await heartbeatWith(ofRuntime, bound)).toMatchObject(outside('labels.host', '--label host=build-7'));
    expect(written().map(({ payload }) => payload.labels)).toEqual([{}, labels, labels]);
  });

  test('of an agent names no runtime unless that runtime runs the agent', async () => {
    const own = await agentWith({});
    expect(await heartbeatWith({ runtime_id: 'ghost' }, own)).toMatchObject({
      status: 403,
      body: { field: 'runtime_id' },
    });
    await log().publish(
      example(Topic.fleetPresence, 'AGENT_PRESENT', { agentId: 'worker-1', instanceId: 'i-1', runtimeId: 'host-1' }),
    );
    expect((await heartbeatWith({ runtime_id: 'host-1' }, own)).status).toBe(202);
    expect((await heartbeatWith({ runtime_id: 'ghost' }, own)).status).toBe(403);
  });

  test("names no parent of another's", async () => {
    const parent = { parent_agent_id: 'worker-9' };
    expect(await heartbeatWith(parent, await agentWith({}))).toMatchObject({
      status: 403,
      body: { field: 'parent_agent_id' },
    });
    await log().publish(
      example(Topic.fleetPresence, 'AGENT_PRESENT', { agentId: 'worker-9', instanceId: 'i-1', runtimeId: 'host-2' }),
    );
    expect(await heartbeatWith({ ...parent, runtime_id: 'host-1' }, await runtimeWith({}))).toMatchObject({
      status: 403,
      body: { field: 'parent_agent_id' },
    });
  });

  test('in a list that the token does not permit refuses all of it, and its place is named', async () => {
    const list = [least, { ...least, task_id: 'OMN-1' }];
    expect(await answerOf(await post('/v1/heartbeats', list, await agentWith({})))).toMatchObject({
      status: 403,
      body: { field: 'task_id', index: 1 },
    });
    expect(written()).toEqual([]);
  });
});

describe('the end of an agent', () => {
  const end = async (more: object, headers: Record<string, string>) => {
    const { payload } = example(Topic.controlAgent, 'AGENT_EXITED', {
      ...{ runtimeId: 'host-1', orderId: null, taskId: null, policy: null, labels: {} },
      ...more,
    });
    return answerOf(await post('/v1/receipts', { type: 'AGENT_EXITED', payload }, headers));
  };

  test('names a task and labels that the token permits, and no others', async () => {
    const own = await runtimeWith({ tasks: ['OMN-*'], labels: { team: ['core'] } });
    const labels = { team: 'core', host: 'h' };
    expect((await end({ taskId: 'OMN-1', labels }, own)).status).toBe(202);
    expect(await end({ taskId: 'DOC-1' }, own)).toMatchObject(outside('taskId', '--tasks DOC-1'));
    expect(await end({ policy: 'hive' }, own)).toMatchObject(outside('policy', '--policy hive'));
    expect(await end({ labels: { team: 'web' } }, own)).toMatchObject(outside('labels.team', '--label team=web'));
    expect(log().events(Topic.controlAgent)).toHaveLength(1);
  });
});

describe('an announcement', () => {
  const announce = async (more: object, headers: Record<string, string>) => {
    const { payload } = example(Topic.runtimePresence, 'RUNTIME_ANNOUNCED', {
      ...{ runtimeId: 'host-1', capacity: 8, labels: {}, templates: [], agents: [] },
      ...more,
    });
    return answerOf(await post('/v1/receipts', { type: 'RUNTIME_ANNOUNCED', payload }, headers));
  };
  const announced = () => log().events(Topic.runtimePresence);

  test('has at most the capacity that the token permits', async () => {
    expect((await announce({ capacity: 8 }, await runtimeWith({ capacity: 8 }))).status).toBe(202);
    for (const capacity of [9, 2_147_483_647])
      expect(await announce({ capacity }, await runtimeWith({ capacity: 8 }))).toMatchObject(
        outside('capacity', `--capacity ${capacity}`),
      );
    expect(announced()).toHaveLength(1);
  });

  test('has labels that the token permits, and no others', async () => {
    const own = await runtimeWith({ capacity: 8, labels: { team: ['core'] } });
    expect((await announce({ labels: { team: 'core' } }, own)).status).toBe(202);
    expect(await announce({ labels: { team: 'web' } }, own)).toMatchObject(outside('labels.team', '--label team=web'));
  });

  test('has templates for no more tasks than the token permits', async () => {
    const own = await runtimeWith({ capacity: 8, tasks: ['OMN-*'] });
    const templates = (...tasks: string[]) => ({ templates: tasks.map((task) => ({ task, labels: {} })) });
    for (const task of ['OMN-*', 'OMN-1*', 'OMN-1']) expect((await announce(templates(task), own)).status).toBe(202);
    for (const task of ['*', 'OM*', '*-1'])
      expect(await announce(templates('OMN-1', task), own)).toMatchObject(outside('templates.1.task', '--tasks'));
  });

  test('has templates with labels that the token permits, and no others: they count as labels of the runtime', async () => {
    const own = await runtimeWith({ capacity: 8, tasks: ['*'], labels: { team: ['core'] } });
    const template = (labels: object) => ({ templates: [{ task: '*', labels }] });
    expect((await announce(template({ team: 'core' }), own)).status).toBe(202);
    for (const [name, value] of [
      ['team', 'web'],
      ['zone', 'eu'],
    ] as const)
      expect(await announce(template({ [name]: value }), own)).toMatchObject(
        outside(`templates.0.labels.${name}`, `--label ${name}=${value}`),
      );
    expect(announced()).toHaveLength(1);
  });

  test("leaves out the agents of another runtime's", async () => {
    await log().publish(
      example(Topic.fleetPresence, 'AGENT_PRESENT', { agentId: 'theirs', instanceId: 'i-1', runtimeId: 'host-2' }),
    );
    await announce({ agents: ['ours', 'theirs'] }, await runtimeWith({ capacity: 8 }));
    expect(announced()[0]?.payload).toMatchObject({ agents: ['ours'] });
  });
});

describe('a session that reports itself', () => {
  const hook = async (agent: string, task: string, headers: Record<string, string>) =>
    answerOf(
      await post(
        '/v1/hooks/claude-code',
        { hook_event_name: 'SessionStart', session_id: 's-1', source: 'startup' },
        { ...headers, 'vigil-agent': agent, 'vigil-task': task },
      ),
    );

  test('is the agent of its token, with a task that the token permits', async () => {
    const own = await agentWith({ tasks: ['OMN-*'] });
    expect((await hook('worker-1', 'OMN-1', own)).status).toBe(200);
    expect(await hook('worker-1', 'DOC-1', own)).toMatchObject(outside('task_id', '--tasks DOC-1'));
    expect(await hook('worker-2', 'OMN-1', own)).toMatchObject({ status: 403, body: { field: 'agent_id' } });
    expect(new Set(written().map(({ key }) => key))).toEqual(new Set(['worker-1']));
  });

  test("leaves nothing of another's session behind when it is refused", async () => {
    const mallory = await showingClaims('agent', 'mallory', NONE);
    expect((await hook('worker-1', 'OMN-666', mallory)).status).toBe(403);
    const own = await agentWith({ tasks: ['*'] });
    expect((await hook('worker-1', '', own)).status).toBe(200);
    expect(JSON.stringify(written())).not.toContain('OMN-666');
  });
});

test('orders are collected with labels and a policy that the token permits', async () => {
  const own = await agentWith({ policies: ['vigil'], labels: { team: ['core'] } });
  const collect = async (query: string) => answerOf(await get(`/v1/agents/worker-1/orders?${query}`, own));
  expect((await collect('policy=vigil&label=team%3Dcore&label=host%3Dh')).status).toBe(200);
  expect(await collect('policy=hive')).toMatchObject(outside('policy', '--policy hive'));
  expect(await collect('label=team%3Dweb')).toMatchObject(outside('labels.team', '--label team=web'));
});
