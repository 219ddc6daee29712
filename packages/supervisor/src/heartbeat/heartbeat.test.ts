import { expect, test } from 'vitest';
import { understand } from '../messages/agent-report.ts';
import {
  answered,
  type HeartbeatState,
  type Identity,
  matched,
  nextHeartbeat,
  noHeartbeats,
  REPORT_LAG_MS,
  type TerminalFacts,
  withReport,
} from './heartbeat.ts';

const who: Identity = {
  agentId: 'a',
  instanceId: 'i',
  taskId: 't',
  runtimeId: 'r',
  attempt: 0,
  maxAttempts: null,
  policy: 'demo',
  labels: {},
  parentAgentId: null,
};
const silent: TerminalFacts = {
  lastOutputAt: null,
  lines: 0,
  repeatedError: null,
  completionAt: null,
  resultAt: null,
  tail: [],
  ending: false,
  asks: null,
  hasAsked: false,
  isSilenceKnown: true,
  screen: { activity: null, waitingFor: null, since: 0 },
  paused: false,
  limits: [],
  work: null,
};
const reported = (heartbeatState: HeartbeatState, fields: object, at = 100) =>
  withReport(heartbeatState, understand(JSON.stringify(fields)).reported, at);
const next = (heartbeatState: HeartbeatState, facts: Partial<TerminalFacts> = {}) =>
  nextHeartbeat(answered(heartbeatState), who, { ...silent, ...facts }, 1000, 500);
const calls = (...ids: string[]) => ({ tool_calls: ids.map((call_id) => ({ call_id, tool: 'Bash' })) });

test('an agent that reports nothing still has a heartbeat: presence, not activity', () => {
  const { inFlight } = next(noHeartbeats);
  expect(inFlight).toMatchObject({
    sequence: 1,
    reporter: 'runtime',
    agent_heartbeat_at: null,
    activity: null,
    instance_id: 'i',
    interval_ms: 500,
  });
});

test("the agent's reports are merged field by field, with their time", () => {
  const { inFlight } = next(
    reported(reported(noHeartbeats, { phase: 'plan', token_count: 5 }, 100), { phase: 'build' }, 200),
  );
  expect(inFlight).toMatchObject({ phase: 'build', token_count: 5, agent_heartbeat_at: 200 });
});

test('a heartbeat in flight stays unchanged until it is answered; new reports wait for the next', () => {
  const first = next(reported(noHeartbeats, calls('a')));
  const still = nextHeartbeat(reported(first, calls('b')), who, silent, 2000, 500);
  expect(still.inFlight).toBe(first.inFlight);
  const second = next(still);
  expect(second.inFlight).toMatchObject({ sequence: 2, tool_calls: [{ call_id: 'b' }] });
  expect(next(second).inFlight?.tool_calls).toEqual([]);
});

test('a call that begins and ends between two heartbeats is reported once, as ended', () => {
  const running = reported(noHeartbeats, { tool_calls: [{ call_id: 'a', tool: 'Bash', outcome: 'running' }] });
  expect(next(reported(running, calls('a'))).inFlight?.tool_calls).toMatchObject([{ call_id: 'a', outcome: 'ok' }]);
});

test('of more than a hundred new calls the newest hundred are kept', () => {
  const all = Array.from({ length: 3 }, (_, group) => calls(...Array.from({ length: 50 }, (_, n) => `${group}.${n}`)));
  const kept =
    next(all.reduce((heartbeatState, fields) => reported(heartbeatState, fields), noHeartbeats)).inFlight?.tool_calls ??
    [];
  expect([kept.length, kept[0]?.call_id, kept[99]?.call_id]).toEqual([100, '1.0', '2.49']);
});

test('the end of a call that was sent as running is sent, however many calls follow while the gateway is away', () => {
  const running = reported(noHeartbeats, { tool_calls: [{ call_id: 'long', tool: 'Edit', outcome: 'running' }] });
  const ended = reported(next(next(running)), calls('long'));
  const busy = Array.from({ length: 300 }, (_, n) => calls(`after.${n}`)).reduce(
    (heartbeatState, fields) => reported(heartbeatState, fields),
    ended,
  );
  const sent = next(busy);
  const ids = sent.inFlight?.tool_calls.map(({ call_id: id }) => id) ?? [];
  expect([ids.length, ids[0], ids[1], ids[99]]).toEqual([100, 'long', 'after.201', 'after.299']);
  const later = next(busy.toolCalls.reduce((state, { call_id: id }) => reported(state, calls(`${id}.again`)), sent));
  expect(later.inFlight?.tool_calls.map(({ call_id: id }) => id)).not.toContain('long');
});

test("a question on the terminal outweighs the agent's earlier report, also if that is read late, but not a later one", () => {
  const working = reported(noHeartbeats, { activity: 'working' }, 5000);
  expect(next(working, { asks: { since: 5050, text: 'Go on?' } }).inFlight?.activity).toBe('awaiting_input');
  expect(next(working, { asks: { since: 5000 - REPORT_LAG_MS, text: 'Go on?' } }).inFlight?.activity).toBe(
    'awaiting_input',
  );
  expect(next(working, { asks: { since: 5000 - REPORT_LAG_MS - 1, text: 'Go on?' } }).inFlight?.activity).toBe(
    'working',
  );
});

