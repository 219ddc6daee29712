import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ApiRefusal, createMcpServer } from './server.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
const MINUTE = 60_000;

const agent = {
  ...{ agentId: 'worker-1', instanceId: 's-1', instanceSince: NOW - 60 * MINUTE, taskId: 'OMN-1', state: 'HEALTHY' },
  ...{ reason: null, since: NOW - 60 * MINUTE, evidence: [], exemption: null, labels: {}, tail: ['last line'] },
  ...{ errors: [] as object[], contextUsed: 90_000, contextMax: 100_000, lastHeartbeatAt: NOW, instanceSince: NOW },
};
const facts = {
  ...{ lastCallAt: NOW - 3 * MINUTE, idleMs: 3 * MINUTE, lastTool: 'Edit', lastCallLimitMs: null, contextPct: 40 },
  ...{ rateLimitedAt: null, totalSteps: 12, stepsSinceAccept: 3, recentVerdicts: ['ACCEPT', 'RETRY'], stallMs: null },
};
const checkpoint = {
  ...{ checkpointId: 'c-1', uri: 'file:///c-1.yaml', valid: true, completedWork: ['one'], remainingWork: ['two'] },
};
const item = {
  ...{ id: 'request/r-1', kind: 'permission', agentId: 'worker-1', taskId: 'OMN-1', text: 'Bash: rm -rf build' },
  ...{ since: NOW, deadlineAt: NOW + MINUTE, atDeadline: 'no_decision' },
  options: [
    { name: 'allow', label: 'Allow', command: 'vigil inbox answer request/r-1 allow' },
    { name: 'deny', label: 'Deny', command: 'vigil inbox answer request/r-1 deny' },
  ],
  ...{ withoutAnswer: 'nothing happens', questions: [], command: null, alertId: null },
};

const current = { upTo: NOW, blindSince: null, away: [] };
const blind = {
  upTo: NOW - MINUTE,
  blindSince: NOW - MINUTE,
  away: [{ part: 'broker', since: NOW - MINUTE, detail: '' }],
};
/** Fields of a current result. */
const currently = { knowledge: { up_to: new Date(NOW).toISOString(), blind_since: null, away: [] } };

const caseItem = {
  ...{ ...item, id: 'case/c-1', kind: 'case', text: 'no progress' },
  options: [{ name: 'pardon', label: 'pardon', command: '' }],
};
let items: object[];
let others: object[];
let seen: { agent: object; facts: object | null; checkpoints: object[] };
let knowledge: object;
let task: object | null;
let isViewer: boolean;
/** the tickets of each look at them, and the pauses between */
let looks: object[][];
let pauses: number[];
let written: Record<string, unknown>[];
let client: Client;

const routes = (path: string): unknown => {
  if (path === '/v1/tickets') return { tickets: looks.shift() ?? [] };
  if (path === '/v1/inbox') return { inbox: items, knowledge };
  if (path === '/v1/agents') return { agents: [...others, seen.agent], knowledge };
  if (path === '/v1/agents/worker-1/explain') return { ...seen, knowledge };
  if (path === '/v1/tasks/OMN-1' && task !== null) return task;
  if (path === '/v1/agents/nosuch/explain')
    throw new ApiRefusal('agent "nosuch" does not exist; list them with `vigil health` (/v1/agents)');
  throw new ApiRefusal(`${path} does not exist`);
};

beforeEach(async () => {
  seen = { agent, facts, checkpoints: [checkpoint] };
  knowledge = current;
  task = { taskId: 'OMN-1', recovery: null };
  items = [item];
  others = [];
  isViewer = false;
  written = [];
  looks = [];
  pauses = [];
  const api = {
    get: async <T>(path: string) => routes(path) as T,
    command: async (command: object) => {
      if (isViewer) throw new ApiRefusal('vera has the role viewer: it needs the role responder.');
      return `event-${written.push(command as Record<string, unknown>)}`;
    },
  };
  const pause = async (ms: number) => {
    pauses.push(ms);
  };
  const [one, other] = InMemoryTransport.createLinkedPair();
  await createMcpServer({ api, now: () => NOW, newId: () => 'new-id', pause }).connect(one);
  client = new Client({ name: 'test', version: '1' });
  await client.connect(other);
});
afterEach(() => client.close());

