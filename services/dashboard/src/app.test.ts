import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type Draft, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { canonicalJson, PRESETS, parseYaml } from '@vigil/policy';
import { expect, test } from 'vitest';
import { agent, dashboard, openCase, openRequest, TOKEN } from './app.fixture.ts';
import { LARGEST_BODY } from './problem.ts';

const reason = { by: 'ada', why: 'because' };

test('each answer that shows states has how old it is', async () => {
  const one = dashboard({
    ...{ breakers: async () => [], runtimes: async () => [], recoveries: async () => [], storyBefore: async () => [] },
    ...{
      deadLetters: async () => [],
      policies: async () => [],
      policyRefusals: async () => [],
      targets: async () => ({}),
    },
    tickets: async () => [],
  });
  one.knowledge.current = { upTo: 900, blindSince: 950, away: [] };
  for (const url of [
    ...['breakers', 'tickets', 'runtimes', 'recoveries', 'story', 'silences', 'dead-letters', 'policies'],
    ...['requests/request-1', 'commands/0190c1d2-0000-7000-8000-00000000000a', 'fleet/targets', 'cases/case-1'],
  ])
    expect([url, (await one.request('GET', `/v1/${url}`)).json()]).toMatchObject([
      url,
      { knowledge: one.knowledge.current },
    ]);
  expect((await one.request('GET', '/v1/requests/nosuch')).json()).not.toHaveProperty('knowledge');
});

test('without the token every request is refused', async () => {
  const { app } = dashboard();
  const answer = await app.inject({ url: '/v1/agents', headers: { authorization: 'Bearer a-token-for-tests-onlx' } });
  expect(answer.statusCode).toBe(401);
  expect(answer.headers['content-type']).toContain('application/problem+json');
});

test('a request with the name of another site is refused before its token is read, and the refusal is recorded with the address', async () => {
  const { app, refusals } = dashboard();
  const get = (host: string) =>
    app.inject({ url: '/v1/agents', headers: { authorization: `Bearer ${TOKEN}`, host }, remoteAddress: '192.0.2.1' });
  const answer = await get('attacker.example');
  expect(answer.json()).toMatchObject({ status: 421, detail: expect.stringContaining('VIGIL_DASHBOARD_HOSTS') });
  expect(refusals).toMatchObject([{ principal: null, status: 421, address: '192.0.2.1' }]);
  for (const host of ['vigil.example', '127.0.0.1:7420']) expect((await get(host)).statusCode).toBe(200);
});

test('breakers are filtered by agent, task and being open, and their openings counted for a day', async () => {
  const { request } = dashboard({ breakers: async (filter: object) => [filter] });
  const answer = await request('GET', '/v1/breakers?open=true&agent=worker-1&task=T-1');
  expect(answer.json().breakers).toEqual([
    { open: true, agentId: 'worker-1', taskId: 'T-1', labels: [], tripsSince: 1000 - 86_400_000, limit: 1001 },
  ]);
  expect((await request('GET', '/v1/breakers?open=perhaps')).statusCode).toBe(400);
});

test.each([
  ['/v1/agents/%E0%A4%A', 400],
  ['/%', 400],
  ['/assets/..%2f', 404],
  ['/assets/..%2f..%2fpackage.json', 404],
  ['/assets/%5c..%5c', 404],
])('a malformed address, %s, is answered with a problem', async (url, status) => {
  const { app, failures } = dashboard();
  const answer = await app.inject({ url, headers: { authorization: `Bearer ${TOKEN}` } });
  expect(answer.headers['content-type']).toContain('application/problem+json');
  expect(answer.json()).toMatchObject({ status, detail: expect.stringMatching(/.{15}/) });
  expect(failures).toEqual([]);
});

