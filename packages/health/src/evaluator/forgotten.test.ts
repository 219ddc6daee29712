import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { type Clock, NEVER } from '@vigil/stream';
import { clockAt } from '@vigil/stream/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type HeartbeatPayload, heartbeat, presetsWith, T0 } from '../fixture.ts';
import { type Announcement, agentHealth, type Observation } from './health.ts';
import { type AgentState, UNSEEN } from './state.ts';

const HOUR = 3_600_000;
const WEEK = 7 * 24 * HOUR;
const vigil = agentHealth(presetsWith('vigil'));

/** An agent over days, evaluated only at its deadlines, as by the runner, until it is forgotten. */
const story = (watchedUntil = Number.POSITIVE_INFINITY) => {
  const emitted: Announcement[] = [];
  let state: AgentState = UNSEEN;
  let isForgotten = false;
  let now = T0;
  const clockOf = (at: number): Clock => {
    const watched = Math.min(at, watchedUntil);
    return clockAt(at, { watched: at, ingresses: { gateway: watched } });
  };
  const decideAt = (at: number) => {
    const clock = clockOf(at);
    const events = vigil.decide(state, clock);
    state = events.reduce(vigil.evolve, state);
    emitted.push(...events);
    return events;
  };
  const receive = (input: Observation, at: number) => {
    passTo(at);
    state = vigil.observe(state, input, clockOf(at));
    isForgotten = false;
    return decideAt(at);
  };
  const passTo = (until: number) => {
    const before = emitted.length;
    while (!isForgotten) {
      const dueAt = Math.max(now, vigil.dueAt(state, clockOf(now)));
      if (dueAt > until || dueAt === NEVER) break;
      now = dueAt;
      decideAt(now);
      isForgotten = vigil.forgets(state, clockOf(now));
      if (isForgotten) state = UNSEEN;
    }
    now = Math.max(now, until);
    return emitted.slice(before);
  };
  return { emitted, receive, passTo, isForgotten: () => isForgotten };
};

const types = (emitted: readonly Announcement[]) => emitted.map(({ type }) => type);
const works: Partial<HeartbeatPayload> = { activity: 'working', checkpoint: null };

test('an agent that falls silent without a reported end ends as lost after seven days, and is forgotten', () => {
  const agent = story();
  agent.receive(heartbeat(0, works), T0);
  agent.passTo(T0 + WEEK - 1);
  expect(agent.isForgotten()).toBe(false);
  expect(types(agent.emitted)).not.toContain('WARRANT_LAPSED');
  const last = agent.passTo(T0 + WEEK);
  expect(last).toMatchObject([
    { type: 'HEALTH_STATE_CHANGED', payload: { to: 'TERMINATED', endReason: 'lost', endReported: false } },
    { type: 'WARRANT_LAPSED', payload: { why: 'ended' } },
    { type: 'AGENT_LOST', payload: { expected: true } },
    { type: 'TASK_HEALTH_CHANGED', payload: { hold: 'left', to: 'TERMINATED', endReason: 'lost' } },
  ]);
  expect(agent.isForgotten()).toBe(true);
  expect(agent.passTo(T0 + 2 * WEEK)).toEqual([]);
});

test('during its silence its warrant is renewed less and less often: every minute for an hour, and then some twenty times', () => {
  const agent = story();
  agent.receive(heartbeat(0, works), T0);
  const renewals = (emitted: readonly Announcement[]) =>
    emitted.filter(({ type }) => type === 'WARRANT_RENEWED').length;
  const inFirstHour = renewals(agent.passTo(T0 + HOUR));
  expect(inFirstHour).toBeGreaterThan(50);
  expect(renewals(agent.passTo(T0 + WEEK))).toBeLessThan(40);
});

test('an agent that sends a heartbeat after days with another finding gets a warrant with a short lease at once', () => {
  const agent = story();
  agent.receive(heartbeat(0, works), T0);
  agent.passTo(T0 + 48 * HOUR);
  const back = agent.receive(heartbeat(48 * HOUR, { ...works, activity: 'stuck' }), T0 + 48 * HOUR);
  const leases = [...back, ...agent.passTo(T0 + 48 * HOUR + 60_000)].flatMap((event) =>
    event.type === 'WARRANT_RENEWED' || event.type === 'WARRANT_FILED' ? [event.payload.voidAt] : [],
  );
  for (const voidAt of leases) expect(voidAt).toBeLessThan(T0 + 49 * HOUR);
  expect(types(back)).toContain('AGENT_PRESENT');
});

