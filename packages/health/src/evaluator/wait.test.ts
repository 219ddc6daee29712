import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { given, laws } from '@vigil/stream/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { brief, call, type HeartbeatPayload, heartbeat, policyOf, T0 } from '../fixture.ts';
import { type Announcement, agentHealth, type Observation } from './health.ts';

const MINUTE = 60_000;
const LIMIT = 30 * MINUTE;

const policy = (awaiting = '{ alert_after: 30m }', more = '') =>
  policyOf(`
policy: waits
signals: { no_activity: { after: 5m } }
states: { STUCK: [no_activity] }
exemptions: { awaiting_input: ${awaiting} }
plans: [{ when: STUCK, do: [nudge: { attempts: 1, interval: 1m }, terminate: {}] }]
${more}
`);
const decider = agentHealth(policy());

type WaitingFor = NonNullable<HeartbeatPayload['waiting_for']>;
const asking = (text: string | null, kind: WaitingFor['kind'] = 'permission', since: number | null = null) =>
  ({ activity: 'awaiting_input', waiting_for: { kind, text, since } }) as const;
const working = { activity: 'working', waiting_for: null } as const;
const hold: Observation = {
  ...example(Topic.agentObservation, 'HOLD_AGENT', { agentId: 'a1', until: null }),
  key: 'a1',
};
const release: Observation = { ...example(Topic.agentObservation, 'RELEASE_AGENT', { agentId: 'a1' }), key: 'a1' };

/** An agent at work that begins to wait a second after T0. */
const waiting = (more: Partial<HeartbeatPayload> = asking('Run rm -rf build?'), of = decider) => {
  const agent = given(of, T0);
  agent.receive(heartbeat(0, { ...working, tool_calls: [call('c1')] }), T0);
  agent.receive(heartbeat(1000, more), T0 + 1000);
  return agent;
};
const BEGAN = T0 + 1000;
const waits = (emitted: readonly Announcement[]) => brief(emitted).filter((one) => one.startsWith('WAIT'));
const findings = (emitted: readonly Announcement[]) =>
  emitted.filter(({ type }) => /WARRANT|HEALTH_STATE|TICKET/.test(type));

