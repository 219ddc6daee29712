import { recordedRuns } from '@vigil/adapters/recordings';
import { type EventOf, type Heartbeat, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { describe, expect, test, vi } from 'vitest';
import { answerOf, testGateway } from '../testing.ts';

const { log, post, postAndLeave, hold, get, lag } = testGateway();

const isOf = (event: string) => (payload: object) =>
  (payload as { hook_event_name?: string }).hook_event_name === event;
/** Without the permission requests, whose answers people give. */
const works = (recordedRuns('claude-code').get('cc-works') ?? [])
  .map(({ payload }) => payload)
  .filter((payload) => !isOf('PermissionRequest')(payload));
const headers = { 'vigil-agent': 'worker-1', 'vigil-task': 'T-1' };
const send = async (payload: unknown, more = headers) =>
  (await answerOf(await post('/v1/hooks/claude-code', payload, more))).body;
const one = (event: string): Record<string, unknown> => {
  const found = works.find(isOf(event));
  if (found === undefined) throw new Error(`the recording has no ${event}`);
  return found;
};
const heartbeats = () =>
  log()
    .events(Topic.heartbeat)
    .map(({ payload }) => payload as Heartbeat);
const calls = () => heartbeats().flatMap(({ tool_calls }) => tool_calls ?? []);

describe('a reached spending limit', () => {
  const limit = (scope: 'agent' | 'task' | 'day', scopeId: string, until: number | null = null) =>
    example(Topic.spending, 'SPENDING_LIMIT_REACHED', {
      ...{ scope, scopeId, tokens: 120, usd: null, limitTokens: 100, limitUsd: null, until },
    });
  const denied = (body: object): string | null => {
    const { hookSpecificOutput: output } = body as { hookSpecificOutput?: Record<string, string> };
    return output?.permissionDecision === 'deny' ? (output.permissionDecisionReason ?? '') : null;
  };

  test.each([
    ['agent', 'worker-1', 'agent worker-1'],
    ['task', 'T-1', 'task T-1'],
    ['day', 'vigil', 'the day of policy vigil'],
  ] as const)('of a %s refuses the call with the reason', async (scope, id, whose) => {
    await log().publish(limit(scope, id));
    await vi.waitFor(async () =>
      expect(denied(await send(one('PreToolUse')))).toContain(`the spending limit of ${whose} is reached`),
    );
    expect(denied(await send(one('PreToolUse')))).toContain('120 of 100 tokens are used');
  });

  test('refuses no call of another task or agent, and none once it is lifted or its day is over', async () => {
    await log().publish(
      limit('task', 'T-2'),
      limit('agent', 'worker-2'),
      limit('day', 'vigil', Date.now() - 1),
      limit('task', 'T-1'),
    );
    await vi.waitFor(async () => expect(denied(await send(one('PreToolUse')))).not.toBeNull());
    await log().publish(
      example(Topic.spending, 'SPENDING_LIMIT_LIFTED', { scope: 'task', scopeId: 'T-1', why: 'raised' }),
    );
    await vi.waitFor(async () => expect(await send(one('PreToolUse'))).toEqual({}));
  });

  test('refuses each call of a recorded session, and nothing else; none of them is a failure or still in flight', async () => {
    await log().publish(limit('task', 'T-1'));
    await vi.waitFor(async () =>
      expect(denied(await send(one('PreToolUse'), { ...headers, 'vigil-agent': 'other' }))).not.toBeNull(),
    );
    const begun = works.filter((payload) =>
      ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'Stop'].some((event) => isOf(event)(payload)),
    );
    for (const payload of begun) expect(denied(await send(payload)) !== null).toBe(isOf('PreToolUse')(payload));
    const own = heartbeats()
      .filter(({ agent_id }) => agent_id === 'worker-1')
      .toSorted((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0));
    const outcomes = own
      .flatMap(({ tool_calls }) => tool_calls ?? [])
      .map(({ call_id, outcome }) => [call_id, outcome]);
    const postHook = begun.filter(isOf('PreToolUse')).map(({ tool_use_id }) => [tool_use_id, 'refused']);
    expect(Object.fromEntries(outcomes)).toEqual(Object.fromEntries(postHook));
    expect(own.at(-1)).toMatchObject({ error_count: 0, turn: { open: false } });
  });

  test('refuses the call of an agent that a runtime watches, too, and reports nothing of it', async () => {
    const here = { agentId: 'worker-1', instanceId: 'i1', runtimeId: 'host-1' };
    await log().publish(example(Topic.fleetPresence, 'AGENT_PRESENT', here), limit('task', 'T-1'));
    await vi.waitFor(async () => {
      const before = heartbeats().length;
      expect(denied(await send(one('PreToolUse')))).not.toBeNull();
      expect(heartbeats()).toHaveLength(before);
    });
    expect(await send(one('Stop'))).toEqual({});
  });

  test('refuses nothing where none is reached', async () => {
    for (const payload of works) expect(denied(await send(payload))).toBeNull();
    expect(calls().map(({ outcome }) => outcome)).toContain('ok');
  });
});