test('an agent behind a gateway that is gone for good causes no finding, and its release is announced after seven days', () => {
  const agent = story(T0 + 10_000);
  agent.receive(heartbeat(0, { ...works, ingress: 'gateway' }), T0);
  const flagged = agent.passTo(T0 + WEEK - 1).filter(({ type }) => type === 'HEALTH_STATE_CHANGED');
  expect(flagged).toEqual([]);
  expect(agent.passTo(T0 + WEEK)).toMatchObject([
    { type: 'HEALTH_STATE_CHANGED', payload: { from: 'HEALTHY', to: 'TERMINATED' } },
    { type: 'AGENT_LOST', payload: { why: 'silent', expected: true } },
    { type: 'TASK_HEALTH_CHANGED', payload: { hold: 'left' } },
  ]);
  expect(agent.isForgotten()).toBe(true);
});

/** The things that other services keep open until an event closes them. */
const openOf = (emitted: readonly Announcement[]): readonly string[] => {
  const open = new Set<string>();
  const set = (name: string, isOpen: boolean) => (isOpen ? open.add(name) : open.delete(name));
  for (const event of emitted) {
    if (event.type === 'AGENT_PRESENT' || event.type === 'AGENT_LOST') set('presence', event.type === 'AGENT_PRESENT');
    if (event.type === 'WARRANT_FILED' || event.type === 'WARRANT_LAPSED')
      set('warrant', event.type === 'WARRANT_FILED');
    if (event.type === 'TASK_HEALTH_CHANGED') set(`task ${event.payload.taskId}`, event.payload.hold !== 'left');
    if (event.type === 'CIRCUIT_BREAKER_STATE_CHANGED')
      set(`breaker ${event.payload.name}`, event.payload.to !== 'CLOSED');
    if (event.type === 'HEALTH_STATE_CHANGED')
      set('state', event.payload.to !== 'HEALTHY' && event.payload.to !== 'TERMINATED');
    if (event.type === 'WAIT_OVERDUE' || event.type === 'WAIT_ENDED') set('wait', event.type === 'WAIT_OVERDUE');
    if (event.type === 'CLOCK_DRIFTED' || event.type === 'CLOCK_DRIFT_ENDED')
      set('clock', event.type === 'CLOCK_DRIFTED');
    if (event.type === 'EXEMPTION_CHANGED') set('exemption', event.payload.to !== null);
  }
  return [...open];
};

const heartbeats: fc.Arbitrary<Observation> = fc
  .record({
    instance_id: fc.constantFrom('a1.i1', 'a1.i2'),
    task_id: fc.constantFrom('T-1', 'T-2', null),
    runtime_id: fc.constantFrom('r1', null),
    activity: fc.constantFrom('working' as const, 'idle' as const, 'stuck' as const, 'awaiting_input' as const, null),
    ingress: fc.constantFrom(null, 'gateway'),
    event_driven: fc.boolean(),
    breakers: fc.constantFrom(
      [],
      [{ name: 'tool_execution', state: 'OPEN' as const, failures: 3, next_attempt_at: null }],
    ),
  })
  .map((more) => heartbeat(0, { ...more, checkpoint: null }));
const others: fc.Arbitrary<Observation> = fc.constantFrom<Observation>(
  { ...example(Topic.agentObservation, 'HOLD_AGENT', { agentId: 'a1', until: null }), key: 'a1' },
  { ...example(Topic.agentObservation, 'AGENT_EXITED', { agentId: 'a1', instanceId: 'a1.i1' }), key: 'a1' },
  { ...example(Topic.agentObservation, 'CONFIRM_DEATH', { agentId: 'a1', instanceId: 'a1.i1' }), key: 'a1' },
);
const steps = fc.array(
  fc.record({
    input: fc.oneof({ weight: 5, arbitrary: heartbeats }, { weight: 1, arbitrary: others }),
    ms: fc.oneof(fc.integer({ min: 0, max: 60_000 }), fc.integer({ min: 0, max: 12 * HOUR })),
  }),
  { minLength: 1, maxLength: 8 },
);

test('after any observations, an agent is forgotten within a week of silence and leaves nothing open elsewhere', () => {
  fc.assert(
    fc.property(steps, fc.nat(24 * HOUR), (observed, closedAfter) => {
      const agent = story(T0 + closedAfter);
      let now = T0;
      for (const { input, ms } of observed) {
        now += ms;
        try {
          agent.receive(stamped(input, now), now);
        } catch {
          // a record of an older instance is a dead letter
        }
      }
      agent.passTo(now + WEEK + 1000);
      expect(openOf(agent.emitted)).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

const stamped = (input: Observation, now: number): Observation =>
  input.type === 'AGENT_HEARTBEAT' ? { ...input, payload: { ...input.payload, timestamp: now } } : input;
