import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { includesRole, ROLES, type Role } from '@vigil/read-model/people';
import { describe, expect, onTestFinished, test } from 'vitest';
import { agent, dashboard, openRequest, TOKEN } from '../app.fixture.ts';

const item = { ...openRequest, kind: 'permission', text: 'Bash: ls', taskId: null, deadlineAt: 5000, openedAt: 1 };
const answers = {
  cases: async () => [],
  requests: async () => [{ ...item, atDeadline: 'no_decision' }],
  agents: async () => [],
  tasks: async () => [],
  alerts: async () => [],
  tickets: async () => [],
  fleet: async () => ({ braked: false }),
};

/** The official client, over a real connection, with this token. */
const connected = async (token: string, model: object = answers) => {
  const { app, written, failures } = dashboard(model);
  const url = new URL(`${await app.listen({ host: '127.0.0.1', port: 0 })}/mcp`);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(async () => {
    await client.close();
    await app.close();
  });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }) as never);
  return { client, written, failures };
};
const decide = { name: 'decide', arguments: { item: 'request/request-1', option: 'allow', why: 'it is needed' } };

test('the official client lists the tools, reads the inbox and decides, by the name of its token', async () => {
  const { client, written } = await connected(TOKEN);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('check_agent_health');
  const { structuredContent } = await client.callTool({ name: 'inbox', arguments: {} });
  expect(structuredContent).toMatchObject({ items: [{ id: 'request/request-1', text: 'Bash: ls' }] });
  expect(await client.callTool(decide)).toMatchObject({ structuredContent: { requested: 'event-1' } });
  expect(written).toMatchObject([{ type: 'ANSWER_REQUEST', payload: { option: 'allow', by: 'ada (mcp)' } }]);
});

test('the token of a viewer reads, and its decision is refused with the role that it needs', async () => {
  const { client, written } = await connected('viewer');
  expect((await client.callTool({ name: 'inbox', arguments: {} })).isError).not.toBe(true);
  const refused = await client.callTool(decide);
  expect(refused).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('needs the role responder') }],
  });
  expect(written).toEqual([]);
});

test('without a token there is no connection', async () => {
  await expect(connected('no-such-token')).rejects.toThrow(/401|token/i);
});

test('a body that is not of the protocol is refused, and writes nothing', async () => {
  const { request, written } = dashboard(answers);
  for (const body of [{}, { jsonrpc: '2.0', method: 'nothing', id: 1 }]) {
    const { statusCode } = await request('POST', '/mcp', body);
    expect(statusCode).toBeLessThan(500);
  }
  expect((await request('GET', '/mcp')).statusCode).toBe(405);
  expect(written).toEqual([]);
});

/** A read model with an agent that works on T-1, a request, a ticket and the brake. */
const working = {
  ...{ ...agent, state: 'HEALTHY', unhealthy: false, reason: null, since: 1, evidence: [], exemption: null },
  ...{ tail: [], errors: [], contextUsed: null, contextMax: null, tokens: 7, instanceSince: 1, caseId: null },
  ...{ caseWaiting: false, waitingFor: null },
};
const ticket = { ticketId: 't-1', alertKey: 'escalation_ticket:T-1', agentId: 'worker-1' };
const taskRow = { taskId: 'T-1', recovery: null, blockedAlertId: null, blockedReason: null };
const inReview = { ...taskRow, taskId: 'T-2', recovery: 'REVIEW_REQUIRED' };
const fleet = { braked: true, brakeScope: 'fleet', brakeWhy: '12 of 40 agents were lost', brakeAt: 5 };
const none = async () => [];
const everything = {
  ...answers,
  agent: async (id: string) => (id === 'worker-1' ? working : null),
  agents: async ({ waiting, taskId }: { waiting?: boolean; taskId?: string }) =>
    waiting === true || (taskId !== undefined && taskId !== 'T-1') ? [] : [working],
  task: async (id: string) => (id === 'T-1' ? taskRow : id === 'T-2' ? inReview : null),
  tickets: async ({ ticketId, agentId }: { ticketId?: string; agentId?: string }) =>
    ticketId === 't-1' || agentId === 'worker-1' ? [ticket] : [],
  ...{ transitions: none, story: none, orders: none, breakers: none, checkpoints: none, recoveries: none },
  fleet: async () => fleet,
};

const escalation = {
  ...{
    ticket_id: 't-1',
    worker_agent_id: 'worker-1',
    worker_session_id: 'i1',
    worker_node_id: 'n',
    worker_graph_id: 'g',
  },
  ...{ severity: 'high', cause: 'it repeats itself', judge_reasoning: 'eight times', suggested_action: 'restart it' },
  ...{ recent_verdicts: [], total_steps_checked: 9, steps_since_last_accept: 8, stall_minutes: 4 },
  evidence_snippet: 'the same test fails',
};
const redispatch = { ticket_id: 'T-1', checkpoint_path: '', remaining_tasks: ['tests'], redispatch_attempt: 1 };

