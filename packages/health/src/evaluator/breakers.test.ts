import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { brief, type Call, call, type HeartbeatPayload, heartbeat, policyOf, T0 } from '../fixture.ts';
import { type Announcement, agentHealth, type Observation } from './health.ts';

const policies = policyOf(`
policy: p
signals: { breaker_open: {} }
states: { FAILING: [breaker_open] }
`);
const decider = agentHealth(policies);

type Report = HeartbeatPayload['breakers'][number];
const report = (state: Report['state'], more: Partial<Report> = {}): Partial<HeartbeatPayload> => ({
  breakers: [{ name: 'tool_execution', state, failures: state === 'CLOSED' ? 0 : 5, next_attempt_at: null, ...more }],
});
const failed = (id: string, more: Partial<Call> = {}) => call(id, { outcome: 'error', error_class: 'E', ...more });
const failures = (n: number, more: Partial<Call> = {}): Partial<HeartbeatPayload> => ({
  tool_calls: Array.from({ length: n }, (_, i) => failed(`f${i}`, more)),
});
const ok = (more: Partial<Call> = {}): Partial<HeartbeatPayload> => ({ tool_calls: [call('ok', more)] });

const agent = () => {
  const driven = given(decider, T0);
  const changes = (events: readonly Announcement[]) => brief(events).filter((line) => /CLOSED|OPEN|reset/.test(line));
  const receive = (ms: number, more: Partial<HeartbeatPayload> = {}) =>
    changes(driven.receive(heartbeat(ms, more), T0 + ms));
  receive(0);
  return {
    receive,
    input: (input: Observation, ms: number) => changes(driven.receive({ ...input, key: 'a1' } as Observation, T0 + ms)),
    passTo: (ms: number) => changes(driven.passTo(T0 + ms)),
    last: () => driven.all().findLast(({ type }) => type === 'CIRCUIT_BREAKER_STATE_CHANGED'),
    asked: () => driven.all().findLast(({ type }) => type === 'BREAKER_RESET_ASKED'),
    health: () => driven.all().findLast((event) => event.type === 'HEALTH_STATE_CHANGED')?.payload,
    due: () => decider.dueAt(driven.state(), driven.clock()) - T0,
    memory: () => JSON.stringify(driven.state()),
  };
};

describe('that the caller holds', () => {
  test('a change is announced once, with the fields that the caller reports', () => {
    const a = agent();
    expect(a.receive(1000, report('OPEN', { next_attempt_at: T0 + 31_000 }))).toEqual(['tool_execution CLOSED → OPEN']);
    expect(a.last()?.payload).toMatchObject({ agentId: 'a1', taskId: 'T-1', failures: 5, nextAttemptAt: T0 + 31_000 });
    expect(a.receive(2000, report('OPEN', { next_attempt_at: T0 + 31_000 }))).toEqual([]);
    expect(a.receive(3000)).toEqual([]);
    expect(a.receive(31_000, report('HALF_OPEN'))).toEqual(['tool_execution OPEN → HALF_OPEN']);
    expect(a.receive(32_000, report('CLOSED'))).toEqual(['tool_execution HALF_OPEN → CLOSED']);
    expect(a.receive(33_000, report('CLOSED'))).toEqual([]);
  });

  test('a breaker is open until the caller reports another state, also after the time of its next attempt', () => {
    const a = agent();
    a.receive(1000, report('OPEN', { next_attempt_at: T0 + 2000 }));
    expect(a.passTo(600_000)).toEqual([]);
    expect(a.health()).toMatchObject({ to: 'FAILING' });
  });

  test('the outcomes of its calls are not counted a second time, and an earlier count of Vigil is dropped', () => {
    const a = agent();
    a.receive(1000, report('CLOSED'));
    expect(a.receive(2000, failures(9))).toEqual([]);
    const b = agent();
    expect(b.receive(1000, failures(5))).toEqual(['tool_execution CLOSED → OPEN']);
    expect(b.receive(2000, report('CLOSED'))).toEqual(['tool_execution OPEN → CLOSED']);
    expect(b.passTo(60_000)).toEqual([]);
  });

  test('an unknown breaker, or one that belongs to the task, is not the agent’s', () => {
    const a = agent();
    expect(a.receive(1000, report('OPEN', { name: 'recovery_attempt' }))).toEqual([]);
    expect(a.receive(2000, report('OPEN', { name: '__proto__' }))).toEqual([]);
    expect(a.receive(3000, report('UNKNOWN'))).toEqual([]);
  });
});