describe('an agent that waits for a person', () => {
  test('for exactly the limit is not reported; a millisecond later it is reported once, with its question', () => {
    const agent = waiting();
    expect(waits(agent.passTo(BEGAN + LIMIT))).toEqual([]);
    const emitted = agent.passTo(BEGAN + LIMIT + 1);
    expect(waits(emitted)).toEqual(['WAIT_OVERDUE Run rm -rf build?']);
    expect(emitted.find(({ type }) => type === 'WAIT_OVERDUE')?.payload).toMatchObject({
      ...{ agentId: 'a1', taskId: 'T-1', since: BEGAN, limitMs: LIMIT, kind: 'permission' },
    });
    for (let ms = LIMIT + 2000; ms < 3 * LIMIT; ms += MINUTE)
      agent.receive(heartbeat(ms, asking('Run rm -rf build?')), T0 + ms);
    expect(waits(agent.all())).toHaveLength(1);
  });

  test('causes no finding, however long it waits', () => {
    const agent = waiting();
    agent.passTo(BEGAN + 48 * 60 * MINUTE);
    expect(findings(agent.all())).toEqual([]);
    expect(agent.all().map(({ type }) => type)).toContain('WAIT_OVERDUE');
  });

  test('and continues is reported once as no longer waiting; one that was never overdue is not', () => {
    const agent = waiting();
    agent.passTo(BEGAN + LIMIT + 1);
    expect(waits(agent.receive(heartbeat(LIMIT + 5000, working), T0 + LIMIT + 5000))).toEqual([
      'WAIT_ENDED it waits no longer',
    ]);
    expect(waits(agent.receive(heartbeat(LIMIT + 6000, working), T0 + LIMIT + 6000))).toEqual([]);
    const quick = waiting();
    expect(waits(quick.receive(heartbeat(2000, working), T0 + 2000))).toEqual([]);
  });

  test('again is counted again: after work, for another question, and for the same one asked again', () => {
    const again: readonly [Partial<HeartbeatPayload>, Partial<HeartbeatPayload> | null, Partial<HeartbeatPayload>][] = [
      [asking('A'), working, asking('A')],
      [asking('A'), null, asking('B')],
      [asking('A', 'permission', T0), null, asking('A', 'permission', T0 + 60_000)],
    ];
    for (const [first, between, second] of again) {
      const agent = waiting(first);
      if (between !== null) agent.receive(heartbeat(LIMIT - 2000, between), T0 + LIMIT - 2000);
      agent.receive(heartbeat(LIMIT - 1000, second), T0 + LIMIT - 1000);
      agent.passTo(T0 + 2 * LIMIT - 1000);
      expect(waits(agent.all())).toEqual([]);
      expect(waits(agent.passTo(T0 + 2 * LIMIT - 999))).toHaveLength(1);
    }
  });

  test('is not counted again if its screen shows a slightly different start, or a report omits the start', () => {
    const agent = waiting(asking('A', 'dialog', T0));
    agent.receive(heartbeat(MINUTE, asking('A', 'dialog', T0 + 3)), T0 + MINUTE);
    agent.receive(heartbeat(2 * MINUTE, { activity: null, waiting_for: null }), T0 + 2 * MINUTE);
    agent.passTo(BEGAN + LIMIT);
    expect(waits(agent.passTo(BEGAN + LIMIT + 1))).toEqual(['WAIT_OVERDUE A']);
  });

  test('ends one overdue wait before it begins the next', () => {
    const agent = waiting();
    agent.passTo(BEGAN + LIMIT + 1);
    const announcedAt = T0 + 2 * LIMIT;
    expect(waits(agent.receive(heartbeat(2 * LIMIT, asking('And now?')), announcedAt))).toEqual([
      'WAIT_ENDED it waits for something else',
    ]);
    expect(waits(agent.passTo(announcedAt + LIMIT + 1))).toEqual(['WAIT_OVERDUE And now?']);
  });

  test('waits no longer once its end is reported; nor does the next instance', () => {
    const exited: Observation = {
      ...example(Topic.agentObservation, 'AGENT_EXITED', { agentId: 'a1', instanceId: 'a1.i1', reason: 'crashed' }),
      key: 'a1',
    };
    const dead = waiting();
    dead.passTo(BEGAN + LIMIT + 1);
    expect(waits(dead.receive(exited, T0 + LIMIT + 5000))).toEqual(['WAIT_ENDED it has ended']);
    const replaced = waiting();
    replaced.passTo(BEGAN + LIMIT + 1);
    const next = { ...asking('Run rm -rf build?'), instance_id: 'a1.i2' };
    const emitted = replaced.receive(heartbeat(LIMIT + 5000, next), T0 + LIMIT + 5000);
    expect(waits(emitted)).toEqual(['WAIT_ENDED another instance has started']);
    expect(emitted.find(({ type }) => type === 'WAIT_ENDED')?.payload).toMatchObject({ instanceId: 'a1.i1' });
  });

  test('while a person holds the agent, the wait is not reported; it is reported at once when the agent is released and still waits', () => {
    const agent = waiting();
    agent.receive(hold, T0 + 2000);
    agent.passTo(BEGAN + 2 * LIMIT);
    expect(waits(agent.all())).toEqual([]);
    expect(waits(agent.receive(release, BEGAN + 2 * LIMIT + 1))).toEqual(['WAIT_OVERDUE Run rm -rf build?']);
    expect(waits(agent.receive(hold, BEGAN + 3 * LIMIT))).toEqual(['WAIT_ENDED a person holds it']);
  });

  test('and is paused does not wait during the pause', () => {
    const agent = waiting();
    agent.receive(heartbeat(MINUTE, { activity: 'paused', waiting_for: null }), T0 + MINUTE);
    agent.passTo(T0 + 3 * LIMIT);
    expect(waits(agent.all())).toEqual([]);
  });

  test('is reported even without a runtime, a task, or the text of its question', () => {
    const bare = { runtime_id: null, task_id: null, activity: 'awaiting_input', waiting_for: null } as const;
    const agent = given(decider, T0);
    agent.receive(heartbeat(0, bare), T0);
    agent.passTo(T0 + LIMIT);
    expect(waits(agent.all())).toEqual([]);
    expect(waits(agent.passTo(T0 + LIMIT + 1))).toEqual(['WAIT_OVERDUE null']);
  });

  test('is not reported in unwatched time', () => {
    const agent = waiting();
    agent.unwatched(2 * LIMIT);
    agent.passTo(BEGAN + 2 * LIMIT + LIMIT);
    expect(waits(agent.all())).toEqual([]);
    expect(waits(agent.passTo(BEGAN + 2 * LIMIT + LIMIT + 1))).toHaveLength(1);
  });

  test('is not reported if the policy has no limit or no such exemption, or excludes the agent', () => {
    for (const of of [policy('{}'), policy('false'), policy(undefined, "exclude: ['^a1$']")]) {
      const agent = waiting(undefined, agentHealth(of));
      agent.passTo(BEGAN + 10 * LIMIT);
      expect(waits(agent.all())).toEqual([]);
    }
  });

  test('is forgotten only after its alert is over', () => {
    const agent = waiting();
    const week = 7 * 24 * 60 * MINUTE;
    agent.passTo(BEGAN + week - 1);
    expect(waits(agent.all())).toEqual(['WAIT_OVERDUE Run rm -rf build?']);
    expect(waits(agent.passTo(BEGAN + week))).toEqual(['WAIT_ENDED it has ended']);
  });

  test('is announced once, in time and deterministically, with any reports', () => {
    const reports = fc
      .constantFrom<Partial<HeartbeatPayload>>(
        asking('A'),
        asking('B'),
        asking('A', 'dialog', T0),
        asking('A', 'dialog', T0 + 5000),
        asking(null),
        working,
        { activity: 'paused', waiting_for: null },
        { activity: 'awaiting_input', waiting_for: null },
      )
      .map((more) => heartbeat(0, { ...more, tool_calls: [call('c1')] }));
    return laws(agentHealth(policy('{ alert_after: 20s }')), reports, { runs: 200 });
  }, 120_000);
});