describe('a nudge for a session that posts its hooks', () => {
  const nudge = (more: Partial<EventOf<typeof Topic.agentOrder>['payload']> = {}) =>
    example(Topic.agentOrder, 'NUDGE_AGENT', {
      ...{
        orderId: 'o-1',
        agentId: 'worker-1',
        instanceId: null,
        message: 'Write a checkpoint.',
        ttlMs: 60_000,
        ...more,
      },
    } as never);
  const textIn = (body: object): string | undefined =>
    (body as { hookSpecificOutput?: { additionalContext?: string } }).hookSpecificOutput?.additionalContext;
  const receipts = () => log().events(Topic.orderReceipt);

  test('is in one answer of a recorded session, and its receipt is delivered', async () => {
    await log().publish(nudge());
    const texts: string[] = [];
    for (const payload of works) texts.push(...[textIn(await send(payload))].filter((text) => text !== undefined));
    expect(texts).toEqual(['Write a checkpoint.']);
    await vi.waitFor(() => expect(receipts()).toHaveLength(1));
    expect(receipts()[0]?.payload).toMatchObject({
      ...{ orderId: 'o-1', kind: 'nudge', agentId: 'worker-1', outcome: 'delivered', why: null },
    });
  });

  test('is in one answer of several hooks at once', async () => {
    await log().publish(nudge());
    await send(one('SessionStart'), { ...headers, 'vigil-agent': 'other' });
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(one('UserPromptSubmit'))));
    expect(answers.map(textIn).filter((text) => text !== undefined)).toEqual(['Write a checkpoint.']);
    await vi.waitFor(() => expect(receipts()).toHaveLength(1));
  });

  test('is in no answer to another agent', async () => {
    await log().publish(nudge());
    const other = { ...headers, 'vigil-agent': 'other' };
    expect(textIn(await send(one('UserPromptSubmit'), other))).toBeUndefined();
    expect(textIn(await send(one('UserPromptSubmit')))).toBe('Write a checkpoint.');
  });

  test('is not in a second answer while its receipt has not come back from the log', async () => {
    await log().publish(nudge());
    await vi.waitFor(async () =>
      expect((await answerOf(await get('/v1/agents/worker-1/orders'))).body.orders).toHaveLength(1),
    );
    lag();
    expect(textIn(await send(one('UserPromptSubmit')))).toBe('Write a checkpoint.');
    await vi.waitFor(() => expect(receipts()).toHaveLength(1));
    expect(textIn(await send(one('PostToolUse')))).toBeUndefined();
    expect(receipts()).toHaveLength(1);
  });

  test('whose client closes the connection before the answer is ready is uncertain, and so is its receipt', async () => {
    await log().publish(nudge());
    await vi.waitFor(async () =>
      expect((await answerOf(await get('/v1/agents/worker-1/orders'))).body.orders).toHaveLength(1),
    );
    const { reached, release } = hold(Topic.heartbeat);
    const leave = new AbortController();
    const left = postAndLeave('/v1/hooks/claude-code', one('UserPromptSubmit'), headers, leave.signal);
    await reached;
    leave.abort();
    await left;
    // The gateway has seen by then that the connection is closed.
    for (let i = 0; i < 3; i++) await get('/v1/agents/worker-1/orders');
    release();
    await vi.waitFor(() => expect(receipts()).toHaveLength(1));
    expect(receipts()[0]?.payload).toMatchObject({ orderId: 'o-1', outcome: 'uncertain' });
  });

  const turns = () => heartbeats().map(({ turn }) => turn?.open);
  const stop = { ...one('Stop'), stop_hook_active: false };

  test('at the end of a turn opens the turn again, as its client continues', async () => {
    await send(one('UserPromptSubmit'));
    await log().publish(nudge());
    await vi.waitFor(async () =>
      expect((await answerOf(await get('/v1/agents/worker-1/orders'))).body.orders).toHaveLength(1),
    );
    expect(JSON.stringify(await send(stop))).toContain('Write a checkpoint.');
    expect(turns()).toEqual([true, false, true]);
    expect(heartbeats().at(-1)).toMatchObject({ activity: 'working', waiting_for: null });
    await vi.waitFor(() => expect(receipts()).toHaveLength(1));
    expect(await send({ ...stop, stop_hook_active: true })).toEqual({});
    expect(turns().at(-1)).toBe(false);
  });

  test('opens no turn at an event other than the end of a turn, and without a text the turn stays closed', async () => {
    await send(one('UserPromptSubmit'));
    expect(await send(stop)).toEqual({});
    expect(turns()).toEqual([true, false]);
    await log().publish(nudge());
    expect(textIn(await send(one('SessionStart')))).toBe('Write a checkpoint.');
    expect(turns().at(-1)).not.toBe(true);
  });

  test('does not go with a call that begins, with a sub-agent, or to another instance', async () => {
    await log().publish(nudge({ orderId: 'o-2', instanceId: 'another' }));
    await log().publish(nudge());
    const silent = [one('PreToolUse'), { ...one('PostToolUse'), agent_id: 'sub-1', agent_type: 'Explore' }];
    for (const payload of silent) expect(textIn(await send(payload))).toBeUndefined();
    expect(receipts()).toEqual([]);
    expect(textIn(await send(one('PostToolUse')))).toBe('Write a checkpoint.');
  });
});

