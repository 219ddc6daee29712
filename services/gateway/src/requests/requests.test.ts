import { type EventOf, type Heartbeat, type PayloadOf, type QuestionAnswer, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { describe, expect, test, vi } from 'vitest';
import { answerOf, showingClaims, testGateway } from '../testing.ts';

const { log, post, postAndLeave, later, reopen } = testGateway();

const LIMIT = { timeout: 60_000, interval: 10 };
const asked = {
  ...{ requestId: 'hook-1', agentId: 'worker-1', instanceId: 's-1', taskId: 'T-1', client: 'codex' },
  ...{ kind: 'permission', tool: 'Bash', text: 'Bash: rm -rf build', waitMs: 3_600_000 },
  choices: [
    { name: 'allow', label: 'Allow' },
    { name: 'deny', label: 'Deny' },
  ],
};
const LABEL = { label: 'Login', description: 'with a password', preview: null };
const QUESTION = { name: 'Features', header: 'Features', text: 'Which?', isMultiple: true, options: [LABEL] };
const ask = async (more: object = {}, wait = 0, headers = {}) =>
  answerOf(await post(`/v1/requests?wait=${wait}`, { ...asked, ...more }, headers));

type Command = EventOf<typeof Topic.handleRequest>;
const commands = (type: Command['type']) =>
  log()
    .events(Topic.handleRequest)
    .filter((event) => event.type === type) as Command[];
const opening = () => commands('OPEN_REQUEST').at(-1)?.payload as PayloadOf<typeof Topic.handleRequest, 'OPEN_REQUEST'>;
const openings = () => commands('OPEN_REQUEST').length;
const withdrawals = () => commands('WITHDRAW_REQUEST').map(({ payload }) => payload);

/** As the intervention service answers. */
const opened = (more: object = {}) =>
  log().publish(example(Topic.agentRequest, 'REQUEST_OPENED', { ...opening(), open: 1, ...more }));
const answered = (option: string, answers: readonly QuestionAnswer[] = []) => {
  const { requestId, agentId } = opening();
  const answer = { requestId, agentId, option, answers, by: 'ada', why: 'it is needed', open: 0 };
  return log().publish(example(Topic.agentRequest, 'REQUEST_ANSWERED', answer));
};

test('a request is opened once, however often its hook polls, and its end is answered at once', async () => {
  expect(await ask()).toMatchObject({ status: 200, body: { kind: 'open' } });
  await opened();
  await vi.waitFor(async () => expect(await ask()).toMatchObject({ body: { kind: 'open' } }), LIMIT);
  const waiting = ask({}, 55);
  await answered('deny');
  expect(await waiting).toMatchObject({
    body: { kind: 'answered', option: 'deny', by: 'ada', why: 'it is needed' },
  });
  expect(openings()).toBe(1);
  expect(withdrawals()).toEqual([]);
});

test('the deadline is the wait of the policy, which a hook can only shorten, and no policy allows by default', async () => {
  const before = Date.now();
  expect((await ask()).body.remainingMs).toBeGreaterThan(590_000);
  expect(opening()).toMatchObject({ atDeadline: 'no_decision', heldBy: 'gateway:a', agentId: 'worker-1' });
  expect(opening().deadlineAt).toBeGreaterThanOrEqual(before + 600_000);
  await ask({ requestId: 'hook-2', waitMs: 60_000 });
  expect(opening().deadlineAt).toBeLessThan(Date.now() + 60_001);
});

test('a policy sets the wait, and may allow a permission at the deadline, but no question', async () => {
  const document = JSON.stringify({ requests: { wait: '30s', at_deadline: 'allow' } });
  await log().publish(
    example(Topic.policy, 'POLICY_PUBLISHED', { name: 'vigil', hash: 'h2', document, withdrawn: false }),
  );
  await vi.waitFor(async () => {
    await ask({ requestId: `hook-${openings()}` });
    expect(opening()).toMatchObject({ atDeadline: 'allow' });
  }, LIMIT);
  expect(commands('OPEN_REQUEST').at(-1)).toMatchObject({ policy: { name: 'vigil', hash: 'h2' } });
  expect(opening().deadlineAt).toBeLessThan(Date.now() + 30_001);
  await ask({ requestId: 'hook-question', kind: 'question' });
  expect(opening()).toMatchObject({ atDeadline: 'no_decision' });
});

test('two instances, and two agents, that choose the same id have requests of their own', async () => {
  const ids: string[] = [];
  for (const more of [{}, { instanceId: 's-2' }, { agentId: 'worker-2' }]) {
    await ask(more);
    ids.push(opening().requestId);
  }
  expect(new Set(ids).size).toBe(3);
});

test('a hook that ends withdraws its request', async () => {
  await ask();
  const { requestId, agentId, instanceId } = asked;
  const body = { requestId, agentId, instanceId, why: 'its hook has ended' };
  expect((await post('/v1/requests/withdraw', body)).status).toBe(202);
  expect(withdrawals()).toEqual([{ requestId: opening().requestId, agentId, why: 'its hook has ended' }]);
});

test('a hook whose connection broke has half a minute to ask again before its request is withdrawn', async () => {
  await ask();
  await opened();
  later(29_000);
  await ask();
  later(29_000);
  const leave = new AbortController();
  const left = postAndLeave('/v1/requests?wait=55', asked, {}, leave.signal);
  later(120_000);
  leave.abort();
  await left;
  expect(withdrawals()).toEqual([]);
  await vi.waitFor(() => {
    later(1000);
    expect(withdrawals()).toMatchObject([{ requestId: opening().requestId }]);
  }, LIMIT);
});

test('a gateway that was restarted keeps a request whose hook comes back, and withdraws one whose hook does not', async () => {
  await ask();
  await opened();
  const lost = opening().requestId;
  await ask({ requestId: 'hook-2' });
  await opened();
  await reopen();
  expect(await ask({ requestId: 'hook-2' })).toMatchObject({ body: { kind: 'open' } });
  const waiting = ask({ requestId: 'hook-2' }, 55);
  await vi.waitFor(() => {
    later(5000);
    expect(withdrawals().length).toBeGreaterThan(0);
  }, LIMIT);
  await answered('allow');
  expect(await waiting).toMatchObject({ body: { kind: 'answered', option: 'allow' } });
  expect(new Set(withdrawals().map(({ requestId }) => requestId))).toEqual(new Set([lost]));
});

test('a request that another gateway held is opened here again', async () => {
  await ask();
  await opened({ heldBy: 'gateway:b' });
  await vi.waitFor(async () => {
    later(6000);
    await ask();
    expect(openings()).toBe(2);
  }, LIMIT);
  expect(opening()).toMatchObject({ heldBy: 'gateway:a' });
});

test.each([
  ['requestId', { requestId: 'a b' }],
  ['text', { text: 'x'.repeat(1001) }],
  ['choices', { choices: [] }],
  ['kind', { kind: 'plan' }],
  ['questions', { questions: [QUESTION, QUESTION] }],
  ['questions.0.options', { questions: [{ ...QUESTION, options: [LABEL, LABEL] }] }],
  ['questions.0.name', { questions: [{ ...QUESTION, name: '--help' }] }],
  ['waitMs', { waitMs: 0 }],
])('a request with a wrong %s is refused with the field, and writes nothing', async (field, more) => {
  expect(await ask(more)).toMatchObject({ status: 400, body: { field } });
  expect(openings()).toBe(0);
});

test.each([
  [
    ["x'; rm -rf ~ #", 'no'],
    ['option-1', 'option-2'],
  ],
  [
    ['--help', 'no'],
    ['option-1', 'option-2'],
  ],
  [
    ['yes', 'yes'],
    ['option-1', 'option-2'],
  ],
  [
    ['Yes, 2 of_them', 'no'],
    ['option-1', 'option-2'],
  ],
  [
    ['Yes 2_of.them-x', 'no'],
    ['Yes 2_of.them-x', 'no'],
  ],
])('options named %j are shown as %j, and the hook gets its own name back', async (names, shown) => {
  const choices = names.map((name, index) => ({ name, label: `label ${index}` }));
  await ask({ choices });
  expect(opening().choices).toEqual(shown.map((name, index) => ({ name, label: `label ${index}` })));
  await opened();
  const waiting = ask({ choices }, 55);
  await answered(shown[1] ?? '');
  expect(await waiting).toMatchObject({ body: { kind: 'answered', option: names[1] } });
});

test('questions are opened as they are, and their hook gets an answer to each', async () => {
  const body = { kind: 'question', tool: 'AskUserQuestion', choices: [], questions: [QUESTION] };
  await ask(body);
  expect(opening()).toMatchObject({ choices: [], questions: [QUESTION] });
  await opened();
  const waiting = ask(body, 55);
  const answers = [{ question: 'Features', labels: ['Login'], text: 'a cache' }];
  await answered('Features: Login, "a cache"', answers);
  expect(await waiting).toMatchObject({ body: { kind: 'answered', answers } });
});

describe('the token of an agent', () => {
  test('opens requests of that agent and of no other', async () => {
    const headers = await showingClaims('agent', 'worker-1');
    expect((await ask({}, 0, headers)).status).toBe(200);
    expect((await ask({ agentId: 'worker-2' }, 0, headers)).status).toBe(403);
    const { requestId, instanceId } = asked;
    const withdrawal = { requestId, agentId: 'worker-2', instanceId, why: 'x' };
    expect((await post('/v1/requests/withdraw', withdrawal, headers)).status).toBe(403);
    expect(openings()).toBe(1);
    expect(withdrawals()).toEqual([]);
  });
});

describe('a hook that a client posts', () => {
  const permission = {
    ...{ session_id: 's-1', hook_event_name: 'PermissionRequest', tool_name: 'Bash' },
    tool_input: { command: 'curl -H "Authorization: Bearer abcdefghijkl" https://example.com' },
  };
  const headers = { 'vigil-agent': 'worker-1' };
  const posted = () => post('/v1/hooks/claude-code', permission, headers);

  test('waits for the answer, and returns it as the client reads it, without secrets in its text', async () => {
    const waiting = posted();
    await vi.waitFor(() => expect(openings()).toBe(1), LIMIT);
    expect(opening()).toMatchObject({ agentId: 'worker-1', instanceId: 's-1', kind: 'permission', tool: 'Bash' });
    expect(opening().text).not.toContain('abcdefghijkl');
    await answered('allow');
    expect(await answerOf(await waiting)).toEqual({
      status: 200,
      body: { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } } },
    });
    expect(withdrawals()).toEqual([]);
  });

  const reported = () =>
    log()
      .events(Topic.heartbeat)
      .map(({ payload }) => payload as Heartbeat);
  const call = { ...permission, hook_event_name: 'PreToolUse', tool_use_id: 'c-1' };

  test.each([
    ['allow', []],
    ['deny', [{ call_id: 'c-1', outcome: 'refused' }]],
  ])('ends its wait with the answer %s, before the next hook', async (option, calls) => {
    await post('/v1/hooks/claude-code', call, headers);
    const waiting = posted();
    await vi.waitFor(() => expect(reported().at(-1)).toMatchObject({ activity: 'awaiting_input' }), LIMIT);
    await vi.waitFor(() => expect(openings()).toBe(1), LIMIT);
    await answered(option);
    await waiting;
    await vi.waitFor(() => expect(reported().at(-1)).toMatchObject({ activity: 'working' }), LIMIT);
    expect(reported().at(-1)).toMatchObject({ waiting_for: null, turn: { open: true }, tool_calls: calls });
  });

  test('is answered with no decision at the deadline, and keeps its wait: the client shows its own dialog', async () => {
    const waiting = posted();
    await vi.waitFor(() => expect(openings()).toBe(1), LIMIT);
    const { requestId, agentId } = opening();
    const end = { requestId, agentId, outcome: 'no_decision', open: 0 } as const;
    await log().publish(example(Topic.agentRequest, 'REQUEST_EXPIRED', end));
    expect(await answerOf(await waiting)).toEqual({ status: 200, body: {} });
    expect(reported().at(-1)).toMatchObject({ activity: 'awaiting_input', waiting_for: { kind: 'permission' } });
  });

  test('is withdrawn at once when the client closes the connection', async () => {
    const leave = new AbortController();
    const left = postAndLeave('/v1/hooks/claude-code', permission, headers, leave.signal);
    await vi.waitFor(() => expect(openings()).toBe(1), LIMIT);
    leave.abort();
    await left;
    await vi.waitFor(() => expect(withdrawals()).toMatchObject([{ requestId: opening().requestId }]), LIMIT);
  });
});
