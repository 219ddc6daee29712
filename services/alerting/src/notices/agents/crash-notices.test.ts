import { type PayloadOf, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { alerts } from '../../alert/alerts.ts';
import { consoleOnly } from '../../alert/routing.ts';
import { agentNotices } from '../notices.fixture.ts';

const T = 1_795_305_600_000;
type Filed = PayloadOf<typeof Topic.agentHealth, 'WARRANT_FILED'>;
const WHOLE = example(Topic.agentHealth, 'WARRANT_FILED', {});
const [STEP] = WHOLE.payload.plan;
const planOf = (...steps: readonly string[]) => steps.map((step) => ({ ...STEP, step })) as Filed['plan'];
const evidenceOf = (words: string) => WHOLE.payload.evidence.slice(0, 1).map((one) => ({ ...one, words }));

/** worker-1 has crashed with code 3, without a task, under a plan that recovers. */
const crashed = (more: Partial<Filed> = {}) =>
  example(Topic.agentHealth, 'WARRANT_FILED', {
    ...{ agentId: 'worker-1', taskId: null, parentAgentId: null, endReason: 'crashed', plan: planOf('recover') },
    ...{ evidence: evidenceOf('ended: crashed with exit code 3'), lastOutput: ['out of memory', 'bye'], ...more },
  });
const raised = (more: Partial<Filed> = {}) =>
  agentNotices({ ...crashed(more), policy: { name: 'vigil', hash: 'h' } }).filter(
    ({ payload }) => payload.action === 'raise',
  );

test('a crash without a task is one alert: how it ended, its last lines, the command, and that nothing was restarted', () => {
  const [one, ...others] = raised();
  expect(others).toEqual([]);
  expect(one).toMatchObject({
    key: 'agent_crashed:worker-1',
    payload: { severity: 'warning', title: 'worker-1 crashed, and nothing was restarted', agentId: 'worker-1' },
  });
  for (const part of [
    'ended: crashed with exit code 3',
    'It has no task, so nothing was restarted',
    'vigil run --name worker-1 --health-policy vigil -- COMMAND',
    'out of memory\nbye',
  ])
    expect(one?.payload.text).toContain(part);
});

test.each(['crashed', 'resource_limit', 'lost'] as const)('an end as %s is a crash', (endReason) => {
  expect(raised({ endReason })).toHaveLength(1);
});

test.each([
  ['an end with exit code 0', { endReason: 'finished' }],
  ['an end on request', { endReason: 'explicit' }],
  ['a living agent', { endReason: null }],
  ['an agent with a task, which recovery takes up', { taskId: 'OMN-1' }],
  ['a sub-agent, which its client starts again', { parentAgentId: 'worker-0' }],
  ['a policy whose plan alerts by itself', { plan: planOf('alert', 'recover') }],
  ['a policy that does nothing after a crash', { plan: [] }],
] as const)('no alert of a crash: %s', (_, more) => {
  expect(raised(more as Partial<Filed>)).toEqual([]);
});

test('the alert is raised once, stays when the case ends, and is over when the agent starts again, also on a task', () => {
  const alert = given(alerts({ groupWaitMs: 30_000, endWaitMs: 0, repeatMs: 4 * 3_600_000, routing: consoleOnly }), T);
  const report = (event: Parameters<typeof agentNotices>[0], at: number) =>
    agentNotices(event)
      .filter(({ key }) => key.startsWith('agent_crashed'))
      .flatMap(({ key, payload }) =>
        alert.receive({ ...example(Topic.notify, 'NOTIFY', payload), key, occurredAt: at }, at),
      );
  const closed = { agentId: 'worker-1', taskId: null, instanceEnded: true };
  expect(report(crashed(), T)).toMatchObject([{ type: 'ALERT_RAISED' }]);
  expect(report(example(Topic.agentIntervention, 'CASE_CLOSED', closed), T + 1)).toEqual([]);
  const started = example(Topic.agentHealth, 'INSTANCE_STARTED', { agentId: 'worker-1', taskId: 'OMN-1' });
  expect(report(started, T + 2)).toMatchObject([{ type: 'ALERT_RESOLVED' }]);
});
