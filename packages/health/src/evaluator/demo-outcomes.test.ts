import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { brief, call, type HeartbeatPayload, heartbeat, presetsWith, T0 } from '../fixture.ts';
import { type Announcement, agentHealth, type Observation } from './health.ts';

/** The seven outcomes of the demonstration fleet, as far as the evaluator decides them. */
const demo = agentHealth(presetsWith('demo'));
const runtime: Partial<HeartbeatPayload> = { reporter: 'runtime', interval_ms: 1000, activity: 'working' };

const started = () => {
  const agent = given(demo, T0);
  const heartbeats = (
    from: number,
    to: number,
    more: (ms: number) => Partial<HeartbeatPayload>,
  ): readonly Announcement[] => {
    const before = agent.all().length;
    for (let ms = from; ms <= to; ms += 1000) agent.receive(heartbeat(ms, more(ms)), T0 + ms);
    return agent.all().slice(before);
  };
  return { ...agent, heartbeats };
};
const works = (ms: number): Partial<HeartbeatPayload> => ({
  ...runtime,
  agent_heartbeat_at: T0 + ms,
  tool_calls: [call(`c${ms}`, { args_hash: `a${ms}` })],
  checkpoint: ms % 5000 === 0 ? checkpointOf(ms) : null,
});
const checkpointOf = (ms: number) => ({
  checkpoint_id: `k${ms}`,
  parent_id: null,
  uri: null,
  sha256: null,
  valid: true,
  invalid_reason: null,
  created_at: T0 + ms,
  completed_work: [],
  remaining_work: [],
});
const exited = (
  ms: number,
  reason: 'finished' | 'crashed' | 'explicit',
  orderId: string | null = null,
): Observation => ({
  ...example(Topic.agentObservation, 'AGENT_EXITED', {
    agentId: 'a1',
    instanceId: 'a1.i1',
    taskId: 'T-1',
    reason,
    orderId,
  }),
  key: 'a1',
  correlationId: `c${ms}`,
});
const confirmed: Observation = {
  ...example(Topic.agentObservation, 'CONFIRM_DEATH', { agentId: 'a1', instanceId: 'a1.i1' }),
  key: 'a1',
};
const FIRST = ['INSTANCE_STARTED', 'AGENT_PRESENT first_heartbeat', 'T-1 took: HEALTHY'];

test('the loss of an agent that has finished, was stopped by a person or was ended by an order is expected; that of a crashed one is not', () => {
  const expected = (...end: Parameters<typeof exited>) => {
    const { heartbeats, receive } = started();
    heartbeats(0, 3000, works);
    const lost = receive(exited(...end), T0 + end[0]).filter(({ type }) => type === 'AGENT_LOST');
    return lost.map(({ payload }) => (payload as { expected: boolean }).expected);
  };
  expect(expected(4000, 'finished')).toEqual([true]);
  expect(expected(4000, 'explicit')).toEqual([true]);
  expect(expected(4000, 'crashed', 'order-1')).toEqual([true]);
  expect(expected(4000, 'crashed')).toEqual([false]);
});

test('the reported end of an agent that was lost in silence, also a crash, is announced and does not count as a second loss', () => {
  const late = (...input: Parameters<typeof exited> | [Observation]) => {
    const { heartbeats, receive, passTo } = started();
    heartbeats(0, 3000, works);
    expect(brief(passTo(T0 + 60_000))).toContain('AGENT_LOST silent');
    const emitted = receive(input.length === 1 ? input[0] : exited(...input));
    return emitted
      .filter(({ type }) => type === 'AGENT_LOST')
      .map(({ payload }) => (payload as { expected: boolean }).expected);
  };
  expect(late(60_000, 'finished')).toEqual([true]);
  expect(late(60_000, 'explicit')).toEqual([true]);
  const gone = example(Topic.agentObservation, 'CONFIRM_DEATH', { agentId: 'a1', instanceId: 'a1.i1' });
  expect(late({ ...gone, key: 'a1' })).toEqual([true]);
  expect(late(60_000, 'crashed')).toEqual([true]);
});