test('a request that Node cannot read is answered with a problem: headers above 16 KB, and what is not HTTP', async () => {
  const { app } = dashboard();
  const address = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  const answerTo = async (request: string): Promise<string> => {
    const socket = connect(Number(address.port), address.hostname);
    socket.write(request);
    return await text(socket);
  };
  try {
    for (const [request, status] of [
      [`GET /v1/agents/${'a'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
      ['nonsense\r\n\r\n', 400],
    ] as const) {
      const [head = '', body = ''] = (await answerTo(request)).split('\r\n\r\n');
      expect(head).toContain('Content-Type: application/problem+json');
      expect(JSON.parse(body)).toMatchObject({ status, detail: expect.any(String) });
    }
  } finally {
    await app.close();
  }
});

test('a body ten times above the limit is refused with 413, which a client gets that reads nothing before it has written it', async () => {
  const { app } = dashboard();
  const { hostname, port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  try {
    const body = 'x'.repeat(10 * LARGEST_BODY);
    const socket = connect(Number(port), hostname).pause();
    const head = `POST /v1/commands HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json`;
    const request = `${head}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    await new Promise<void>((resolve, reject) => void socket.once('error', reject).write(request, () => resolve()));
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 [\s\S]*"urn:vigil:too_large"/);
  } finally {
    await app.close();
  }
});

test('agents are filtered by state, task, being unhealthy and waiting for a person', async () => {
  const answer = await dashboard().request('GET', '/v1/agents?filter=unhealthy&state=STUCK&task=T-1');
  expect(answer.json().agents[0].filter).toEqual({ unhealthy: true, waiting: false, state: 'STUCK', taskId: 'T-1' });
  const waiting = await dashboard().request('GET', '/v1/agents?filter=waiting');
  expect(waiting.json().agents[0].filter).toMatchObject({ unhealthy: false, waiting: true });
});

test('an invalid filter is refused by its name', async () => {
  const answer = await dashboard().request('GET', '/v1/agents?state=BROKEN');
  expect(answer.json()).toMatchObject({ status: 400, field: 'state' });
});

test('an unknown agent is a problem that names where to look', async () => {
  const answer = await dashboard().request('GET', '/v1/agents/missing');
  expect(answer.json()).toMatchObject({ status: 404, type: 'urn:vigil:unknown_agent' });
});

test('an agent that is not healthy has its options, and a healthy one has none', async () => {
  const checkpoint = { checkpointId: 'c-1', writtenAt: 5, valid: true, parentId: null };
  const answer = async (state: string) => {
    const row = { ...agent, state, caseId: null };
    const { request } = dashboard({ agent: async () => row, checkpoints: async () => [checkpoint] });
    return (await request('GET', '/v1/agents/worker-1')).json().options;
  };
  const unknown = { plan: null, steps: [], next: null, suspendedBy: null, decisions: [] };
  expect(await answer('DEGRADED')).toEqual({
    ...unknown,
    checkpoint: { checkpointId: 'c-1', writtenAt: 5, valid: true },
  });
  expect(await answer('HEALTHY')).toBeNull();
});

test.each([
  [{ settled: 'answered', settledBy: 'eve', settledOption: 'deny' }, 'allow', 409, 'eve has answered deny'],
  [{ settled: 'withdrawn', settledWhy: 'its hook has ended' }, 'allow', 409, 'is withdrawn: its hook has ended'],
  [{}, 'always', 400, '"always" is not one of allow'],
])('an answer to a request that is %o, by %s, is refused and not written', async (more, option, status, detail) => {
  const { request, written } = dashboard({ request: async () => ({ ...openRequest, ...more }) });
  const command = { kind: 'answer_request', requestId: 'request-1', option, ...reason };
  const answer = await request('POST', '/v1/commands', command);
  expect(answer.json()).toMatchObject({ status, detail: expect.stringContaining(detail) });
  expect(written).toEqual([]);
});

const labels = ['Login', 'Search'].map((label) => ({ label, description: null, preview: null }));
const asked = { header: '', text: 'Which?', options: labels };
const twoQuestions = {
  ...openRequest,
  options: [],
  questions: [
    { ...asked, name: 'Method', isMultiple: false },
    { ...asked, name: 'Features', isMultiple: true },
  ],
};
const answering = (answer: object, row: object = twoQuestions) => {
  const { request, written } = dashboard({ request: async () => row });
  const command = { kind: 'answer_request', requestId: 'request-1', ...answer, ...reason };
  return { written, sent: request('POST', '/v1/commands', command) };
};
const METHOD = { question: 'Method', labels: ['Login'] };

test('several questions are answered together, by labels and by other words', async () => {
  const answers = [METHOD, { question: 'Features', labels: ['Login', 'Search'], text: ' a cache ' }];
  const { sent, written } = answering({ answers });
  expect((await sent).statusCode).toBe(202);
  expect(written).toMatchObject([
    {
      type: 'ANSWER_REQUEST',
      payload: {
        option: 'Method: Login; Features: Login, Search, "a cache"',
        answers: [
          { ...METHOD, text: null },
          { question: 'Features', labels: ['Login', 'Search'], text: 'a cache' },
        ],
      },
    },
  ]);
});

test.each([
  [{ answers: [METHOD] }, 'answers', 'answers: "Features" has no answer'],
  [{ answers: [{ ...METHOD, labels: ['Oracle'] }] }, 'answers', '"Method": "Oracle" is not one of'],
  [{ answers: [{ ...METHOD, labels: ['Login', 'Search'] }] }, 'answers', '"Method" takes one answer'],
  [{ option: 'Login' }, 'answers', 'takes an answer to each of "Method", "Features"'],
  [{}, 'answers', 'takes an answer to each of "Method", "Features"'],
  [{ option: 'Login', answers: [METHOD] }, 'option', 'and not both'],
])('an answer of %j to two questions is refused with the question and the value', async (answer, field, detail) => {
  const { sent, written } = answering(answer);
  expect((await sent).json()).toMatchObject({ status: 400, field, detail: expect.stringContaining(detail) });
  expect(written).toEqual([]);
});

test('an internal failure is logged, and the answer reveals nothing of it', async () => {
  const broken = dashboard({ agents: () => Promise.reject(new Error('password=secret')) });
  const answer = await broken.request('GET', '/v1/agents');
  expect(answer.statusCode).toBe(500);
  expect(answer.body).not.toContain('secret');
  expect(broken.failures).toHaveLength(1);
});

test('while Postgres does not answer, a question about agents is answered with that, and since when', async () => {
  const failing = async () => {
    throw new Error('Query read timeout');
  };
  const { request, knowledge } = dashboard({ agents: failing });
  expect((await request('GET', '/v1/agents')).json()).toMatchObject({ status: 500 });
  const away = [{ part: 'postgres', since: Date.UTC(2026, 0, 1), detail: 'it refuses connections' }];
  knowledge.current = { upTo: 900, blindSince: 900, away };
  const answer = await request('GET', '/v1/agents');
  expect(answer.statusCode).toBe(503);
  expect(answer.json().detail).toBe(
    'Postgres has not answered since 2026-01-01 00:00:00 UTC (it refuses connections), so nothing is known about agents: start it, or correct DATABASE_URL of the dashboard.',
  );
});

test.each([
  ['/v1/agents'],
  ['/v1/agents/worker-1'],
  ['/v1/agents/worker-1/explain'],
  ['/v1/cases'],
  ['/v1/cases/case-1'],
  ['/v1/tasks'],
  ['/v1/tasks/T-1'],
  ['/v1/alerts'],
  ['/v1/inbox'],
])('%s has how old the answer is', async (url) => {
  const rows = async () => [];
  const { request, knowledge } = dashboard({
    ...{ cases: rows, tasks: rows, checkpoints: rows, recoveries: rows, requests: rows, alerts: rows, story: rows },
    ...{ transitions: rows, orders: rows, breakers: rows, tickets: rows, fleet: async () => ({ braked: false }) },
    ...{ task: async () => ({ taskId: 'T-1' }) },
  });
  knowledge.current = { upTo: 900, blindSince: 950, away: [{ part: 'gateway', since: 950, detail: 'refused' }] };
  expect((await request('GET', url)).json()).toMatchObject({ knowledge: knowledge.current });
});

test('the fleet has how old the answers are, beside what holds it', async () => {
  const { request, knowledge } = dashboard({
    fleet: async () => ({}),
    runtimes: async () => [],
    policies: async () => [],
  });
  expect((await request('GET', '/v1/fleet')).json()).toMatchObject({ knowledge: knowledge.current });
});

test.each([
  [{ kind: 'halt' }, Topic.controlFleet, 'HALT_FLEET', 'fleet', {}],
  [{ kind: 'resume' }, Topic.controlFleet, 'RESUME_FLEET', 'fleet', {}],
  [{ kind: 'dry_run', on: false }, Topic.controlFleet, 'DRY_RUN_OFF', 'fleet', {}],
  [{ kind: 'hold', agentId: 'worker-1', forMs: 50 }, Topic.controlAgent, 'HOLD_AGENT', 'worker-1', { until: 1050 }],
  [{ kind: 'hold', agentId: 'worker-1' }, Topic.controlAgent, 'HOLD_AGENT', 'worker-1', { until: null }],
  [{ kind: 'release', agentId: 'worker-1' }, Topic.controlAgent, 'RELEASE_AGENT', 'worker-1', {}],
  [
    { kind: 'reset_breaker', agentId: 'worker-1', name: 'external_api' },
    Topic.controlAgent,
    'RESET_BREAKER',
    'worker-1',
    { name: 'external_api' },
  ],
  [
    { kind: 'decide_case', caseId: 'case-1', decision: 'pardon' },
    Topic.decideCase,
    'DECIDE_CASE',
    'worker-1',
    { agentId: 'worker-1', forMs: null, question: null },
  ],
  [
    { kind: 'request_step', agentId: 'worker-1', step: 'nudge' },
    Topic.decideCase,
    'REQUEST_STEP',
    'worker-1',
    { instanceId: 'i1', runtimeId: 'host-1', message: null },
  ],
  [
    { kind: 'answer_request', requestId: 'request-1', option: 'allow' },
    Topic.handleRequest,
    'ANSWER_REQUEST',
    'worker-1',
    { requestId: 'request-1', instanceId: 'i1', option: 'allow' },
  ],
  [{ kind: 'acknowledge', alertId: 'alert-1' }, Topic.controlAlerts, 'ACKNOWLEDGE_ALERT', 'stuck_agent:T-1', {}],
  [{ kind: 'resolve_alert', alertId: 'alert-1' }, Topic.controlAlerts, 'RESOLVE_ALERT', 'stuck_agent:T-1', {}],
  [
    { kind: 'test_channel', channel: 'ops' },
    Topic.controlAlerts,
    'TEST_CHANNEL',
    'channel_test:ops',
    { channel: 'ops' },
  ],
  [
    { kind: 'end_silence', silenceId: 'silence-1' },
    Topic.controlAlerts,
    'SILENCE_ALERTS',
    'silences',
    { silenceId: 'silence-1', matchers: [{ field: 'route', value: 'stuck_agent' }] },
  ],
])('%o is written as one event, keyed by its subject', async (command, topic, type, key, payload) => {
  const { request, written } = dashboard();
  const answer = await request('POST', '/v1/commands', { ...command, ...reason });
  expect(answer.statusCode).toBe(202);
  expect(answer.json()).toEqual({ eventId: 'event-1', topic, type, key, alsoFor: [], eventIds: ['event-1'] });
  expect(written).toMatchObject([{ topic, type, key, payload: { ...payload, ...reason } }]);
});

test.each([
  [{ kind: 'halt', by: 'ada' }, 400, 'why'],
  [{ kind: 'explode', ...reason }, 400, 'kind'],
  [{ kind: 'hold', agentId: 'a', forMs: 0, ...reason }, 400, 'forMs'],
  [{ kind: 'hold', agentId: 'a', forMs: 30 * 86_400_000 + 1, ...reason }, 400, 'forMs'],
  [{ kind: 'request_step', agentId: 'worker-1', step: 'nudge', message: ' ', ...reason }, 400, 'message'],
  [{ kind: 'hold', agentId: 'missing', ...reason }, 404, undefined],
  [{ kind: 'release', agentId: 'missing', ...reason }, 404, undefined],
  [{ kind: 'halt', extra: 1, ...reason }, 400, undefined],
  // It would be a label that no alert has, and would silence nothing.
  [
    { kind: 'silence', matchers: [{ field: 'agent', value: 'worker-1' }], forMs: 1, ...reason },
    400,
    'matchers.0.field',
  ],
  [{ kind: 'decide_case', caseId: 'case-2', decision: 'pardon', ...reason }, 404, undefined],
  [{ kind: 'reset_breaker', agentId: 'worker-1', name: 'recovery_attempt', ...reason }, 400, 'name'],
  [
    { kind: 'file_ticket', agentId: 'missing', ticketId: 't-2', severity: 'low', cause: 'slow', ...reason },
    404,
    undefined,
  ],
  [
    { kind: 'file_ticket', agentId: 'worker-1', ticketId: 't-2', severity: 'bad', cause: 'slow', ...reason },
    400,
    'severity',
  ],
  [{ kind: 'file_ticket', agentId: 'worker-1', ticketId: 't-2', severity: 'low', cause: ' ', ...reason }, 400, 'cause'],
  [{ kind: 'notify_operator', ticketId: 't-9', urgency: 'low', ...reason }, 404, undefined],
  [{ kind: 'reset_breaker', agentId: 'missing', name: 'external_api', ...reason }, 404, undefined],
  [{ kind: 'review_task', taskId: 'T-9', decision: 'retry', ...reason }, 404, undefined],
])('%o is refused and nothing is written', async (command, status, field) => {
  const { request, written } = dashboard();
  const answer = await request('POST', '/v1/commands', command);
  expect(answer.statusCode).toBe(status);
  if (field !== undefined) expect(answer.json().field).toBe(field);
  expect(written).toEqual([]);
});

test.each([
  ['acknowledge', { resolvedAt: 1000 }, 'Alert alert-1 is resolved already.'],
  ['resolve_alert', { resolvedAt: 1000 }, 'Alert alert-1 is resolved already.'],
  [
    'acknowledge',
    { acknowledgedAt: 0, acknowledgedBy: 'eve' },
    'Alert alert-1 was acknowledged by eve at 1970-01-01 00:00:00 UTC.',
  ],
])('%s of an alert with %o is refused with what happened to it', async (kind, fields, detail) => {
  const open = { alertId: 'alert-1', alertKey: 'stuck_agent:T-1', resolvedAt: null, acknowledgedAt: null };
  const { request, written } = dashboard({ alerts: async () => [{ ...open, ...fields }] });
  const answer = await request('POST', '/v1/commands', { kind, alertId: 'alert-1', ...reason });
  expect(answer.json()).toMatchObject({ status: 409, detail });
  expect(written).toEqual([]);
});

test('an alert that has changed since it was acknowledged can be acknowledged again, and one that has not cannot', async () => {
  const acknowledged = { resolvedAt: null, acknowledgedAt: 5, acknowledgedBy: 'eve' };
  const statusOf = async (updatedAt: number) => {
    const alert = { alertId: 'alert-1', alertKey: 'stuck_agent:T-1', ...acknowledged, updatedAt };
    const { request } = dashboard({ alerts: async () => [alert] });
    const command = { kind: 'acknowledge', alertId: 'alert-1', ...reason };
    return (await request('POST', '/v1/commands', command)).statusCode;
  };
  expect([await statusOf(5), await statusOf(6)]).toEqual([409, 202]);
});

test('an acknowledged alert can still be resolved', async () => {
  const acknowledged = { resolvedAt: null, acknowledgedAt: 0, acknowledgedBy: 'eve' };
  const alerts = async () => [{ alertId: 'alert-1', alertKey: 'stuck_agent:T-1', ...acknowledged }];
  const { request } = dashboard({ alerts });
  const command = { kind: 'resolve_alert', alertId: 'alert-1', ...reason };
  expect((await request('POST', '/v1/commands', command)).statusCode).toBe(202);
});

test('a ticket of an external judge is complete, and is about the present instance of its agent', async () => {
  const { request, written } = dashboard({ agent: async () => ({ ...agent, labels: { graph: 'g-7' } }) });
  const filed = {
    kind: 'file_ticket',
    agentId: 'worker-1',
    ticketId: 't-2',
    severity: 'high',
    cause: 'it edits one line',
  };
  const seen = { suggestedAction: 'restart', evidence: 'edit, undo, edit', stepsSinceAccept: 12, stallMs: 90_000 };
  expect((await request('POST', '/v1/commands', { ...filed, ...seen, ...reason })).statusCode).toBe(202);
  const ticket = {
    ticket_id: 't-2',
    created_at: '1970-01-01T00:00:01.000Z',
    worker_agent_id: 'worker-1',
    worker_session_id: 'i1',
    worker_node_id: 'g-7',
    worker_graph_id: 'g-7',
    severity: 'high',
    cause: 'it edits one line',
    judge_reasoning: reason.why,
    suggested_action: 'restart',
    recent_verdicts: [],
    total_steps_checked: 12,
    steps_since_last_accept: 12,
    stall_minutes: 1.5,
    evidence_snippet: 'edit, undo, edit',
  };
  expect(written).toEqual([
    {
      topic: Topic.controlAgent,
      type: 'FILE_TICKET',
      key: 'worker-1',
      payload: { agentId: 'worker-1', ticket, by: 'ada' },
    },
  ]);
});

test('a request for the operator goes to the alert of its ticket, with the analysis', async () => {
  const { request, written } = dashboard();
  const command = { kind: 'notify_operator', ticketId: 't-1', urgency: 'critical', ...reason };
  expect((await request('POST', '/v1/commands', command)).statusCode).toBe(202);
  expect(written).toEqual([
    {
      topic: Topic.controlAlerts,
      type: 'NOTIFY_OPERATOR',
      key: 'escalation_ticket:T-1',
      payload: { ticket_id: 't-1', analysis: reason.why, urgency: 'critical', by: 'ada' },
    },
  ]);
});

test('a ticket that triage has not decided yet has no alert to notify people with', async () => {
  const { request, written } = dashboard({ tickets: async () => [{ ticketId: 't-1', alertKey: null }] });
  const command = { kind: 'notify_operator', ticketId: 't-1', urgency: 'low', ...reason };
  expect((await request('POST', '/v1/commands', command)).json()).toMatchObject({ type: 'urn:vigil:not_triaged' });
  expect(written).toEqual([]);
});

test('a task is reviewed only where it waits for that', async () => {
  const command = { kind: 'review_task', taskId: 'T-1', decision: 'retry', ...reason };
  const over = dashboard({ task: async () => ({ taskId: 'T-1', recovery: 'RECOVERY_COMPLETED' }) });
  expect((await over.request('POST', '/v1/commands', command)).json()).toMatchObject({
    status: 409,
    type: 'urn:vigil:not_in_review',
  });
  expect(over.written).toEqual([]);
  const waits = dashboard({ task: async () => ({ taskId: 'T-1', recovery: 'REVIEW_REQUIRED' }) });
  expect((await waits.request('POST', '/v1/commands', command)).statusCode).toBe(202);
  expect(waits.written).toMatchObject([{ type: 'REVIEW_TASK', key: 'T-1', payload: { decision: 'retry' } }]);
});

test('a closed case takes no decision', async () => {
  const closed = dashboard({ case: async () => ({ ...openCase, closedAt: 5, ending: 'recovered' }) });
  const command = { kind: 'decide_case', caseId: 'case-1', decision: 'pardon', ...reason };
  expect((await closed.request('POST', '/v1/commands', command)).json()).toMatchObject({ status: 409 });
  expect(closed.written).toEqual([]);
});

test('a host that is gone ends every agent that was last seen there and still runs, by its name or its runtime', async () => {
  const agents = [
    { ...agent, agentId: 'a', host: 'h1' },
    { ...agent, agentId: 'b', host: null, runtimeId: 'r1' },
    { ...agent, agentId: 'c', host: 'h1', state: 'TERMINATED' as const },
    { ...agent, agentId: 'd', host: 'h2', runtimeId: 'r2' },
  ];
  const runtime = { host: 'h1', runtimeId: 'r1', capacity: 1, agents: [], labels: {}, announcedAt: 1 };
  const gone = dashboard({ agents: async () => agents, runtimes: async () => [runtime] });
  const answer = await gone.request('POST', '/v1/commands', { kind: 'host_gone', host: 'h1', ...reason });
  expect(answer.json()).toMatchObject({
    type: 'CONFIRM_DEATH',
    key: 'a',
    alsoFor: ['b'],
    eventIds: ['event-1', 'event-1:b'],
  });
  expect(gone.written).toMatchObject([
    { key: 'a', payload: { instanceId: 'i1', source: 'person', groupId: null, of: 2, ...reason } },
    { key: 'b', payload: { instanceId: 'i1', groupId: 'event-1', of: 2 } },
  ]);
  const unknown = await gone.request('POST', '/v1/commands', { kind: 'host_gone', host: 'h3', ...reason });
  expect(unknown.json()).toMatchObject({ status: 404, detail: expect.stringContaining('"h3"') });
});

test('an agent without an instance id gets no order by hand', async () => {
  const nameless = dashboard({ agent: async () => ({ ...agent, instanceId: null }) });
  const command = { kind: 'request_step', agentId: 'worker-1', step: 'terminate', ...reason };
  expect((await nameless.request('POST', '/v1/commands', command)).json()).toMatchObject({ status: 409 });
});

test('an agent is restarted by its runtime, and one without a runtime gets no such order', async () => {
  const command = { kind: 'request_step', agentId: 'worker-1', step: 'restart', ...reason };
  const { request, written } = dashboard({ agent: async () => ({ ...agent, runtimeId: 'host-1' }) });
  expect((await request('POST', '/v1/commands', command)).statusCode).toBe(202);
  expect(written).toMatchObject([
    { type: 'REQUEST_STEP', payload: { step: 'restart', runtimeId: 'host-1', ...reason } },
  ]);
  const alone = dashboard({ agent: async () => ({ ...agent, runtimeId: null }) });
  expect((await alone.request('POST', '/v1/commands', command)).json()).toMatchObject({
    status: 409,
    detail: expect.stringContaining('has no runtime'),
  });
  expect(alone.written).toEqual([]);
});

test('a task is blocked by the agent that works on it, and an unknown one is refused', async () => {
  const command = { kind: 'block_task', taskId: 'T-1', attempts: 3, checkpoint: 'file:///c-1', ...reason };
  const ended = { ...agent, agentId: 'worker-0', state: 'TERMINATED', instanceSince: 9 };
  const agents = async () => [ended, { ...agent, instanceSince: 1 }];
  const { request, written } = dashboard({ agents });
  expect((await request('POST', '/v1/commands', command)).statusCode).toBe(202);
  expect(written).toMatchObject([
    {
      type: 'BLOCK_TASK',
      key: 'worker-1',
      payload: { taskId: 'T-1', attempts: 3, checkpoint: 'file:///c-1', ...reason },
    },
  ]);
  const empty = dashboard({ agents: async () => [] });
  expect((await empty.request('POST', '/v1/commands', command)).json()).toMatchObject({ status: 404 });
});

test('the stream sends the requested events as lines of JSON, and ends with the service', async () => {
  const { request, listeners, stop } = dashboard();
  const answer = request('GET', '/v1/events?topic=agentHealth&agent=worker-1');
  while (listeners.size === 0) await new Promise(setImmediate);
  const changed = example(Topic.agentHealth, 'HEALTH_STATE_CHANGED');
  const [listener] = listeners;
  listener?.(changed);
  listener?.(example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { agentId: 'worker-2' }));
  listener?.(example(Topic.alert, 'ALERT_RAISED'));
  stop.abort();
  expect((await answer).body).toBe(`${JSON.stringify(changed)}\n`);
});

/** Opens one stream of events for each token, one after another. */
const openStreams = async ({ app, listeners }: ReturnType<typeof dashboard>, tokens: readonly string[]) => {
  for (const token of tokens) {
    const before = listeners.size;
    void app.inject({ url: '/v1/events', headers: { authorization: `Bearer ${token}` } });
    while (listeners.size === before) await new Promise(setImmediate);
  }
};

test('a caller has 16 streams of events at once; the next is refused until one has ended, and other callers have theirs', async () => {
  const one = dashboard();
  await openStreams(
    one,
    Array.from({ length: 16 }, () => 'viewer'),
  );
  const next = () => one.app.inject({ url: '/v1/events', headers: { authorization: 'Bearer viewer' } });
  expect((await next()).json()).toMatchObject({ status: 429, detail: expect.stringContaining('vera has 16 streams') });
  expect(one.listeners.size).toBe(16);
  await openStreams(one, ['responder']);
  one.revoked.add('viewer');
  while (one.listeners.size > 1) await new Promise(setImmediate);
  one.revoked.delete('viewer');
  await openStreams(one, ['viewer']);
  one.stop.abort();
});

test('all callers together have 64 streams of events; the next is refused', async () => {
  const one = dashboard();
  const names = Array.from({ length: 16 }, (_, i) => `viewer-${i}`);
  await openStreams(
    one,
    names.flatMap((name) => [name, name, name, name]),
  );
  const next = await one.app.inject({ url: '/v1/events', headers: { authorization: 'Bearer viewer' } });
  expect(next.json()).toMatchObject({ status: 429, detail: expect.stringContaining('64 streams of events are open') });
  expect(one.listeners.size).toBe(64);
  one.stop.abort();
});

test('a topic that does not exist is refused with those that do', async () => {
  const answer = await dashboard().request('GET', '/v1/events?topic=nonsense');
  expect(answer.json()).toMatchObject({ status: 400, field: 'topic' });
  expect(answer.json().detail).toContain('agentHealth');
});

test('a NUL in a name is refused before the database is asked', async () => {
  const broken = dashboard({ agent: () => Promise.reject(new Error('invalid byte sequence')) });
  expect((await broken.request('GET', '/v1/agents/a%00b')).statusCode).toBe(400);
  const command = { kind: 'request_step', agentId: 'a\u0000b', step: 'nudge', ...reason };
  expect((await broken.request('POST', '/v1/commands', command)).statusCode).toBe(400);
  expect(broken.failures).toEqual([]);
});

test.each([
  ['by', 'ada\nbob', 'U+000A'],
  ['by', 'ada\tbob', 'U+0009'],
  ['by', '\u001b[2Jada', 'U+001B'],
  ['by', 'ada\u202e', 'U+202E'],
  ['why', 'gone\u0000', 'U+0000'],
  ['why', 'gone\r\n', 'U+000D'],
  ['why', '\u001b]0;x\u0007', 'U+001B'],
  ['why', 'a\nline\u009b2J', 'U+009B'],
  ['why', 'a \u2066turned\u2069 text', 'U+2066'],
])(
  'a control character in %s, %j, is refused by its field and its code, and nothing is written',
  async (field, text, code) => {
    const { request, written } = dashboard();
    const answer = await request('POST', '/v1/commands', { kind: 'halt', ...reason, [field]: text });
    const detail = `${field}: has the control character ${code}: leave it out`;
    expect(answer.json()).toMatchObject({ status: 400, type: 'urn:vigil:bad_command', field, detail });
    expect(written).toEqual([]);
  },
);

test.each([
  ['by', 'Ada Łukasz 山田 (on call)'],
  ['by', 'עדה \u200f!'],
  ['why', 'two lines:\n\tthe host is gone – «déjà vu» 🙂'],
])('other characters in %s are taken: %j', async (field, text) => {
  const { request, written } = dashboard();
  const answer = await request('POST', '/v1/commands', { kind: 'halt', ...reason, [field]: text });
  expect(answer.statusCode).toBe(202);
  expect(written).toHaveLength(1);
});

test('a manual recovery of a task follows the policy of its agent', async () => {
  const command = { kind: 'request_step', agentId: 'worker-1', step: 'terminate_and_recover', ...reason };
  const document = canonicalJson(parseYaml(readFileSync(path.join(PRESETS, 'coditect.yaml'), 'utf8'), 'coditect'));
  const judged = { agent: async () => ({ ...agent, policyName: 'coditect', policyHash: 'h1' }) };
  const answer = async (answers: object) => {
    const { request, written } = dashboard(answers);
    expect((await request('POST', '/v1/commands', command)).statusCode).toBe(202);
    return written[0] as Extract<Draft, { readonly type: 'REQUEST_STEP' }>;
  };
  const known = await answer({ ...judged, policyDocument: async (hash: string) => (hash === 'h1' ? document : null) });
  expect(known.policy).toEqual({ name: 'coditect', hash: 'h1' });
  expect(known.payload.recovery).toMatchObject({
    onProbationFailure: 'review',
    probationMs: 900_000,
  });
  for (const document of [null, '{"policy":"strict","signals":{"of another version":1}}'])
    expect(await answer({ ...judged, policyDocument: async () => document })).toMatchObject({
      policy: null,
      payload: { recovery: null },
    });
  expect(await answer({})).toMatchObject({ payload: { recovery: null } });
});

const as = (name: string, { app }: ReturnType<typeof dashboard>, kind?: object) =>
  kind === undefined
    ? app.inject({ url: '/v1/agents', headers: { authorization: `Bearer ${name}` } })
    : app.inject({
        method: 'POST',
        url: '/v1/commands',
        headers: { authorization: `Bearer ${name}` },
        payload: { ...kind, ...reason },
      });

test.each([
  ['viewer', { kind: 'file_ticket', agentId: 'worker-1', ticketId: 't-2', severity: 'low', cause: 'slow' }, 403],
  ['responder', { kind: 'file_ticket', agentId: 'worker-1', ticketId: 't-2', severity: 'low', cause: 'slow' }, 202],
  ['viewer', { kind: 'notify_operator', ticketId: 't-1', urgency: 'high' }, 403],
  ['responder', { kind: 'notify_operator', ticketId: 't-1', urgency: 'high' }, 202],
  ['viewer', { kind: 'acknowledge', alertId: 'alert-1' }, 403],
  ['responder', { kind: 'acknowledge', alertId: 'alert-1' }, 202],
  ['responder', { kind: 'decide_case', caseId: 'case-1', decision: 'pardon' }, 202],
  ['responder', { kind: 'halt' }, 403],
  ['responder', { kind: 'request_step', agentId: 'worker-1', step: 'nudge' }, 403],
  ['operator', { kind: 'halt' }, 202],
  ['operator', { kind: 'request_step', agentId: 'worker-1', step: 'nudge' }, 202],
])('a %s that sends %o is answered %i', async (name, command, status) => {
  const one = dashboard();
  expect((await as(name, one)).statusCode).toBe(200);
  const answer = await as(name, one, command);
  expect(answer.statusCode).toBe(status);
  expect(one.written).toHaveLength(status === 202 ? 1 : 0);
});

test('a refusal names the role of the caller and the one that is needed', async () => {
  const one = dashboard();
  const answer = await as('responder', one, { kind: 'halt' });
  expect(one.refusals).toMatchObject([{ principal: 'rob', status: 403, method: 'POST', url: '/v1/commands' }]);
  expect(answer.json()).toMatchObject({
    type: 'urn:vigil:not_permitted',
    detail: expect.stringMatching(/^rob has the role responder: halt needs the role operator\./),
  });
});

test("events have the token's name, and the one that the caller gives beside it", async () => {
  const one = dashboard();
  await as('operator', one, { kind: 'halt' });
  await as('operator', one, { kind: 'resume', by: 'olga' });
  expect(one.written.map(({ payload }) => (payload as { by: string }).by)).toEqual(['olga (ada)', 'olga (ada)']);
});

test('a browser gets no page, no guess of its type and no frame', async () => {
  const refused = await dashboard().app.inject({ url: '/v1/agents' });
  for (const { headers } of [refused, await as('viewer', dashboard())])
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      'cache-control': 'no-store',
    });
});