const call = async (name: string, args: object = {}) => {
  const result = await client.callTool({ name, arguments: args as Record<string, unknown> });
  const [content] = result.content as { text: string }[];
  if (result.isError === true) return { refusal: content?.text };
  return result.structuredContent as Record<string, unknown>;
};

test('the tools have the names of omniclaude and hive, and those that act are marked', async () => {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    ...['list_agents', 'explain_agent', 'inbox', 'decide'],
    ...['check_agent_health', 'check_inactivity', 'check_context_usage', 'check_rate_limits', 'kill_stalled_agent'],
    ...['write_recovery_checkpoint', 'redispatch_agent', 'escalate_to_blocked'],
    ...['get_worker_health_summary', 'emit_escalation_ticket', 'notify_operator'],
  ]);
  const acting = tools.filter(({ annotations }) => annotations?.readOnlyHint === false).map(({ name }) => name);
  expect(acting).toEqual([
    ...['decide', 'kill_stalled_agent', 'write_recovery_checkpoint', 'redispatch_agent', 'escalate_to_blocked'],
    ...['emit_escalation_ticket', 'notify_operator'],
  ]);
});

test('an agent is inactive above the timeout of minutes, and not at it', async () => {
  const agent_id = 'worker-1';
  expect(await call('check_inactivity', { agent_id })).toEqual({
    ...{ stalled: true, idle_minutes: 3, effective_timeout_minutes: 2, bash_timeout_exemption: false },
    last_tool_call: new Date(NOW - 3 * MINUTE).toISOString(),
    ...currently,
  });
  expect(await call('check_inactivity', { agent_id, timeout_minutes: 3 })).toMatchObject({ stalled: false });
});

test('a Bash call with a timeout above two minutes has that time and a minute more', async () => {
  const bash = (lastCallLimitMs: number) => {
    seen = { ...seen, facts: { ...facts, lastTool: 'Bash', lastCallLimitMs } };
    return call('check_inactivity', { agent_id: 'worker-1' });
  };
  expect(await bash(120_000)).toMatchObject({ stalled: true, effective_timeout_minutes: 2 });
  expect(await bash(120_001)).toMatchObject({ stalled: false, bash_timeout_exemption: true });
  expect(await bash(600_000)).toMatchObject({ effective_timeout_minutes: 11 });
});

test('the context is used above the threshold, and unknown is not stalled', async () => {
  const usage = (contextPct: number | null) => {
    seen = { ...seen, facts: { ...facts, contextPct } };
    return call('check_context_usage', { agent_id: 'worker-1' });
  };
  expect(await usage(80)).toEqual({
    stalled: false,
    usage_pct: 80,
    tokens_used: 90_000,
    tokens_max: 100_000,
    ...currently,
  });
  expect(await usage(80.01)).toMatchObject({ stalled: true });
  expect(await usage(null)).toMatchObject({ stalled: false, usage_pct: null });
  seen = { ...seen, agent: { ...agent, contextUsed: null, tokens: 186_000 } };
  expect(await call('check_context_usage', { agent_id: 'worker-1' })).toMatchObject({ tokens_used: 186_000 });
});

test('a refusal names the tool that helps, and no command line or address of the API', async () => {
  expect(await call('check_context_usage', { agent_id: 'nosuch' })).toEqual({
    refusal: 'agent "nosuch" does not exist; list them with the tool `list_agents`',
  });
});

test('rate-limit errors are counted, with the last of them', async () => {
  expect(await call('check_rate_limits', { agent_id: 'worker-1' })).toEqual({
    ...{ stalled: false, rate_limit_count: 0, last_error: '', ...currently },
  });
  const errors = [
    { at: NOW, count: 2, errorClass: 'rate_limit', message: '429 Too Many Requests' },
    { at: NOW, count: 1, errorClass: 'tool_error', message: 'could not generate 429 lines' },
  ];
  seen = { ...seen, agent: { ...agent, errors } };
  expect(await call('check_rate_limits', { agent_id: 'worker-1' })).toEqual({
    ...{ stalled: true, rate_limit_count: 2, last_error: '429 Too Many Requests', ...currently },
  });
});

