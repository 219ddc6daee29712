import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { clockAt, given, laws } from '@vigil/stream/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { brief, type HeartbeatPayload, heartbeat, policyOf, T0 } from '../fixture.ts';
import { explain } from './explain.ts';
import { type Announcement, agentHealth, type Observation } from './health.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const TOLERANCE = 30 * SECOND;
const EVERY = 10 * SECOND;

const policies = policyOf(`
policy: clocks
clock_tolerance: 30s
signals: { no_heartbeat: { after: 2m } }
states: { STUCK: [no_heartbeat] }
`);
const decider = agentHealth(policies);

const clocks = (emitted: readonly Announcement[]) => brief(emitted).filter((one) => one.startsWith('CLOCK'));

/** A heartbeat that is received at `ms`, from a clock that is so far behind. */
const sent = (ms: number, behindMs: number, more: Partial<HeartbeatPayload> = {}): Observation =>
  heartbeat(ms, { ...more, timestamp: T0 + ms - behindMs });

/** An agent with a heartbeat each ten seconds; the clock of each is so far behind. */
const agentWith = (...drifts: readonly number[]) => {
  const agent = given(decider, T0);
  for (const [i, behindMs] of drifts.entries()) agent.receive(sent(i * EVERY, behindMs), T0 + i * EVERY);
  return agent;
};
const times = (count: number, driftMs: number): readonly number[] => Array.from({ length: count }, () => driftMs);

