import type { ToolCall } from '@vigil/events';
import { expect, test } from 'vitest';
import { newSession, observe, type SessionEvent, type SessionFact, type SessionState } from './session.ts';

const call = (id: string, more: Partial<ToolCall> = {}): ToolCall => ({
  call_id: id,
  kind: 'tool',
  tool: 'Bash',
  args_hash: `args-${id}`,
  result_hash: null,
  masked_result_hash: null,
  outcome: 'running',
  error_class: null,
  started_at: null,
  ended_at: null,
  deadline_at: null,
  mutating: false,
  polling: false,
  checking: false,
  target: null,
  ...more,
});

const started = (id: string, batch: string | null = null): SessionFact => ({
  kind: 'call_started',
  call: call(id),
  batch,
  asks: null,
});
const name = (id: string) => ({ callId: id, tool: 'Bash', argsHash: `args-${id}` });
const done = (id: string): SessionFact => ({
  kind: 'call_ended',
  call: call(id, { outcome: 'ok' }),
  name: name(id),
});

/** The facts, a second apart. */
const story = (...facts: readonly (SessionFact & { readonly from?: string })[]) => {
  let session: SessionState = newSession;
  const outcomes = new Map<string, string>();
  let fields: Readonly<Record<string, unknown>> = {};
  const subagents = new Map<string, Readonly<Record<string, unknown>>>();
  facts.forEach(({ from, ...fact }, index) => {
    const event = { ...fact, at: 1000 * (index + 1), agent: from ?? null } as SessionEvent;
    const observed = observe(session, event);
    session = JSON.parse(JSON.stringify(observed.session));
    for (const { agent, fields: reported } of observed.reports) {
      for (const one of reported.tool_calls ?? []) outcomes.set(one.call_id, one.outcome);
      if (agent === null) fields = reported;
      else subagents.set(agent, reported);
    }
  });
  return { session, outcomes: Object.fromEntries(outcomes), fields, subagents: Object.fromEntries(subagents) };
};

const turn = { kind: 'turn_started' } as const;
const stop = { kind: 'turn_ended', wakes: false } as const;
const permission = { kind: 'permission', text: 'Bash', since: null } as const;

test('a call that a permission rule refuses ends with its batch, and is not a failure', () => {
  const { outcomes, fields } = story(turn, started('a'), { kind: 'batch_ended', calls: [] });
  expect(outcomes).toEqual({ a: 'abandoned' });
  expect(fields).toMatchObject({ activity: 'working', turn: { open: true } });
});

test('the end of a background command opens no turn, because its call has ended', () => {
  const handedOver = { kind: 'result_seen', callId: 'a', refused: false, errorClass: null } as const;
  const { outcomes, fields } = story(turn, started('a'), handedOver, stop, done('a'));
  expect(outcomes).toEqual({ a: 'abandoned' });
  expect(fields).toMatchObject({ turn: { open: false } });
});

test('a limit keeps its known reset when the resulting error does not name it, until that reset', () => {
  const error = { kind: 'turn_failed', errorClass: 'rate_limit', passes: true, retryAt: null } as const;
  const limitedUntil = (retryAt: number) => ({ kind: 'request_limited', retryAt }) as const;
  const retried = { kind: 'request_limited', retryAt: null } as const;
  const kept = { activity: 'rate_limited', rate_limit: { retry_at: 60_000 } };
  expect(story(turn, limitedUntil(60_000), error).fields).toMatchObject(kept);
  expect(story(turn, limitedUntil(60_000), retried).fields).toMatchObject(kept);
  expect(story(turn, limitedUntil(3000), error).fields).toMatchObject({ rate_limit: { retry_at: null } });
  expect(story(turn, limitedUntil(60_000), started('a'), retried).fields).toMatchObject({
    rate_limit: { retry_at: null },
  });
});

test('a refusal that names its call ends it as refused', () => {
  const name = { callId: null, tool: 'Bash', argsHash: 'args-a' };
  expect(story(turn, started('a'), { kind: 'call_refused', call: name }).outcomes).toEqual({ a: 'refused' });
});

test.each([
  ['the end of its turn', stop],
  ['the next prompt', turn],
  ['an interrupt', { kind: 'turn_interrupted' }],
  ['a failed turn', { kind: 'turn_failed', errorClass: 'invalid_request', passes: false, retryAt: null }],
  ['the end of the session', { kind: 'session_ended', continues: false }],
  ['another session that replaces it', { kind: 'session_started', source: 'clear' }],
] as const)('%s ends a call that is open', (_, fact) => {
  expect(story(turn, started('a'), fact).outcomes).toEqual({ a: 'abandoned' });
});