test('an idle agent that has met a limit is stalled by its inactivity, and a busy one by the limit', async () => {
  const args = { ticket_id: 'OMN-1', agent_id: 'worker-1' };
  const errors = [{ at: NOW, count: 1, errorClass: 'rate_limit', message: null }];
  seen = { ...seen, agent: { ...agent, errors } };
  expect(await call('check_agent_health', args)).toMatchObject({ stall_reason: 'inactivity' });
  expect(await call('check_agent_health', { ...args, timeout_minutes: 5 })).toMatchObject({
    stall_reason: 'rate_limit',
  });
});

test('the health of an agent has the reason, and the work of its newest usable checkpoint', async () => {
  const args = { ticket_id: 'OMN-1', agent_id: 'worker-1' };
  expect(await call('check_agent_health', args)).toMatchObject({
    ...{ status: 'stalled', stall_reason: 'inactivity', completed_summary: ['one'], remaining_tasks: ['two'] },
    checkpoint_path: 'file:///c-1.yaml',
  });
  expect(await call('check_agent_health', { ...args, timeout_minutes: 5 })).toMatchObject({
    ...{ status: 'healthy', stall_reason: null },
  });
  seen = { ...seen, agent: { ...agent, exemption: 'awaiting_input' } };
  expect(await call('check_agent_health', args), 'it waits for a person').toMatchObject({ status: 'healthy' });
  seen = { ...seen, agent: { ...agent, state: 'TERMINATED' } };
  expect(await call('check_agent_health', args)).toMatchObject({ status: 'ended', stall_reason: null });
});

test('an item of the inbox is decided by one of its options', async () => {
  expect(await call('inbox')).toMatchObject({
    items: [{ id: 'request/r-1', options: [{ name: 'allow' }, { name: 'deny' }] }],
  });
  expect(await call('decide', { item: 'request/r-1', option: 'deny', why: 'keep it' })).toEqual({
    requested: 'event-1',
  });
  expect(written).toEqual([{ kind: 'answer_request', requestId: 'r-1', option: 'deny', by: 'mcp', why: 'keep it' }]);
  expect(await call('decide', { item: 'request/r-1', option: 'always', why: 'x' })).toMatchObject({
    refusal: expect.stringContaining('use allow, deny'),
  });
  expect(await call('decide', { item: 'case/none', option: 'pardon', why: 'x' })).toMatchObject({
    refusal: expect.stringContaining('does not wait any more'),
  });
  expect(written).toHaveLength(1);
});

test('the questions of an item are decided by an answer to each', async () => {
  const options = [{ label: 'Login', description: null, preview: null }];
  const questions = [{ name: 'Features', header: 'Features', text: 'Which?', isMultiple: true, options }];
  items = [{ ...item, kind: 'question', options: [], questions }];
  expect(await call('inbox')).toMatchObject({
    items: [{ questions: [{ name: 'Features', is_multiple: true, options: [{ label: 'Login' }] }] }],
  });
  const answers = [{ question: 'Features', labels: ['Login'], text: 'a cache' }];
  expect(await call('decide', { item: 'request/r-1', answers, why: 'both' })).toEqual({ requested: 'event-1' });
  expect(written).toEqual([{ kind: 'answer_request', requestId: 'r-1', answers, by: 'mcp', why: 'both' }]);
  for (const [given, refusal] of [
    [{ option: 'Login' }, 'use answers to "Features"'],
    [{}, 'is decided by an option: use answers to "Features"'],
    [{ option: 'Login', answers }, 'and not both'],
  ] as const)
    expect(await call('decide', { item: 'request/r-1', ...given, why: 'x' })).toMatchObject({
      refusal: expect.stringContaining(refusal),
    });
});

test('a decision on a case names the question that the inbox shows', async () => {
  items = [caseItem];
  await call('decide', { item: 'case/c-1', option: 'pardon', why: 'a build' });
  expect(written).toEqual([
    { ...{ kind: 'decide_case', caseId: 'c-1', decision: 'pardon', askedAt: NOW }, by: 'mcp', why: 'a build' },
  ]);
});