describe('the clock of an agent', () => {
  test.each([
    ['behind', 1],
    ['ahead', -1],
  ])('that is %s by exactly the tolerance is not reported; by a millisecond more it is, once', (_, sign) => {
    expect(clocks(agentWith(...times(60, sign * TOLERANCE)).all())).toEqual([]);
    const off = agentWith(...times(60, sign * (TOLERANCE + 1)));
    expect(clocks(off.all())).toEqual([`CLOCK_DRIFTED ${sign * (TOLERANCE + 1)}`]);
    expect(off.all().find(({ type }) => type === 'CLOCK_DRIFTED')?.payload).toMatchObject({
      ...{ agentId: 'a1', driftMs: sign * (TOLERANCE + 1), toleranceMs: TOLERANCE },
    });
  });

  test('is reported when each heartbeat of a minute was off, and not before', () => {
    const agent = agentWith(...times(6, MINUTE));
    expect(clocks(agent.all())).toEqual([]);
    agent.receive(sent(MINUTE - 1, MINUTE), T0 + MINUTE - 1);
    expect(clocks(agent.all())).toEqual([]);
    expect(clocks(agent.receive(sent(MINUTE, MINUTE), T0 + MINUTE))).toEqual(['CLOCK_DRIFTED 60000']);
  });

  test('is a note of an explanation only while it is reported', () => {
    const notes = (agent: ReturnType<typeof agentWith>) => explain(policies, agent.state(), agent.clock())?.notes;
    const late = agentWith(0, 0, 10 * MINUTE);
    expect(notes(late)).toEqual([]);
    const off = agentWith(...times(7, MINUTE));
    expect(notes(off)).toEqual([expect.stringMatching(/^its clock is 1 min behind/)]);
    off.receive(sent(7 * EVERY, 0), T0 + 7 * EVERY);
    expect(clocks(off.all())).toContain('CLOCK_DRIFT_ENDED its clock is right again');
    expect(notes(off)).toEqual([]);
  });

  test('is not reported for a heartbeat that is delayed, however long, nor by silence after it', () => {
    const agent = agentWith(0, 0, 10 * MINUTE, 0, 0, 10 * MINUTE);
    agent.passTo(T0 + 60 * MINUTE);
    expect(clocks(agent.all())).toEqual([]);
  });

  test('is not reported while its gateway cannot write: each heartbeat of ten minutes is delayed, and the next is not', () => {
    const clock = (ms: number, watchedMs: number) => clockAt(T0 + ms, { ingresses: { 'gateway:a': T0 + watchedMs } });
    const agent = given(decider, clock(0, 0));
    const arrives = (ms: number, watchedMs: number, behindMs: number) =>
      agent.receive(sent(ms, behindMs, { ingress: 'gateway:a' }), clock(ms, watchedMs));
    arrives(0, 0, 0);
    for (let ms = MINUTE; ms <= 10 * MINUTE; ms += MINUTE) arrives(ms, 1500, 66 * SECOND);
    arrives(11 * MINUTE, 61_499, 0);
    expect(clocks(agent.all())).toEqual([]);
  });

  test('that is off is reported after an outage, once each heartbeat of a watched minute was off', () => {
    const clock = (ms: number, watchedMs: number) => clockAt(T0 + ms, { ingresses: { 'gateway:a': T0 + watchedMs } });
    const agent = given(decider, clock(0, 0));
    const arrives = (ms: number, watchedMs: number) =>
      clocks(agent.receive(sent(ms, MINUTE, { ingress: 'gateway:a' }), clock(ms, watchedMs)));
    const found = [
      arrives(0, 0),
      arrives(10 * MINUTE, 1500),
      arrives(11 * MINUTE, 59_999),
      arrives(12 * MINUTE, MINUTE),
    ];
    expect(found).toEqual([[], [], [], ['CLOCK_DRIFTED 60000']]);
  });

  test('of a sub-agent is that of its parent, which is reported alone', () => {
    const agent = given(decider, T0);
    for (let ms = 0; ms <= 5 * MINUTE; ms += EVERY)
      agent.receive(sent(ms, MINUTE, { parent_agent_id: 'parent' }), T0 + ms);
    expect(clocks(agent.all())).toEqual([]);
  });

  test('that is near the tolerance is reported once; it is right again at half the tolerance', () => {
    const near = Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? TOLERANCE + 1 : TOLERANCE / 2 + 1));
    const agent = agentWith(...times(7, TOLERANCE + 1), ...near);
    expect(clocks(agent.all())).toEqual(['CLOCK_DRIFTED 30001']);
    const at = 37 * EVERY;
    expect(clocks(agent.receive(sent(at, TOLERANCE / 2), T0 + at))).toEqual([
      'CLOCK_DRIFT_ENDED its clock is right again',
    ]);
    const again = Array.from({ length: 7 }, (_, i) =>
      agent.receive(sent(at + (i + 1) * EVERY, MINUTE), T0 + at + (i + 1) * EVERY),
    );
    expect(clocks(again.flat())).toEqual(['CLOCK_DRIFTED 60000']);
  });

  test('causes no finding: state, warrant and plan are those of the same agent with a right clock', () => {
    const found = (agent: ReturnType<typeof agentWith>) => {
      agent.passTo(T0 + 30 * MINUTE);
      return brief(agent.all()).filter((one) => !one.startsWith('CLOCK'));
    };
    expect(found(agentWith(...times(30, 10 * MINUTE)))).toEqual(found(agentWith(...times(30, 0))));
  });

  test('is over when its agent ends, and when another instance starts, whose clock is measured again', () => {
    const ended = agentWith(...times(8, MINUTE));
    const exit = {
      ...example(Topic.agentObservation, 'AGENT_EXITED', { agentId: 'a1', instanceId: 'a1.i1' }),
      key: 'a1',
    };
    expect(clocks(ended.receive(exit, T0 + 8 * EVERY))).toEqual(['CLOCK_DRIFT_ENDED it has ended']);
    const replaced = agentWith(...times(8, MINUTE));
    const next = sent(8 * EVERY, MINUTE, { instance_id: 'a1.i9' });
    expect(clocks(replaced.receive(next, T0 + 8 * EVERY))).toEqual(['CLOCK_DRIFT_ENDED another instance has started']);
    const more = times(6, MINUTE).map((behindMs, i) => {
      const at = (9 + i) * EVERY;
      return clocks(replaced.receive(sent(at, behindMs, { instance_id: 'a1.i9' }), T0 + at));
    });
    expect(more).toEqual([[], [], [], [], [], ['CLOCK_DRIFTED 60000']]);
  });

  test('is announced once, in time and deterministically, with any reports', () => {
    const reports = fc
      .constantFrom(0, TOLERANCE / 2, TOLERANCE + 1, -MINUTE, 10 * MINUTE)
      .map((behindMs) => sent(0, behindMs));
    return laws(decider, reports, { runs: 200 });
  }, 120_000);
});