/** For each tool that acts, arguments that it takes, the role of docs/mcp.md, and the command that it writes. */
const ACTING: readonly (readonly [tool: string, needs: Role, args: Record<string, unknown>, command: object])[] = [
  ['decide', 'responder', decide.arguments, { type: 'ANSWER_REQUEST', payload: { option: 'allow' } }],
  ['decide', 'operator', { item: 'brake', option: 'lift', why: 'they are back' }, { type: 'LIFT_BRAKE' }],
  ['kill_stalled_agent', 'operator', { agent_id: 'worker-1', ticket_id: 'T-1' }, { payload: { step: 'terminate' } }],
  [
    'write_recovery_checkpoint',
    'operator',
    { ticket_id: 'T-1', completed_work: ['code'], remaining_work: ['tests'], stall_reason: 'inactivity' },
    { payload: { step: 'handoff' } },
  ],
  ['redispatch_agent', 'operator', redispatch, { payload: { step: 'terminate_and_recover' } }],
  ['redispatch_agent', 'responder', { ...redispatch, redispatch_attempt: 3 }, { type: 'BLOCK_TASK' }],
  ['redispatch_agent', 'responder', { ...redispatch, ticket_id: 'T-2' }, { type: 'REVIEW_TASK' }],
  [
    'escalate_to_blocked',
    'responder',
    { ticket_id: 'T-1', checkpoint_path: 'c-1.yaml', attempt_count: 3 },
    { type: 'BLOCK_TASK', payload: { taskId: 'T-1' } },
  ],
  [
    'emit_escalation_ticket',
    'responder',
    { ticket_json: JSON.stringify(escalation) },
    { type: 'FILE_TICKET', payload: { ticket: { ticket_id: 't-1' } } },
  ],
  [
    'notify_operator',
    'responder',
    { ticket_id: 't-1', analysis: 'it is stuck', urgency: 'high' },
    { type: 'NOTIFY_OPERATOR', payload: { ticket_id: 't-1' } },
  ],
];
const READING: readonly (readonly [tool: string, args: Record<string, unknown>])[] = [
  ['list_agents', { all: true }],
  ['explain_agent', { agent_id: 'worker-1' }],
  ['inbox', {}],
  ['check_agent_health', { ticket_id: 'T-1', agent_id: 'worker-1', timeout_minutes: 2, context_threshold_pct: 80 }],
  ['check_inactivity', { agent_id: 'worker-1', timeout_minutes: 2 }],
  ['check_context_usage', { agent_id: 'worker-1', threshold_pct: 80 }],
  ['check_rate_limits', { agent_id: 'worker-1' }],
  ['get_worker_health_summary', { session_id: 'i1' }],
];
const TOKENS: Readonly<Record<Role, string>> = {
  ...{ viewer: 'viewer', responder: 'responder', operator: 'operator', admin: TOKEN },
};
const NAMES: Readonly<Record<Role, string>> = { viewer: 'vera', responder: 'rob', operator: 'olga', admin: 'ada' };

const textOf = ({ content }: Awaited<ReturnType<Client['callTool']>>): string =>
  (content as readonly { readonly text: string }[]).map(({ text }) => text).join();

describe.each(ROLES)('with the role %s', (role) => {
  test.each(ACTING)(
    '%s needs the role %s, and writes one command in the name of its caller',
    async (name, needed, args, command) => {
      const { client, written } = await connected(TOKENS[role], everything);
      const result = await client.callTool({ name, arguments: args });
      if (includesRole(role, needed)) {
        expect([result.isError ?? false, textOf(result)]).toEqual([
          false,
          expect.stringContaining('"requested":"event-1"'),
        ]);
        expect(written).toMatchObject([{ ...command, payload: { ...Reflect.get(command, 'payload') } }]);
        expect(written).toMatchObject([{ payload: { by: `${NAMES[role]} (mcp)` } }]);
      } else {
        expect(result.isError).toBe(true);
        expect(textOf(result)).toContain(`${NAMES[role]} has the role ${role}: `);
        expect(textOf(result)).toContain(`needs the role ${needed}`);
        expect(written).toEqual([]);
      }
    },
  );

  test('every tool that reads has its result, and writes nothing', async () => {
    const { client, written, failures } = await connected(TOKENS[role], everything);
    for (const [name, args] of READING) {
      const { isError, structuredContent } = await client.callTool({ name, arguments: args });
      expect([name, isError ?? false, typeof structuredContent]).toEqual([name, false, 'object']);
    }
    expect([written, failures]).toEqual([[], []]);
  });
});

test('the tables above have every tool', async () => {
  const { client } = await connected('viewer');
  const { tools } = await client.listTools();
  const named = (acts: boolean) =>
    tools.filter(({ annotations }) => annotations?.readOnlyHint === !acts).map((tool) => tool.name);
  expect(new Set(named(true))).toEqual(new Set(ACTING.map(([name]) => name)));
  expect(named(false).sort()).toEqual(READING.map(([name]) => name).sort());
});

