import { expect, test } from 'vitest';
import {
  admit,
  health,
  left,
  openStory,
  recorded,
  recoverTask,
  TASK,
  took,
  turned,
  withhold,
} from '../task/story.fixture.ts';
import { stallOf } from './omniclaude-healthcheck.ts';

test('omniclaude’s event reports each change of status, checkpoint and action, and nothing else', () => {
  const story = openStory();
  story.receive(recorded('c1'));
  const stalled = story.receive(recoverTask({}, { emitHealthcheck: true }));
  expect(stalled.at(-1)).toMatchObject({ topic: 'onex.evt.omniclaude.agent-healthcheck.v1', key: TASK });
  expect(stalled.at(-1)?.payload).toEqual({
    type: 'agent_healthcheck',
    ticket_id: 'OMN-1234',
    agent_id: 'worker-1',
    status: 'stalled',
    stall_reason: 'inactivity',
    idle_minutes: 3.2,
    context_usage_pct: null,
    checkpoint_path: '/state/c1.yaml',
    recovery_action: 'none',
    timestamp_utc: '2026-11-22T00:00:00Z',
  });
  expect(admit(story)).toMatchObject([
    { type: 'RECOVERY_INITIATED' },
    { type: 'SPAWN_AGENT' },
    { payload: { agent_id: 'worker-1', status: 'stalled', recovery_action: 'relaunch_fresh_agent' } },
  ]);
  expect(story.receive(took('worker-1-r1'))[1]?.payload).toMatchObject({
    status: 'recovered',
    recovery_action: 'none',
    agent_id: 'worker-1-r1',
  });
  expect(story.receive(recorded('c2', null, 'worker-1-r1'))).toMatchObject([
    { payload: { status: 'recovered', checkpoint_path: '/state/c2.yaml' } },
  ]);
  expect(story.receive(recorded('c2', null, 'worker-1-r1'))).toEqual([]);
  expect(story.receive(turned('worker-1-r1', 'STUCK'))).toMatchObject([
    { payload: { status: 'stalled', recovery_action: 'none' } },
  ]);
  expect(story.receive(turned('worker-1-r1', 'HEALTHY'))).toMatchObject([{ payload: { status: 'recovered' } }]);
  expect(story.wait(900_000)[1]?.payload).toMatchObject({ status: 'healthy', stall_reason: null });
  expect(story.receive(turned('worker-1-r1', 'STUCK'))).toMatchObject([
    { payload: { status: 'stalled', recovery_action: 'none' } },
  ]);
  expect(story.receive(left('worker-1-r1', 'finished'))).toHaveLength(1);
});

const unusual = {
  ...{
    signal: '',
    axis: 'cost',
    words: '',
    onsetAt: null,
    value: null,
    limit: null,
    hard: false,
    matched: null,
    confidence: 'UNKNOWN' as const,
  },
} as const;

test('an attempt reports its own reason and figures, not those of the agent before it', () => {
  const story = openStory();
  story.receive(recoverTask({}, { emitHealthcheck: true }));
  admit(story);
  story.receive(took('worker-1-r1'));
  const evidence = { ...unusual, signal: 'context_exhausted', axis: 'cost' } as const;
  const stuck = health({
    ...{ agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1', to: 'STUCK' },
    ...{ idleMinutes: 0.5, contextUsagePct: 91, evidence: [evidence] },
  });
  expect(story.receive(stuck)).toMatchObject([
    { payload: { status: 'stalled', stall_reason: 'context_overflow', idle_minutes: 0.5, context_usage_pct: 91 } },
  ]);
});

test('a stall is reported when it is found, before any action, and so is its end; health alone is not reported', () => {
  const reports = { emitHealthcheck: true } as const;
  const as = (to: 'STUCK' | 'DEGRADED' | 'HEALTHY', more: object = reports) => health({ to, ...more });
  const story = openStory();
  expect(story.receive(health({ hold: 'took', ...reports }))).toEqual([]);
  expect(story.receive(recorded('c1'))).toEqual([]);
  expect(story.receive(as('DEGRADED'))).toEqual([]);
  const evidence = [{ ...unusual, signal: 'no_calls', axis: 'absence' } as const];
  expect(story.receive(as('STUCK', { ...reports, idleMinutes: 2.5, evidence }))).toMatchObject([
    {
      payload: {
        ...{ agent_id: 'worker-1', status: 'stalled', stall_reason: 'inactivity', idle_minutes: 2.5 },
        ...{ checkpoint_path: '/state/c1.yaml', recovery_action: 'none' },
      },
    },
  ]);
  expect(story.receive(as('DEGRADED'))).toEqual([]);
  expect(story.receive(as('HEALTHY'))).toMatchObject([{ payload: { status: 'healthy', stall_reason: null } }]);
  const quiet = openStory();
  expect(quiet.receive(as('STUCK', {}))).toEqual([]);
});

test('in review the event is stalled, with no action', () => {
  const story = openStory();
  story.receive(recoverTask({}, { emitHealthcheck: true }));
  const emitted = withhold(story, 'budget');
  // It was so before, and only a change is an event.
  expect(emitted.map(({ type }) => type)).not.toContain('AGENT_HEALTHCHECK');
  const relaunched = openStory();
  relaunched.receive(recoverTask({}, { emitHealthcheck: true, maxAttempts: 1 }));
  admit(relaunched);
  expect(relaunched.wait(600_000).at(-1)?.payload).toMatchObject({ status: 'stalled', recovery_action: 'none' });
});

test('the action is a relaunch from the order to spawn on, and none while the relaunch is withheld or has failed', () => {
  const actions = (outputs: readonly { readonly type: string; readonly payload: object }[]) =>
    outputs.flatMap(({ type, payload }) =>
      type === 'AGENT_HEALTHCHECK' && 'recovery_action' in payload ? [payload.recovery_action] : [],
    );
  const story = openStory();
  expect(actions(story.receive(recoverTask({}, { emitHealthcheck: true })))).toEqual(['none']);
  expect(actions(withhold(story, 'halted'))).toEqual([]);
  story.wait(600_000);
  expect(actions(admit(story))).toEqual(['relaunch_fresh_agent']);
  // No first heartbeat comes in time, so the attempt has failed.
  expect(actions(story.wait(600_000))[0]).toBe('none');
});

test('the event is never written where the policy does not emit it', () => {
  const story = openStory();
  expect(story.receive(recoverTask())).toHaveLength(1);
});

test('of several reasons the priority is inactivity, context, rate limit', () => {
  expect(stallOf('rate_limited + context_exhausted + no_calls')).toBe('inactivity');
  expect(stallOf('rate_limited + context_exhausted')).toBe('context_overflow');
  expect(stallOf('rate_limited')).toBe('rate_limit');
  expect(stallOf('crashed')).toBeNull();
});

test('evidence in words has the same reasons', () => {
  expect(stallOf('no call for 2 min 1 s; limit 2 min')).toBe('inactivity');
  expect(stallOf('82 % of the context used; limit 80 %; no call for 3 min; limit 2 min')).toBe('inactivity');
  expect(stallOf('nothing received for 2 min; limit 1 min')).toBe('inactivity');
  expect(stallOf('82 % of the context used; limit 80 %')).toBe('context_overflow');
  expect(stallOf('rate-limited for another 45 s')).toBe('rate_limit');
  expect(stallOf('ended: crashed')).toBeNull();
});