test('a call in another batch ends the calls of the previous batch; a call of the same or an unknown batch does not', () => {
  expect(story(turn, started('a', '1'), started('b', '2')).outcomes).toEqual({ a: 'abandoned', b: 'running' });
  expect(story(turn, started('a', '1'), started('b', '1')).outcomes).toEqual({ a: 'running', b: 'running' });
  expect(story(turn, started('a', '1'), started('b')).outcomes).toEqual({ a: 'running', b: 'running' });
});

test('a start that is reported after its end opens nothing', () => {
  const { outcomes, session } = story(turn, done('a'), started('a'));
  expect(outcomes).toEqual({ a: 'ok' });
  expect(session.main.open).toEqual({});
});

test('work before the end of a turn that is reported after it does not open another turn', () => {
  let { session } = observe(newSession, { ...turn, at: 1000, agent: null });
  ({ session } = observe(session, { ...stop, at: 3000, agent: null }));
  const late = observe(session, { ...(started('a') as SessionFact), at: 2999, agent: null } as SessionEvent);
  expect(late.session.main.turn?.open).toBe(false);
  expect(late.reports[0]?.fields.tool_calls?.[0]?.outcome).toBe('abandoned');
  const next = observe(session, { ...(started('a') as SessionFact), at: 3000, agent: null } as SessionEvent);
  expect(next.session.main.turn?.open).toBe(true);
});

test('a permission request is open until its call ends, and other calls do not end the wait', () => {
  const name = { callId: null, tool: 'Bash', argsHash: 'args-a' };
  const asked = [turn, started('a'), started('b'), { kind: 'wait_started', waiting: permission, call: name }] as const;
  expect(story(...asked).fields).toMatchObject({ activity: 'awaiting_input', waiting_for: { kind: 'permission' } });
  expect(story(...asked, done('b')).fields).toMatchObject({ activity: 'awaiting_input' });
  expect(story(...asked, done('a')).fields).toMatchObject({ activity: 'working', waiting_for: null });
});

test('a session at its prompt waits for a prompt; one with a background task or timer is idle', () => {
  expect(story(turn, stop).fields).toMatchObject({ activity: 'awaiting_input', waiting_for: { kind: 'prompt' } });
  expect(story(turn, { kind: 'turn_ended', wakes: true }).fields).toMatchObject({
    activity: 'idle',
    waiting_for: null,
  });
});

test('a failed turn that may pass is rate limited until its time; one that will not pass is blocked', () => {
  const failed = { kind: 'turn_failed' } as const;
  const limited = { ...failed, errorClass: 'rate_limit', passes: true, retryAt: 9000 };
  expect(story(turn, limited).fields).toMatchObject({ activity: 'rate_limited', rate_limit: { retry_at: 9000 } });
  const wedged = { ...failed, errorClass: 'invalid_request', passes: false, retryAt: null };
  expect(story(turn, wedged).fields).toMatchObject({
    activity: 'blocked',
    errors: [{ at: 2000, error_class: 'invalid_request' }],
  });
  expect(story(turn, wedged, turn).fields).toMatchObject({ activity: 'working' });
});

test('a working sub-agent keeps its parent working after the turn; its end lets the parent wait', () => {
  const sub = { kind: 'subagent_started', id: 's', type: 'general-purpose' } as const;
  const working = story(turn, sub, stop, { ...(started('x') as SessionFact), from: 's' } as never);
  expect(working.fields).toMatchObject({ activity: 'working', turn: { open: true, last_event_at: 4000 } });
  expect(working.subagents.s).toMatchObject({ activity: 'working', turn: { open: true } });
  const over = story(turn, sub, stop, { ...started('x'), from: 's' }, { kind: 'subagent_ended', id: 's' });
  expect(over.fields).toMatchObject({ activity: 'awaiting_input' });
  expect(over.outcomes).toEqual({ x: 'abandoned' });
  expect(over.subagents.s).toMatchObject({ activity: 'exiting', exit: { reason: 'finished' } });
});