describe('an argument that is wrong', () => {
  const good = new Map([...READING, ...ACTING.toReversed().map(([name, , args]) => [name, args] as const)]);

  /** The text of the refusal, by which a model corrects its call. */
  const refusalOf = async (client: Client, name: string, args: Record<string, unknown>): Promise<string> => {
    const result = await client.callTool({ name, arguments: args });
    expect([name, args, result.isError]).toEqual([name, args, true]);
    return textOf(result);
  };

  test.each([...good])('%s: one that is missing or of another type is refused by its name', async (name, args) => {
    const { client, written, failures } = await connected(TOKEN, everything);
    const { inputSchema } = (await client.listTools()).tools.find((tool) => tool.name === name) ?? {};
    for (const argument of Object.keys(inputSchema?.properties ?? {})) {
      const { [argument]: _, ...others } = args;
      expect(await refusalOf(client, name, { ...others, [argument]: {} })).toContain(argument);
      if (inputSchema?.required?.includes(argument)) expect(await refusalOf(client, name, others)).toContain(argument);
    }
    expect([written, failures]).toEqual([[], []]);
  });

  test.each([
    ['explain_agent', /"nosuch" does not exist/, { agent_id: 'nosuch' }],
    ['explain_agent', /does not exist/, { agent_id: '../fleet' }],
    ['explain_agent', /a NUL in it/, { agent_id: 'a\0b' }],
    ['check_agent_health', /timeout_minutes/, { timeout_minutes: 0 }],
    ['check_agent_health', /context_threshold_pct/, { context_threshold_pct: -1 }],
    ['check_agent_health', /agent_id/, { agent_id: '' }],
    ['check_inactivity', /agent_id/, { agent_id: 'x'.repeat(129) }],
    ['check_inactivity', /timeout_minutes/, { timeout_minutes: -2 }],
    ['check_context_usage', /threshold_pct/, { threshold_pct: 0 }],
    ['check_rate_limits', /"nosuch" does not exist/, { agent_id: 'nosuch' }],
    ['get_worker_health_summary', /"nosuch" does not exist/, { session_id: 'nosuch' }],
    ['decide', /does not wait any more, or never did/, { item: 'request/nosuch' }],
    ['decide', /is not an option of request\/request-1: use allow/, { option: 'nosuch' }],
    ['decide', /why/, { why: '' }],
    ['decide', /why/, { why: 'x'.repeat(2001) }],
    ['decide', /an option or answers, and not both/, { answers: [{ question: 'q' }] }],
    ['kill_stalled_agent', /does not work on the ticket T-9: it works on T-1/, { ticket_id: 'T-9' }],
    ['kill_stalled_agent', /"nosuch" does not exist/, { agent_id: 'nosuch' }],
    ['write_recovery_checkpoint', /No agent has reported the task "T-9"/, { ticket_id: 'T-9' }],
    ['write_recovery_checkpoint', /stall_reason/, { stall_reason: '' }],
    ['write_recovery_checkpoint', /redispatch_attempt/, { redispatch_attempt: -1 }],
    ['redispatch_agent', /T-9/, { ticket_id: 'T-9' }],
    ['redispatch_agent', /redispatch_attempt/, { redispatch_attempt: 0 }],
    ['redispatch_agent', /redispatch_attempt/, { redispatch_attempt: 1.5 }],
    ['redispatch_agent', /remaining_tasks/, { remaining_tasks: ['x'.repeat(501)] }],
    ['escalate_to_blocked', /attempt_count/, { attempt_count: -1 }],
    ['escalate_to_blocked', /ticket_id/, { ticket_id: 'x'.repeat(129) }],
    ['escalate_to_blocked', /taskId.*control characters/, { ticket_id: 'a\u0007b' }],
    ['emit_escalation_ticket', /ticket_json is not JSON/, { ticket_json: '{' }],
    ['emit_escalation_ticket', /A partial ticket is refused/, { ticket_json: '{"severity":"high"}' }],
    ['emit_escalation_ticket', /20000.*ticket_json/s, { ticket_json: JSON.stringify(escalation).padEnd(20_001) }],
    ['notify_operator', /t-2/, { ticket_id: 't-2' }],
    ['notify_operator', /urgency/, { urgency: 'terrible' }],
    ['notify_operator', /analysis/, { analysis: '' }],
  ] as const)('%s with a wrong argument is refused by %s, and writes nothing', async (name, refusal, wrong) => {
    const { client, written, failures } = await connected(TOKEN, everything);
    expect(await refusalOf(client, name, { ...good.get(name), ...wrong })).toMatch(refusal);
    expect([written, failures]).toEqual([[], []]);
  });

  test('a tool that does not exist is refused by its name', async () => {
    const { client, written } = await connected(TOKEN, everything);
    expect(await refusalOf(client, 'nosuch_tool', {})).toContain('nosuch_tool');
    expect(written).toEqual([]);
  });
});