describe('the end of a turn', () => {
  const publish = (signals: object) =>
    log().publish(
      example(Topic.policy, 'POLICY_PUBLISHED', {
        ...{ name: 'vigil', hash: 'h-asks', document: JSON.stringify({ signals }), withdrawn: false },
      }),
    );
  const bash = (id: string) => ({ tool_name: 'Bash', tool_use_id: id, tool_input: { command: 'npm test' } });
  const event = (name: string, more: object = {}) => send({ session_id: 's-asks', hook_event_name: name, ...more });
  const failsItsTests = async (id = 'c-1') => {
    await event('UserPromptSubmit', { prompt: 'go' });
    await event('PreToolUse', bash(id));
    await event('PostToolUseFailure', { ...bash(id), error: 'Exit code 1' });
  };

  test('is answered with what is missing where the policy has ask_at_stop, once', async () => {
    await publish({ done: { is: 'false_completion', ask_at_stop: true } });
    await failsItsTests();
    await vi.waitFor(async () =>
      expect(await event('Stop')).toEqual({
        decision: 'block',
        reason: expect.stringContaining('you are about to stop, and your last check failed.'),
      }),
    );
    expect(heartbeats().at(-1)?.turn?.open, 'its turn goes on').toBe(true);
    expect(await event('Stop', { stop_hook_active: true })).toEqual({});
  });

  test('is not asked about the same calls in a later turn, and is after another failed check', async () => {
    const question = { decision: 'block', reason: expect.stringContaining('your last check failed.') };
    await publish({ done: { is: 'false_completion', ask_at_stop: true } });
    await failsItsTests();
    await vi.waitFor(async () => expect(await event('Stop')).toEqual(question));
    await event('UserPromptSubmit', { prompt: 'stop now' });
    expect(await event('Stop')).toEqual({});
    await failsItsTests('c-2');
    expect(await event('Stop')).toEqual(question);
    expect(await event('Stop', { stop_hook_active: true })).toEqual({});
    await event('UserPromptSubmit', { prompt: 'stop' });
    expect(await event('Stop')).toEqual({});
  });

  test('is not answered without that key', async () => {
    await publish({ false_completion: { needs_check: true } });
    await failsItsTests();
    expect(await event('Stop')).toEqual({});
  });
});