test('a call of a sub-agent is in flight in its parent, too, and ends there without a result', () => {
  const sub = { kind: 'subagent_started', id: 's', type: null } as const;
  const from = (fact: SessionFact) => ({ ...fact, from: 's' });
  expect(story(turn, sub, from(started('x'))).fields).toMatchObject({
    tool_calls: [{ call_id: 'x', outcome: 'running' }],
  });
  const ended = story(turn, sub, from(started('x')), from(done('x')));
  expect(ended.subagents.s).toMatchObject({ tool_calls: [{ call_id: 'x', outcome: 'ok' }] });
  expect(ended.fields).toMatchObject({ tool_calls: [{ call_id: 'x', outcome: 'abandoned' }] });
  const cleared = story(turn, sub, from(started('x')), { kind: 'session_started', source: 'clear' });
  expect(cleared.outcomes).toEqual({ x: 'abandoned' });
});

test('tokens are null until they are counted, and an answer that is reported twice counts once', () => {
  const tokens = { model: 'm', input_tokens: 10, cache_read_tokens: 3, cache_write_tokens: 0, output_tokens: 2 };
  const answer = { requestId: 'r1', tokens, context: { tokens_used: 15, tokens_max: 200 }, costUsd: null };
  const counted = { kind: 'answer_counted', answer } as const;
  expect(story(turn).fields).toMatchObject({ token_count: null, usage: [] });
  expect(story(turn, counted, counted).fields).toMatchObject({ token_count: 15, context: { tokens_used: 15 } });
});

const at = (fact: SessionFact, time: number, agent: string | null = null): SessionEvent => ({
  ...fact,
  at: time,
  agent,
});
const inOrder = (...events: readonly SessionEvent[]) =>
  events.reduce((so, event) => observe(so.session, event), { session: newSession, reports: [] } as ReturnType<
    typeof observe
  >);

test('a call with a permission request that ends only with its batch was refused', () => {
  const batch = { kind: 'batch_ended', calls: [call('a', { outcome: 'ok' }), call('b', { outcome: 'ok' })] } as const;
  const asked = { kind: 'wait_started', waiting: permission, call: name('a') } as const;
  const { outcomes, fields } = story(turn, started('a'), started('b'), asked, batch);
  expect(outcomes).toEqual({ a: 'refused', b: 'ok' });
  expect(fields).toMatchObject({ activity: 'working', waiting_for: null });
});

test('a repeated notification changes neither the question nor its start', () => {
  const question = { kind: 'question', text: 'Which database?', since: null } as const;
  const asks = { ...started('a'), asks: question } as SessionFact;
  const notified = { kind: 'wait_started', waiting: permission, call: null } as const;
  const { fields } = story(turn, asks, notified);
  expect(fields).toMatchObject({ waiting_for: { kind: 'question', text: 'Which database?', since: 2000 } });
});

test('a wait without a call lasts until all calls that it may belong to have ended', () => {
  const asked = { kind: 'wait_started', waiting: permission, call: null } as const;
  const two = story(turn, started('a'), started('b'), asked, done('a'));
  expect(two.fields).toMatchObject({ activity: 'awaiting_input', waiting_for: { kind: 'permission' } });
  const none = story(turn, started('a'), started('b'), asked, done('a'), done('b'));
  expect(none.fields).toMatchObject({ activity: 'working', waiting_for: null });
  const answers = story(turn, started('a'), started('b'), asked, done('a'), { kind: 'model_answers' });
  expect(answers.fields).toMatchObject({ activity: 'working', waiting_for: null });
});

test('the prompt of the client ends an open turn; a blocked session stays blocked', () => {
  const prompt = { kind: 'at_prompt' } as const;
  expect(story(turn, started('a'), prompt)).toMatchObject({
    outcomes: { a: 'abandoned' },
    fields: { activity: 'awaiting_input', waiting_for: { kind: 'prompt' } },
  });
  const failed = { kind: 'turn_failed', errorClass: 'e', passes: false, retryAt: null } as const;
  expect(story(turn, failed, prompt).fields).toMatchObject({ activity: 'blocked' });
});

test('a session waits if one of its sub-agents does', () => {
  const sub = { kind: 'subagent_started', id: 's', type: null } as const;
  const asked = { kind: 'wait_started', waiting: permission, call: name('x') } as const;
  const { fields, subagents } = story(turn, sub, { ...started('x'), from: 's' }, { ...asked, from: 's' });
  expect(subagents.s).toMatchObject({ activity: 'awaiting_input' });
  expect(fields).toMatchObject({ activity: 'awaiting_input', waiting_for: { kind: 'permission' } });
});