test('the stream of events has the same headers, and ends when its token is revoked', async () => {
  const { app, listeners, revoked } = dashboard();
  const answer = app.inject({ url: '/v1/events', headers: { authorization: 'Bearer viewer' } });
  while (listeners.size === 0) await new Promise(setImmediate);
  revoked.add('viewer');
  expect((await answer).headers).toMatchObject({
    'content-type': 'application/x-ndjson',
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
  });
  expect(listeners.size).toBe(0);
});

test('a route without a role cannot be added', () => {
  const { app } = dashboard();
  expect(() => app.get('/v1/new', async () => ({}))).toThrow('GET /v1/new has no role: give it one in roles.ts');
});

test('agents are selected by policy, host, labels and the time of their last change', async () => {
  const of = (agentId: string, more: object) => ({ ...agent, agentId, since: 5, ...more });
  const rows = [
    of('a', { policyName: 'vigil', host: 'h1', labels: { team: 'core', tier: '1' }, since: 10 }),
    of('b', { policyName: 'demo', host: 'h2', labels: { team: 'core' }, since: 20 }),
    of('c', { policyName: 'vigil', host: 'h1', labels: {}, since: 30 }),
  ];
  const { request } = dashboard({ agents: async () => rows });
  const found = async (query: string) =>
    (await request('GET', `/v1/agents?${query}`)).json().agents.map(({ agentId }: { agentId: string }) => agentId);
  expect(await found('policy=vigil')).toEqual(['a', 'c']);
  expect(await found('host=h2')).toEqual(['b']);
  expect(await found('label=team=core')).toEqual(['a', 'b']);
  expect(await found('label=team=core&label=tier=1')).toEqual(['a']);
  expect(await found('since=20')).toEqual(['b', 'c']);
  expect(await found('since=1970-01-01T00:00:00.010Z&until=20')).toEqual(['a']);
});