test.each([
  ['ticket/t-1', 'ticket'],
  ['task/OMN-1', 'review'],
])('%s is acknowledged by the option that the inbox shows', async (id, kind) => {
  const options = [{ name: 'acknowledge', label: 'acknowledge', command: '' }];
  items = [{ ...item, id, kind, alertId: 'alert-9', options }];
  expect(await call('decide', { item: id, option: 'acknowledge', why: 'seen' })).toEqual({
    requested: 'event-1',
  });
  expect(written).toMatchObject([{ kind: 'acknowledge', alertId: 'alert-9', why: 'seen' }]);
});

test('an item that only a terminal answers has its command, and no option', async () => {
  const command = 'vigil attach worker-1 --write';
  items = [{ ...item, id: 'agent/worker-1', options: [], command }];
  expect(await call('inbox', {})).toMatchObject({ items: [{ options: [], command }] });
  expect(await call('decide', { item: 'agent/worker-1', option: 'attach', why: 'x' })).toMatchObject({
    refusal: expect.stringContaining(command),
  });
});

test('a viewer reads, and nothing that a viewer calls is written', async () => {
  isViewer = true;
  expect(await call('inbox')).toMatchObject({ items: [{}] });
  const ticket = { ticket_id: 'OMN-1' };
  const attempt = { ...ticket, checkpoint_path: 'c', remaining_tasks: [], redispatch_attempt: 1 };
  for (const [name, args] of [
    ['decide', { item: 'request/r-1', option: 'allow', why: 'x' }],
    ['kill_stalled_agent', { ...ticket, agent_id: 'worker-1' }],
    ['redispatch_agent', attempt],
    ['escalate_to_blocked', { ...ticket, checkpoint_path: 'c', attempt_count: 3 }],
    ['notify_operator', { ticket_id: 't-1', analysis: 'x', urgency: 'high' }],
  ] as const)
    expect(await call(name, args), name).toMatchObject({ refusal: expect.stringContaining('role viewer') });
  expect(written).toEqual([]);
});

test('a stalled agent is ended, and its ticket redispatched twice; the third time it is left to people', async () => {
  await call('kill_stalled_agent', { agent_id: 'worker-1', ticket_id: 'OMN-1' });
  const attempt = { ticket_id: 'OMN-1', checkpoint_path: 'file:///c-1.yaml', remaining_tasks: ['two'] };
  expect(await call('redispatch_agent', { ...attempt, redispatch_attempt: 2 })).toEqual({
    ...{ action: 'redispatch', requested: 'event-2' },
  });
  expect(await call('redispatch_agent', { ...attempt, redispatch_attempt: 3 })).toEqual({
    ...{ action: 'escalated_to_blocked', requested: 'event-3' },
  });
  expect(written).toMatchObject([
    { kind: 'request_step', agentId: 'worker-1', step: 'terminate' },
    { kind: 'request_step', agentId: 'worker-1', step: 'terminate_and_recover', why: expect.stringContaining('two') },
    { kind: 'block_task', taskId: 'OMN-1', attempts: 3, checkpoint: 'file:///c-1.yaml', why: 'agent stalled 3 times' },
  ]);
});

test.each([
  ['WRONG', 'OMN-1', 'worker-1 does not work on the ticket WRONG: it works on OMN-1'],
  ['OMN-1', null, 'worker-1 does not work on the ticket OMN-1: it has none'],
])('an agent is not ended for the ticket %s while it has %s', async (ticket_id, taskId, refusal) => {
  seen = { ...seen, agent: { ...seen.agent, taskId } };
  expect(await call('kill_stalled_agent', { agent_id: 'worker-1', ticket_id })).toEqual({
    refusal: expect.stringContaining(refusal),
  });
  expect(written).toEqual([]);
});