describe('a wait of an agent whose runtime falls silent', () => {
  const TRUSTED = 15 * MINUTE;
  const reported = { ...asking('Run rm -rf build?'), reporter: 'runtime' } as const;

  test('is not reported if it becomes overdue when the runtime is no longer trusted', () => {
    const agent = waiting(reported);
    agent.receive(heartbeat(15 * MINUTE, reported), T0 + 15 * MINUTE);
    expect(waits(agent.passTo(T0 + 24 * 60 * MINUTE))).toEqual([]);
  });

  test('is reported while the runtime is trusted, and is over when it is no longer trusted', () => {
    const agent = waiting(reported);
    for (let ms = 5 * MINUTE; ms <= 20 * MINUTE; ms += 5 * MINUTE) agent.receive(heartbeat(ms, reported), T0 + ms);
    expect(waits(agent.passTo(BEGAN + LIMIT + 1))).toEqual(['WAIT_OVERDUE Run rm -rf build?']);
    expect(waits(agent.passTo(T0 + 20 * MINUTE + TRUSTED - 1))).toEqual([]);
    const emitted = agent.passTo(T0 + 20 * MINUTE + TRUSTED);
    expect(emitted.find(({ type }) => type === 'WAIT_ENDED')?.payload).toMatchObject({
      why: 'its runtime has fallen silent',
    });
  });
});