test('a rate limit is reported once, and a later silence is not exempt', () => {
  const limited = next(reported(noHeartbeats, { activity: 'rate_limited', rate_limit: { retry_at: 5000 } }));
  expect(limited.inFlight).toMatchObject({ activity: 'rate_limited', rate_limit: { retry_at: 5000 } });
  expect(next(limited).inFlight).toMatchObject({ activity: 'working', rate_limit: null });
});

test('matched patterns, `verdicts` and answers are sent once; a checkpoint stays', () => {
  const fields = {
    checkpoint: { checkpoint_id: 'c' },
    steps: { total_steps: 3, verdicts: ['ACCEPT'] },
    probe_reply: 'n',
  };
  const first = next(matched(reported(noHeartbeats, fields), [{ kind: 'error', source: 'x', at: 1, line: null }]));
  expect(first.inFlight).toMatchObject({
    probe_reply: 'n',
    steps: { verdicts: ['ACCEPT'] },
    output: { matched_patterns: [{ source: 'x' }] },
  });
  expect(next(first).inFlight).toMatchObject({
    probe_reply: null,
    steps: { total_steps: 3, verdicts: [] },
    output: { matched_patterns: [] },
    checkpoint: { checkpoint_id: 'c' },
    reports_checkpoints: true,
  });
});

test('one bad field spoils no other, and is named', () => {
  const { reported: fields, problems } = understand(
    '{"phase":"x","token_count":-1,"agent_id":"other","tool_calls":[{"tool":"Bash"}]}',
  );
  expect(fields).toEqual({ phase: 'x' });
  expect(problems.map((problem) => problem.split(':')[0])).toEqual([
    'token_count',
    'agent_id',
    'tool_calls[0].call_id',
  ]);
  expect(understand('nonsense').problems[0]).toMatch(/not JSON/);
  expect(understand(`{"phase":"${'x'.repeat(1 << 17)}"}`).problems[0]).toMatch(/longer than/);
  expect(understand('[1]').problems[0]).toMatch(/not an object/);
});

test('times may be written either way', () => {
  expect(understand('{"last_tool_call":"2026-11-22T01:00:00Z"}').reported.last_tool_call).toBe(
    Date.parse('2026-11-22T01:00:00Z'),
  );
  expect(understand('{"last_tool_call":5}').reported.last_tool_call).toBe(5);
});

test('`verdicts` of several reports go out together, each once', () => {
  const steps = (total_steps: number, ...verdicts: string[]) => ({ steps: { total_steps, verdicts } });
  const both = reported(reported(noHeartbeats, steps(1, 'RETRY')), steps(3, 'RETRY', 'ACCEPT'));
  const sent = next(both);
  expect(sent.inFlight?.steps).toEqual({ total_steps: 3, verdicts: ['RETRY', 'RETRY', 'ACCEPT'] });
  expect(next(reported(sent, steps(4, 'CONTINUE'))).inFlight?.steps).toEqual({
    total_steps: 4,
    verdicts: ['CONTINUE'],
  });
});

test('of the reports of an agent and of its tracker about its work, the newer counts', () => {
  const work = (id: string, updated_at: number | null) => ({
    ...{ id, updated_at, status: null, claim_refreshed_at: null, comment_count: null },
  });
  const says5 = reported(noHeartbeats, { work: { id: 'bd-1', updated_at: 5 } });
  expect(next(noHeartbeats, { work: work('bd-1', 4) }).inFlight?.work).toMatchObject({ updated_at: 4 });
  expect(next(says5, { work: work('bd-1', 4) }).inFlight?.work).toMatchObject({ updated_at: 5 });
  expect(next(says5, { work: work('bd-1', 6) }).inFlight?.work).toMatchObject({ updated_at: 6 });
  expect(next(says5).inFlight?.work).toMatchObject({ updated_at: 5 });
});

test('of each pattern the newest match goes, so that one on every line pushes no other out', () => {
  const often = Array.from({ length: 500 }, (_, at) => ({ kind: 'error', source: 'x', at, line: null }));
  const heartbeatState = matched(matched(noHeartbeats, [{ kind: 'fatal', source: 'y', at: 3, line: null }]), often);
  expect(next(heartbeatState).inFlight?.output?.matched_patterns).toEqual([
    { kind: 'fatal', source: 'y', at: 3, line: null },
    { kind: 'error', source: 'x', at: 499, line: null },
  ]);
});

test('an agent that is being ended reports that it exits, despite any report on the way', () => {
  for (const activity of ['idle', 'finished', 'working'])
    expect(next(reported(noHeartbeats, { activity }), { ending: true }).inFlight?.activity).toBe('exiting');
  expect(next(reported(noHeartbeats, { activity: 'idle' })).inFlight?.activity).toBe('idle');
});