test('a ticket in review is retried by the review, and is blocked already', async () => {
  task = { taskId: 'OMN-1', recovery: 'REVIEW_REQUIRED' };
  const attempt = { ticket_id: 'OMN-1', checkpoint_path: 'c', remaining_tasks: [], redispatch_attempt: 1 };
  await call('redispatch_agent', attempt);
  expect(written).toMatchObject([{ kind: 'review_task', taskId: 'OMN-1', decision: 'retry' }]);
  expect(
    await call('escalate_to_blocked', { ticket_id: 'OMN-1', checkpoint_path: 'c', attempt_count: 3 }),
  ).toMatchObject({
    ...{ status: 'Blocked', requested: null },
  });
  expect(written).toHaveLength(1);
});

test('a ticket is moved to Blocked with the comment of omniclaude', async () => {
  const args = { ticket_id: 'OMN-1', checkpoint_path: 'file:///c-1.yaml', attempt_count: 3 };
  expect(await call('escalate_to_blocked', args)).toEqual({
    status: 'Blocked',
    requested: 'event-1',
    comment: 'Auto-blocked: agent stalled 3 times. Checkpoint: file:///c-1.yaml. Requires manual investigation.',
  });
  expect(written).toMatchObject([{ kind: 'block_task', taskId: 'OMN-1', attempts: 3, checkpoint: 'file:///c-1.yaml' }]);
});

test('a checkpoint is requested of the agent of the ticket, with the work so far', async () => {
  const args = { ticket_id: 'OMN-1', completed_work: ['one'], remaining_work: ['two'], stall_reason: 'inactivity' };
  expect(await call('write_recovery_checkpoint', args)).toEqual({
    ...{ path: 'file:///c-1.yaml', timestamp: new Date(NOW).toISOString(), requested: 'event-1' },
  });
  expect(written).toMatchObject([
    { kind: 'request_step', step: 'handoff', message: expect.stringContaining('Remaining: two') },
  ]);
});

test('a summary without a session is of the newest session in progress', async () => {
  const summary = {
    ...{ session_id: 's-1', session_status: 'in_progress', worker_agent_id: 'worker-1', worker_graph_id: 'OMN-1' },
    ...{ total_steps: 12, recent_verdicts: ['ACCEPT', 'RETRY'], steps_since_last_accept: 3, stall_minutes: null },
    evidence_snippet: 'last line',
    ...currently,
  };
  expect(await call('get_worker_health_summary')).toEqual(summary);
  expect(await call('get_worker_health_summary', { session_id: 'auto' })).toEqual(summary);
  expect(await call('get_worker_health_summary', { session_id: 's-2' })).toMatchObject({
    refusal: expect.stringContaining('session "s-2" does not exist'),
  });
});

test('of several sessions in progress the one that began last is the newest, whichever sent the last heartbeat', async () => {
  const session = (agentId: string, instanceSince: number, state: string) => ({
    ...{ ...agent, agentId, instanceId: `${agentId}.s`, instanceSince, state },
  });
  seen = { ...seen, agent: { ...agent, instanceSince: NOW - MINUTE, lastHeartbeatAt: NOW - MINUTE } };
  others = [session('older', NOW - 2 * MINUTE, 'HEALTHY'), session('ended', NOW, 'TERMINATED')];
  expect(await call('get_worker_health_summary')).toMatchObject({ worker_agent_id: 'worker-1' });
});

const ticket = {
  ...{ worker_agent_id: 'worker-1', worker_session_id: 's-1', worker_node_id: 'g', worker_graph_id: 'g' },
  ...{ severity: 'high', cause: 'a loop', judge_reasoning: 'the same edit', suggested_action: 'human review' },
  ...{ recent_verdicts: ['RETRY'], total_steps_checked: 15, steps_since_last_accept: 15, stall_minutes: 4.5 },
  evidence_snippet: 'Edit a.ts',
};

test('a complete ticket is filed, and one without any of its fields is refused with that field', async () => {
  expect(await call('emit_escalation_ticket', { ticket_json: JSON.stringify(ticket) })).toEqual({
    ...{ ticket_id: 'new-id', requested: 'event-1' },
  });
  expect(written).toMatchObject([
    {
      kind: 'file_ticket',
      agentId: 'worker-1',
      ticketId: 'new-id',
      severity: 'high',
      stallMs: 270_000,
      stepsSinceAccept: 15,
    },
  ]);
  for (const field of Object.keys(ticket)) {
    const { [field as keyof typeof ticket]: _, ...partial } = ticket;
    expect(await call('emit_escalation_ticket', { ticket_json: JSON.stringify(partial) })).toMatchObject({
      refusal: expect.stringContaining(`ticket_json.${field}`),
    });
  }
  expect(await call('emit_escalation_ticket', { ticket_json: '{' })).toMatchObject({
    refusal: expect.stringContaining('is not JSON'),
  });
  expect(written).toHaveLength(1);
});