describe('that Vigil counts', () => {
  test('open by kind after the policy’s number of failures in a row: five of tools', () => {
    const a = agent();
    expect(a.receive(1000, failures(4))).toEqual([]);
    expect(a.receive(2000, failures(1))).toEqual(['tool_execution CLOSED → OPEN']);
    expect(a.last()?.payload).toMatchObject({ failures: 5, nextAttemptAt: T0 + 32_000 });
  });

  test('a command that ends with another code than 0 is not a failure of its tool, as for a hook', () => {
    const a = agent();
    expect(a.receive(1000, failures(9, { error_class: 'exit_1' }))).toEqual([]);
    expect(a.receive(2000, failures(4))).toEqual([]);
    expect(a.receive(3000, failures(1, { error_class: 'exit_127' }))).toEqual([]);
    expect(a.receive(4000, failures(4))).toEqual([]);
  });

  test('a call that a person interrupted is not a failure and does not end the row', () => {
    const a = agent();
    expect(a.receive(1000, failures(4))).toEqual([]);
    expect(a.receive(2000, failures(4, { error_class: 'aborted' }))).toEqual([]);
    expect(a.receive(3000, failures(1))).toEqual(['tool_execution CLOSED → OPEN']);
  });

  test('three failures of checkpoints or of external calls open their own breaker', () => {
    const a = agent();
    expect(a.receive(1000, failures(2, { kind: 'checkpoint_write' }))).toEqual([]);
    expect(a.receive(2000, failures(2, { kind: 'external_api' }))).toEqual([]);
    expect(a.receive(3000, failures(1, { kind: 'checkpoint_write' }))).toEqual(['checkpoint_write CLOSED → OPEN']);
    expect(a.last()?.payload).toMatchObject({ nextAttemptAt: T0 + 123_000 });
    expect(a.receive(4000, failures(1, { kind: 'external_api' }))).toEqual(['external_api CLOSED → OPEN']);
    expect(a.last()?.payload).toMatchObject({ nextAttemptAt: T0 + 64_000 });
  });

  test('model calls, calls in flight and rate limits count for none; a success starts the row again', () => {
    const a = agent();
    a.receive(1000, failures(4));
    a.receive(2000, failures(9, { kind: 'model' }));
    a.receive(3000, failures(9, { error_class: 'rate_limit' }));
    a.receive(4000, failures(9, { outcome: 'running' }));
    a.receive(5000, ok());
    expect(a.receive(6000, failures(4))).toEqual([]);
    expect(a.receive(7000, failures(1))).toEqual(['tool_execution CLOSED → OPEN']);
  });

  test('a breaker is half open at its time, not a millisecond before, and FAILING ends with it', () => {
    const a = agent();
    a.receive(1000, failures(5));
    expect(a.health()).toMatchObject({ to: 'FAILING', onsetAt: T0 + 1000 });
    expect(a.due()).toBeLessThanOrEqual(31_000);
    expect(a.passTo(30_999)).toEqual([]);
    expect(a.passTo(31_000)).toEqual(['tool_execution OPEN → HALF_OPEN']);
    expect(a.health()).toMatchObject({ to: 'HEALTHY' });
    expect(a.passTo(300_000)).toEqual([]);
  });

  test('in half open, a success closes it, and a failure opens it again for a whole timeout', () => {
    const a = agent();
    a.receive(1000, failures(5));
    a.passTo(40_000);
    expect(a.receive(41_000, failures(1))).toEqual(['tool_execution HALF_OPEN → OPEN']);
    expect(a.last()?.payload).toMatchObject({ failures: 6, nextAttemptAt: T0 + 71_000 });
    expect(a.health()).toMatchObject({ to: 'FAILING', onsetAt: T0 + 41_000 });
    a.passTo(71_000);
    expect(a.receive(72_000, ok())).toEqual(['tool_execution HALF_OPEN → CLOSED']);
    expect(a.passTo(300_000)).toEqual([]);
  });

  test('calls that end while it is open, or that began before its trial, are ignored', () => {
    const a = agent();
    a.receive(1000, failures(5));
    expect(a.receive(30_000, ok())).toEqual([]);
    expect(a.passTo(31_000)).toEqual(['tool_execution OPEN → HALF_OPEN']);
    expect(a.receive(31_500, ok({ started_at: T0 + 30_000, ended_at: T0 + 31_500 }))).toEqual([]);
    expect(a.receive(33_000, ok({ started_at: T0 + 31_600, ended_at: T0 + 33_000 }))).toEqual([
      'tool_execution HALF_OPEN → CLOSED',
    ]);
  });

  test('a person can close it; one that the caller holds stays as the caller reports it', () => {
    const reset = example(Topic.agentObservation, 'RESET_BREAKER', { agentId: 'a1', name: 'tool_execution' });
    const a = agent();
    a.receive(1000, failures(5));
    expect(a.input(reset, 2000)).toEqual(['reset_breaker applied', 'tool_execution OPEN → CLOSED']);
    expect(a.receive(3000, failures(4))).toEqual([]);
    const held = agent();
    held.receive(1000, report('OPEN'));
    expect(held.input(reset, 2000)).toEqual(['reset of tool_execution asked']);
    expect(held.receive(3000, report('OPEN'))).toEqual([]);
    expect(held.receive(4000, report('CLOSED'))).toEqual(['tool_execution OPEN → CLOSED']);
  });

  test('the request to a caller that holds its breaker has the person’s words and the command’s id; an ended agent gets none', () => {
    const reset = example(Topic.agentObservation, 'RESET_BREAKER', { agentId: 'a1', name: 'external_api', by: 'ada' });
    const a = agent();
    a.receive(1000, { ...report('CLOSED', { name: 'external_api' }), runtime_id: 'host-1' });
    expect(a.input({ ...reset, correlationId: 'c-9' }, 2000)).toEqual(['reset of external_api asked']);
    expect(a.asked()).toMatchObject({
      correlationId: 'c-9',
      payload: { agentId: 'a1', instanceId: 'a1.i1', name: 'external_api', by: 'ada', why: reset.payload.why },
    });
    const exit = example(Topic.agentObservation, 'AGENT_EXITED', { agentId: 'a1', instanceId: 'a1.i1' });
    a.input(exit, 3000);
    expect(a.input(reset, 4000)).toEqual([]);
  });

  test('successful calls leave nothing in the state', () => {
    const a = agent();
    a.receive(1000, failures(3));
    a.receive(2000, ok());
    expect(a.memory()).toContain('"breakers":{"held":{},"own":{}}');
  });
});

