import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { brief, call, type HeartbeatPayload, heartbeat, policyOf, presetsWith, T0 } from '../fixture.ts';
import { explain } from './explain.ts';
import { type Announcement, agentHealth } from './health.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const TRUSTED = 15 * MINUTE;
const LAST = 10 * MINUTE;
const vigil = agentHealth(presetsWith('vigil'));

/** Ten minutes of work, reported by a runtime, and a last heartbeat with `more`. */
const silentAfter = (more: Partial<HeartbeatPayload>, decider = vigil) => {
  const agent = given(decider, T0);
  const runtime: Partial<HeartbeatPayload> = { reporter: 'runtime', activity: 'working' };
  for (let ms = 0; ms < LAST; ms += 30_000)
    agent.receive(
      heartbeat(ms, {
        ...runtime,
        agent_heartbeat_at: T0 + ms,
        tool_calls: ms === 0 ? [call('c1', { ended_at: T0 })] : [],
      }),
      T0 + ms,
    );
  agent.receive(heartbeat(LAST, { ...runtime, agent_heartbeat_at: T0 + LAST, ...more }), T0 + LAST);
  return agent;
};
const warrants = (emitted: readonly Announcement[]) => brief(emitted).filter((one) => one.startsWith('WARRANT_FILED'));
const inFlight = (deadline_at: number | null): Partial<HeartbeatPayload> => ({
  tool_calls: [call('c9', { outcome: 'running', started_at: T0 + LAST, deadline_at })],
});

describe('the last report of a silent runtime excuses it for 15 min, and no longer', () => {
  test.each<[string, Partial<HeartbeatPayload>]>([
    ['its agent waits for a person', { activity: 'awaiting_input' }],
    ['its agent is paused', { activity: 'paused' }],
    ['its agent is idle, and holds a task', { activity: 'idle' }],
    ['its agent is handing off', { activity: 'handing_off' }],
    ['a rate limit holds for days', { rate_limit: { retry_at: T0 + 60 * HOUR } } as Partial<HeartbeatPayload>],
    ['a call is in flight', inFlight(null)],
    ['a call is in flight, for hours', inFlight(T0 + 4 * HOUR)],
  ])('%s', (_, last) => {
    const agent = silentAfter(last);
    expect(warrants(agent.passTo(T0 + LAST + TRUSTED - 1))).toEqual([]);
    expect(warrants(agent.passTo(T0 + LAST + TRUSTED + 6 * MINUTE + 1))).toEqual(['WARRANT_FILED STUCK']);
  });

  test('and that does not end the exemption, which each report puts off', () => {
    const agent = silentAfter({ activity: 'awaiting_input' });
    const shown = agent.all().flatMap((event) => (event.type === 'EXEMPTION_CHANGED' ? [event.payload] : []));
    expect(shown.at(-1)).toMatchObject({ to: 'awaiting_input', until: null });
    const limited = silentAfter({ rate_limit: { retry_at: T0 + LAST + 5 * MINUTE } } as Partial<HeartbeatPayload>);
    const ends = limited.all().flatMap((event) => (event.type === 'EXEMPTION_CHANGED' ? [event.payload.until] : []));
    expect(ends.at(-1)).toBeGreaterThanOrEqual(T0 + LAST + 5 * MINUTE);
  });

  test('not while its heartbeats continue', () => {
    const agent = silentAfter({ activity: 'awaiting_input' });
    for (let ms = LAST; ms < 26 * HOUR; ms += 10 * MINUTE)
      agent.receive(heartbeat(ms, { reporter: 'runtime', activity: 'awaiting_input' }), T0 + ms);
    expect(warrants(agent.all())).toEqual([]);
  });

  test('a policy may trust it for longer or less', () => {
    const decider = agentHealth(
      policyOf(
        '{ policy: p, heartbeat: { trusted_for: 1h }, signals: { no_heartbeat: { after: 2m } }, states: { STUCK: [no_heartbeat] }, plans: [{ when: STUCK, do: [terminate: {}] }] }',
      ),
    );
    const agent = silentAfter({ activity: 'paused' }, decider);
    expect(warrants(agent.passTo(T0 + LAST + HOUR - 1))).toEqual([]);
    expect(warrants(agent.passTo(T0 + LAST + HOUR))).toEqual(['WARRANT_FILED STUCK']);
  });
});

describe('silence is excused for as long as the reason lasts', () => {
  test.each<[string, Partial<HeartbeatPayload>]>([
    [
      'of an agent that reports by itself, because it may have nothing to report',
      { reporter: 'agent', activity: 'idle' },
    ],
    ['of an agent that reports events only', { event_driven: true, activity: 'awaiting_input' }],
    ['of an idle agent without a task, because no work is expected', { activity: 'idle', task_id: null }],
  ])('%s', (_, last) => {
    expect(warrants(silentAfter(last).passTo(T0 + 26 * HOUR))).toEqual([]);
  });
});

describe('a pause', () => {
  const pausedFor = (ms: number, reporter: 'agent' | 'runtime') => {
    const agent = silentAfter({});
    for (let at = LAST + MINUTE; at <= ms; at += MINUTE)
      agent.receive(heartbeat(at, { reporter, activity: 'paused', agent_heartbeat_at: T0 + LAST }), T0 + at);
    return explain(presetsWith('vigil'), agent.state(), agent.clock())?.exemption?.name ?? null;
  };

  test('that the agent reports itself excuses it for 15 min, however often it reports it', () => {
    expect(pausedFor(LAST + MINUTE + 14 * MINUTE, 'agent')).toBe('paused');
    expect(pausedFor(LAST + MINUTE + 15 * MINUTE, 'agent')).toBeNull();
  });

  test('in which its runtime has stopped it excuses it for as long as it is reported', () => {
    expect(pausedFor(LAST + 10 * HOUR, 'runtime')).toBe('paused');
  });

  test('of its runtime ends with the first heartbeat of the runtime that does not report it', () => {
    const agent = silentAfter({});
    const report = (at: number, more: Partial<HeartbeatPayload>) =>
      agent.receive(heartbeat(at, { reporter: 'runtime', agent_heartbeat_at: T0 + LAST, ...more }), T0 + at);
    const exemption = () => explain(presetsWith('vigil'), agent.state(), agent.clock())?.exemption?.name ?? null;
    report(LAST + MINUTE, { activity: 'paused' });
    report(LAST + 2 * MINUTE, { reporter: 'agent', activity: null });
    expect(exemption(), 'a report of another source changes nothing').toBe('paused');
    report(LAST + 3 * MINUTE, { activity: null });
    expect(exemption()).toBeNull();
  });
});