test('agents have pages', async () => {
  const rows = ['c', 'a', 'b'].map((agentId) => ({ ...agent, agentId }));
  const { request } = dashboard({ agents: async () => rows });
  const first = (await request('GET', '/v1/agents?limit=2')).json();
  expect(first.agents.map(({ agentId }: { agentId: string }) => agentId)).toEqual(['a', 'b']);
  const second = (await request('GET', `/v1/agents?limit=2&cursor=${first.next}`)).json();
  expect(second).toMatchObject({ agents: [{ agentId: 'c' }], next: null });
});

test.each([
  ['DELETE', '/v1/agents', 'GET, HEAD'],
  ['POST', '/v1/agents/worker-1/explain?at=1', 'GET, HEAD'],
  ['PUT', '/v1/decision', 'GET, POST, HEAD'],
  ['GET', '/v1/commands', 'POST'],
] as const)('%s %s is a problem 405 that names the methods of the address', async (method, url, allow) => {
  const answer = await dashboard().request(method, url);
  expect([answer.statusCode, answer.headers.allow]).toEqual([405, allow]);
  expect(answer.json()).toMatchObject({ status: 405, type: 'urn:vigil:no_such_method' });
});

test.each(['GET', 'DELETE'] as const)('an address that is not there is a problem 404: %s', async (method) => {
  expect((await dashboard().request(method, '/v1/nothing')).statusCode).toBe(404);
});