describe('the demonstration fleet', () => {
  test('steady works and checkpoints: HEALTHY throughout', () => {
    const { heartbeats } = started();
    expect(brief(heartbeats(0, 120_000, works))).toEqual(FIRST);
  });

  test('hangs falls silent in mid-task: STUCK by no_activity, with a warrant that is renewed', () => {
    const { heartbeats, all } = started();
    heartbeats(0, 5000, works);
    const emitted = heartbeats(6000, 19_000, () => runtime);
    expect(brief(emitted)).toEqual([
      'HEALTHY → STUCK',
      'WARRANT_FILED STUCK',
      'T-1 kept: STUCK',
      'WARRANT_RENEWED STUCK',
    ]);
    const changed = all().find((event) => event.type === 'HEALTH_STATE_CHANGED');
    expect(changed?.payload).toMatchObject({
      reason: 'no call, no output, no heartbeat of its own for 9 s; limit 8 s',
      onsetAt: T0 + 13_001,
      exemption: null,
    });
  });

  test('hangs, terminated by our order: the warrant lapses, nothing is filed for an end that was ordered', () => {
    const { heartbeats, receive } = started();
    heartbeats(0, 5000, works);
    heartbeats(6000, 16_000, () => runtime);
    expect(brief(receive(exited(17_000, 'crashed', 'order-1'), T0 + 16_500))).toEqual([
      'STUCK → TERMINATED',
      'WARRANT_LAPSED ended',
      'AGENT_LOST ended',
      'T-1 left: TERMINATED',
    ]);
  });

  test('loops repeats a failing command: STUCK at the fifth, healthy again by doing something else', () => {
    const { heartbeats } = started();
    heartbeats(0, 5000, works);
    const fails = (ms: number) => ({
      ...works(ms),
      checkpoint: null,
      tool_calls: [
        call(`c${ms}`, { args_hash: 'npm test', outcome: 'error', result_hash: 'r', error_class: 'tool_error' }),
      ],
    });
    expect(brief(heartbeats(6000, 10_000, fails))).toEqual([
      'HEALTHY → DEGRADED',
      'T-1 kept: DEGRADED',
      'DEGRADED → STUCK',
      'tool_execution CLOSED → OPEN',
      'WARRANT_FILED STUCK',
      'T-1 kept: STUCK',
    ]);
    expect(brief(heartbeats(11_000, 11_000, works))).toEqual([
      'STUCK → HEALTHY',
      'WARRANT_LAPSED progress',
      'T-1 kept: HEALTHY',
    ]);
  });

  test('limited prints rate-limit errors: exempt, to be paused; nothing counted, healthy throughout', () => {
    const { heartbeats, all } = started();
    heartbeats(0, 3000, works);
    const pattern = (ms: number) => ({ kind: 'rate_limit', source: 'rate[ _-]?limit', at: T0 + ms, line: null });
    const limited = (ms: number): Partial<HeartbeatPayload> => ({
      ...runtime,
      output: {
        last_output_at: T0 + 4000,
        lines: null,
        matched_patterns: ms % 5000 === 0 ? [pattern(ms)] : [],
        shown_errors: [],
        repeated_error: null,
        result_at: null,
        completion_signal_at: null,
        tail: [],
      },
    });
    expect(brief(heartbeats(5000, 8000, limited))).toEqual(['exempt: rate_limited', 'WARRANT_FILED HEALTHY']);
    const paused = { ...runtime, activity: 'paused' } as const;
    // both apply, and the pause is shown
    expect(brief(heartbeats(9000, 18_000, () => paused))).toEqual([
      'exempt: paused',
      'WARRANT_RENEWED HEALTHY',
      'WARRANT_LAPSED progress',
    ]);
    expect(brief(heartbeats(19_000, 60_000, works))).toEqual(['exempt: null']);
    expect(all().some(({ type }) => type === 'HEALTH_STATE_CHANGED')).toBe(false);
  });

  test('crashes exits with 1: TERMINATED crashed, and a warrant of its own to recover', () => {
    const { heartbeats, receive } = started();
    heartbeats(0, 2000, works);
    const emitted = receive(exited(2500, 'crashed'), T0 + 2500);
    expect(brief(emitted)).toEqual([
      'HEALTHY → TERMINATED',
      'WARRANT_FILED TERMINATED',
      'AGENT_LOST crashed',
      'T-1 left: TERMINATED',
    ]);
    const warrant = emitted.find((event) => event.type === 'WARRANT_FILED');
    expect(warrant?.payload).toMatchObject({
      planName: 'crashed',
      plan: [{ step: 'recover' }],
      endReason: 'crashed',
      hard: true,
    });
  });

  test.each([
    ['the end of the limit that it had reached', 'rate_limited', 3 * 3_600_000, T0 + 3 * 3_600_000],
    ['it also if a heartbeat without an activity follows', null, 3 * 3_600_000, T0 + 3 * 3_600_000],
    ['it also if its session ends after it', 'exiting', 3 * 3_600_000, T0 + 3 * 3_600_000],
    ['null if the limit is over', 'rate_limited', 2400, null],
    ['null if it continued to work after the limit', 'working', 3 * 3_600_000, null],
    ['null if the end of the limit is unknown', 'rate_limited', null, null],
  ] as const)('crashes at a limit: its warrant carries %s', (_, activity, resetMs, limitedUntil) => {
    const { heartbeats, receive } = started();
    const limit = { retry_at: resetMs === null ? null : T0 + resetMs };
    heartbeats(0, 1000, works);
    receive(heartbeat(2000, { ...runtime, activity: 'rate_limited', rate_limit: limit }), T0 + 2000);
    receive(heartbeat(2200, { ...runtime, activity }), T0 + 2200);
    const warrant = receive(exited(2500, 'crashed'), T0 + 2500).find((event) => event.type === 'WARRANT_FILED');
    expect(warrant?.payload).toMatchObject({ planName: 'crashed', limitedUntil });
  });

  test('works on after a limit, ends its session and crashes: its warrant carries no limit', () => {
    const { heartbeats, receive } = started();
    receive(heartbeat(0, { ...runtime, activity: 'rate_limited', rate_limit: { retry_at: T0 + 3_600_000 } }), T0);
    heartbeats(500, 2000, works);
    receive(heartbeat(2200, { ...runtime, activity: 'exiting' }), T0 + 2200);
    const warrant = receive(exited(2500, 'crashed'), T0 + 2500).find((event) => event.type === 'WARRANT_FILED');
    expect(warrant?.payload).toMatchObject({ planName: 'crashed', limitedUntil: null });
  });

  test('crashes before its first heartbeat: its start and end are still announced', () => {
    const { receive } = started();
    expect(brief(receive(exited(100, 'crashed'), T0 + 100))).toEqual([
      'INSTANCE_STARTED',
      'HEALTHY → TERMINATED',
      'WARRANT_FILED TERMINATED',
      'T-1 took: HEALTHY',
      'T-1 left: TERMINATED',
    ]);
  });

  test('waits asks a question and waits: exempt, however long, and people are notified once', () => {
    const { heartbeats } = started();
    heartbeats(0, 3000, works);
    const emitted = heartbeats(4000, 600_000, () => ({ ...runtime, activity: 'awaiting_input' }));
    expect(brief(emitted)).toEqual(['exempt: awaiting_input', 'WAIT_OVERDUE null']);
  });

  test('waits, answered after an hour: the time of the wait does not count', () => {
    const { heartbeats } = started();
    heartbeats(0, 3000, works);
    heartbeats(4000, 600_000, () => ({ ...runtime, activity: 'awaiting_input' }));
    expect(brief(heartbeats(601_000, 605_000, () => runtime))).toEqual([
      'exempt: null',
      'WAIT_ENDED it waits no longer',
    ]);
  });

  test('finishes completes: TERMINATED finished, nothing filed', () => {
    const { heartbeats, receive, passTo } = started();
    heartbeats(0, 2000, works);
    expect(brief(receive(exited(2500, 'finished'), T0 + 2500))).toEqual([
      'HEALTHY → TERMINATED',
      'AGENT_LOST ended',
      'T-1 left: TERMINATED',
    ]);
    expect(passTo(T0 + 600_000)).toEqual([]);
  });
});