describe('with the instance', () => {
  const exited = example(Topic.agentObservation, 'AGENT_EXITED', { agentId: 'a1', instanceId: 'a1.i1' });

  test('its end closes open breakers, under the task with which they opened', () => {
    const a = agent();
    a.receive(1000, report('OPEN'));
    a.receive(2000, { task_id: 'T-2' });
    expect(a.input(exited, 3000)).toEqual(['tool_execution OPEN → CLOSED']);
    expect(a.last()?.payload).toMatchObject({ taskId: 'T-1', failures: 0, nextAttemptAt: null });
  });

  test('a new instance begins with all breakers closed', () => {
    const a = agent();
    a.receive(1000, failures(5));
    expect(a.receive(2000, { instance_id: 'a1.i2' })).toEqual(['tool_execution OPEN → CLOSED']);
    expect(a.receive(3000, { ...failures(4), instance_id: 'a1.i2' })).toEqual([]);
  });
});

test('no breaker of an excluded agent is announced', () => {
  const shown = policyOf('policy: p\nexclude: [a1]\nsignals: { breaker_open: {} }\nstates: {}\n');
  const driven = given(agentHealth(shown), T0);
  expect(brief(driven.receive(heartbeat(0, failures(9)))).join()).not.toContain('OPEN');
});