test('tokens and the last answer of an unreported sub-agent do not report it', () => {
  const usage = { kind: 'usage_counted', usage: { usage: [], context: null, costUsd: null } } as const;
  for (const fact of [usage, { kind: 'last_answer_seen', wakes: true } as const])
    expect(observe(newSession, at(fact, 1, 's'))).toEqual({ session: newSession, reports: [] });
  expect(observe(newSession, at(started('x'), 1, 's')).reports).toHaveLength(2);
});

test('the end of an unreported sub-agent does not report it', () => {
  expect(observe(newSession, at({ kind: 'subagent_ended', id: 's' }, 1)).reports).toEqual([]);
});

test('a late report of the end of a batch or a turn ends only earlier calls', () => {
  const late = { kind: 'batch_ended', calls: [] } as const;
  const call2 = { ...started('b'), call: call('b', { started_at: 3000 }) } as SessionFact;
  const after = inOrder(at(turn, 1000), at(call2, 3000), at(late, 2999));
  expect(Object.keys(after.session.main.open)).toEqual(['b']);
  const next = inOrder(at(turn, 1000), at(turn, 3000), at(stop, 2999));
  expect(next.session.main.turn?.open).toBe(true);
  expect(inOrder(at(turn, 1000), at(turn, 3000), at(stop, 3001)).session.main.turn?.open).toBe(false);
});

test('a late report of the start of a turn does not end a wait in that turn', () => {
  const asked = { kind: 'wait_started', waiting: permission, call: null } as const;
  const after = inOrder(at(turn, 1000), at(started('a'), 2000), at(asked, 3000), at(turn, 1500));
  expect(after.session.main.wait).not.toBeNull();
});

const seen = (id: string, batch: string | null = null): SessionFact =>
  ({ ...started(id, batch), kind: 'call_seen' }) as SessionFact;
const result = (callId: string, refused = false): SessionFact => ({
  kind: 'result_seen',
  callId,
  refused,
  errorClass: null,
});
const lastAnswer: SessionFact = { kind: 'last_answer_seen', wakes: false };

test('a call without a reported start is taken from the session file, once, and only in the open turn', () => {
  expect(story(turn, seen('a')).outcomes).toEqual({ a: 'running' });
  expect(story(turn, started('a'), seen('a')).outcomes).toEqual({ a: 'running' });
  expect(story(turn, started('a'), done('a'), seen('a')).outcomes).toEqual({ a: 'ok' });
  const old = inOrder(at(turn, 1000), at(stop, 2000), at(turn, 3000), at(seen('a'), 2999));
  expect(old.reports[0]?.fields.tool_calls).toBeUndefined();
  expect(inOrder(at(turn, 1000), at(stop, 2000), at(seen('a'), 1999)).session.main.turn?.open).toBe(false);
  expect(inOrder(at(turn, 1000), at(stop, 2000), at(seen('a'), 2001)).session.main.turn?.open).toBe(true);
});

test('a call without a reported end ends with its result in the file, or with a call of another batch', () => {
  expect(story(turn, started('a'), result('a')).outcomes).toEqual({ a: 'abandoned' });
  expect(story(turn, started('a'), result('a', true)).outcomes).toEqual({ a: 'refused' });
  expect(story(turn, started('a'), done('a'), result('a')).outcomes).toEqual({ a: 'ok' });
  expect(story(turn, started('a'), seen('a', '1'), started('b'), seen('b', '2')).outcomes).toEqual({
    a: 'abandoned',
    b: 'running',
  });
  expect(story(turn, started('a'), seen('a', '1'), started('b'), seen('b', '1')).outcomes).toEqual({
    a: 'running',
    b: 'running',
  });
});

test('a turn without a reported end ends with its last answer in the file, unless it has continued since', () => {
  expect(story(turn, lastAnswer).fields).toMatchObject({ activity: 'awaiting_input', turn: { open: false } });
  const after = (time: number) => inOrder(at(turn, 1000), at(started('a'), 3000), at(lastAnswer, time)).session.main;
  expect(after(2999).turn?.open).toBe(true);
  expect(after(3000)).toMatchObject({ turn: { open: false }, open: {} });
});

test('the first report of the end of a call counts', () => {
  const failed = { ...done('a'), call: call('a', { outcome: 'error', error_class: 'exit_2' }) } as SessionFact;
  const after = inOrder(at(turn, 1000), at(started('a'), 2000), at(failed, 3000), at(done('a'), 3001));
  expect(after.reports[0]?.fields.tool_calls).toBeUndefined();
});