describe('an agent that was assumed dead without a report of its runtime', () => {
  const lost = () => {
    const agent = started();
    agent.heartbeats(0, 3000, works);
    expect(brief(agent.receive(confirmed, T0 + 4000))).toContain('T-1 left: TERMINATED');
    return agent;
  };
  const taskEnds = (emitted: readonly Announcement[]) =>
    emitted.flatMap((one) => (one.type === 'TASK_HEALTH_CHANGED' ? [one.payload.endReason] : []));

  test('and whose runtime reports later that it has finished its task is announced as finished, once', () => {
    const { receive } = lost();
    const emitted = receive(exited(5000, 'finished'), T0 + 5000);
    expect(taskEnds(emitted)).toEqual(['finished']);
    expect(emitted.find(({ type }) => type === 'AGENT_LOST')?.payload).toMatchObject({ why: 'ended', expected: true });
    expect(receive(exited(6000, 'finished'), T0 + 6000)).toEqual([]);
  });

  test('and whose runtime reports another end is not announced again', () => {
    for (const reason of ['crashed', 'explicit'] as const)
      expect(lost().receive(exited(5000, reason), T0 + 5000)).toEqual([]);
  });

  test('and whose reported end was a crash has not finished', () => {
    const { heartbeats, receive } = started();
    heartbeats(0, 3000, works);
    receive(exited(4000, 'crashed'), T0 + 4000);
    expect(receive(exited(5000, 'finished'), T0 + 5000)).toEqual([]);
  });
});