test('a filed ticket is returned when triage has decided it, so that an operator can be notified of it at once', async () => {
  const row = { ticketId: 'new-id', alertKey: null };
  looks = [[], [row], [{ ...row, alertKey: 'escalation_ticket:OMN-1' }], [row]];
  await call('emit_escalation_ticket', { ticket_json: JSON.stringify(ticket) });
  expect(looks, 'the looks that are left').toEqual([[row]]);
  expect(pauses).toHaveLength(2);
});

test('a ticket that triage has not decided after 5 s is returned as filed', async () => {
  const filed = await call('emit_escalation_ticket', { ticket_json: JSON.stringify(ticket) });
  expect(filed).toEqual({ ticket_id: 'new-id', requested: 'event-1' });
  expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBe(5000);
});

test('an operator is notified of a ticket, with the analysis and its urgency', async () => {
  await call('notify_operator', { ticket_id: 't-1', analysis: 'it loops', urgency: 'critical' });
  expect(written).toEqual([
    { kind: 'notify_operator', ticketId: 't-1', urgency: 'critical', by: 'mcp', why: 'it loops' },
  ]);
});

test('an unknown agent is an error that the model reads', async () => {
  expect(await call('check_inactivity', { agent_id: 'missing' })).toMatchObject({
    refusal: expect.stringContaining('does not exist'),
  });
});

test('while Vigil is blind no tool shows a state as the present one, and each has the time since when', async () => {
  knowledge = blind;
  const age = {
    up_to: new Date(NOW - MINUTE).toISOString(),
    blind_since: new Date(NOW - MINUTE).toISOString(),
    away: [{ part: 'broker', since: new Date(NOW - MINUTE).toISOString(), detail: '' }],
  };
  const of = { agent_id: 'worker-1' };
  const results: Readonly<Record<string, readonly [args: object, shown: object]>> = {
    list_agents: [{ all: true }, { agents: [{ state: 'was HEALTHY' }] }],
    explain_agent: [of, { state: 'was HEALTHY' }],
    inbox: [{}, { items: [{ id: 'request/r-1' }] }],
    check_agent_health: [
      { ...of, ticket_id: 'OMN-1' },
      { status: 'was stalled', vigil_state: 'was HEALTHY' },
    ],
    check_inactivity: [of, { stalled: null }],
    check_context_usage: [of, { stalled: null }],
    check_rate_limits: [of, { stalled: null }],
    get_worker_health_summary: [{}, { session_status: 'was in_progress' }],
  };
  const { tools } = await client.listTools();
  const reading = tools.filter(({ annotations }) => annotations?.readOnlyHint === true).map(({ name }) => name);
  expect(Object.keys(results).toSorted(), 'each tool that reads').toEqual(reading.toSorted());
  for (const [name, [args, shown]] of Object.entries(results))
    expect(await call(name, args), name).toMatchObject({ ...shown, knowledge: age });
  const patient = { ...of, ticket_id: 'OMN-1', timeout_minutes: 5 };
  expect(await call('check_agent_health', patient)).toMatchObject({ status: 'was healthy', stall_reason: null });
});

test('an agent whose calls are not known while Vigil is blind is not idle since its start', async () => {
  knowledge = blind;
  seen = { ...seen, facts: null };
  const health = await call('check_agent_health', { agent_id: 'worker-1', ticket_id: 'OMN-1' });
  expect(health).toMatchObject({ status: 'was healthy', stall_reason: null, idle_minutes: null });
  const inactivity = await call('check_inactivity', { agent_id: 'worker-1' });
  expect(inactivity).toMatchObject({ stalled: null, idle_minutes: null, last_tool_call: '' });
});