test('a call without an id ends the newest open call of its tool and arguments', () => {
  const end = {
    kind: 'call_ended',
    call: call('made-up', { outcome: 'ok', args_hash: 'args-a' }),
    name: { ...name('a'), callId: null },
  } as const;
  expect(story(turn, started('a'), end).outcomes).toEqual({ a: 'ok' });
  expect(story(turn, end).outcomes).toEqual({ 'made-up': 'ok' });
});

test.each(['__proto__', 'constructor', 'toString'])('%s is a sub-agent or a call like any other', (id) => {
  const begun = story(turn, { kind: 'subagent_started', id, type: 'x' }, { ...started(id), from: id }, started(id));
  expect(begun.outcomes).toEqual(Object.fromEntries([[id, 'running']]));
  expect(begun.fields).toMatchObject({ activity: 'working' });
  const over = story(
    turn,
    { ...started(id), from: id },
    { ...done(id), from: id },
    { kind: 'subagent_ended', id },
    stop,
  );
  // the parent's last report
  expect(over.outcomes).toEqual(Object.fromEntries([[id, 'abandoned']]));
  expect(over.session.subagents).toMatchObject(Object.fromEntries([[id, { ended: true }]]));
  expect(over.fields).toMatchObject({ activity: 'awaiting_input' });
  expect(story(turn, { kind: 'subagent_ended', id }, result(id), done(id)).outcomes).toEqual(
    Object.fromEntries([[id, 'ok']]),
  );
});

test('a repeated end of a call after a thousand others changes nothing, and neither does a repeated start', () => {
  const ids = Array.from({ length: 999 }, (_, n) => `x${n}`);
  const others = ids.flatMap((id, n) => [at(started(id), 3000 + n), at(done(id), 3000 + n)]);
  const again = [at(started('a'), 5000), at(done('a'), 5000)];
  const { reports } = inOrder(at(turn, 1000), at(started('a'), 2000), at(done('a'), 2001), ...others, ...again);
  expect(reports.flatMap(({ fields }) => fields.tool_calls ?? [])).toEqual([]);
});

test('an answer through the hook ends the wait at once: allowed, the call runs; denied, the turn continues without it', () => {
  const asked = { kind: 'wait_started', waiting: permission, call: name('a') } as const;
  const answered = { kind: 'wait_answered', call: name('a') } as const;
  const working = { activity: 'working', waiting_for: null, turn: { open: true } };
  const allowed = story(turn, started('a'), asked, { ...answered, refused: false });
  expect(allowed.fields).toMatchObject(working);
  expect(allowed.outcomes).toEqual({ a: 'running' });
  const denied = story(turn, started('a'), asked, { ...answered, refused: true });
  expect(denied.fields).toMatchObject(working);
  expect(denied.outcomes).toEqual({ a: 'refused' });
  const unnamed = story({ ...asked, call: null }, { ...answered, call: null, refused: false });
  expect(unnamed.fields).toMatchObject(working);
  const ofSubagent = (one: SessionFact) => ({ ...one, from: 'x' });
  const beside = [ofSubagent(started('a')), ofSubagent(asked), ofSubagent({ ...answered, refused: false })];
  expect(story(turn, { kind: 'subagent_started', id: 'x', type: null }, ...beside).fields).toMatchObject(working);
});

test('an answer to one call leaves the wait of another, and opens no turn that is over', () => {
  const asks = (id: string) => ({ kind: 'wait_started', waiting: permission, call: name(id) }) as const;
  const answered = { kind: 'wait_answered', call: name('a'), refused: false } as const;
  const two = [turn, started('a'), started('b'), asks('a'), asks('b')] as const;
  expect(story(...two, answered).fields).toMatchObject({ activity: 'awaiting_input' });
  expect(story(turn, started('a'), asks('a'), stop, answered).fields).toMatchObject({ turn: { open: false } });
});

test('a notification of a request that its hook has answered starts no wait again', () => {
  const asked = { kind: 'wait_started', waiting: permission, call: name('a') } as const;
  const answered = { kind: 'wait_answered', call: name('a'), refused: false } as const;
  const notified = { kind: 'wait_started', waiting: permission, call: null } as const;
  expect(story(turn, started('a'), asked, answered, notified).fields).toMatchObject({ activity: 'working' });
  expect(story(turn, started('a'), asked, answered, done('a'), started('b'), notified).fields).toMatchObject({
    activity: 'awaiting_input',
  });
});
