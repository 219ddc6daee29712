import { type PayloadOf, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { laws } from '@vigil/stream/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alerting, PLAIN } from './alerts.fixture.ts';
import { alerts } from './alerts.ts';
import { type Gates, NO_GATES } from './gates.ts';
import type { Input } from './messages.ts';
import { consoleOnly, GATES_KEY } from './routing.ts';

type NoticeFields = Partial<PayloadOf<typeof Topic.notify, 'NOTIFY'>>;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const start = EXAMPLE_TIME;
const settings = { groupWaitMs: 30_000, endWaitMs: 0, repeatMs: 4 * HOUR, routing: consoleOnly };

const notice = (fields: NoticeFields): Input => ({
  ...example(Topic.notify, 'NOTIFY', {
    ...{ ...PLAIN, route: 'stuck_agent', agentId: 'w1', taskId: 'T-1', labels: {}, caseId: null, options: [] },
    ...{ deadlineAt: null, ticket: null, blocked: null, channels: ['default'], severity: 'warning', ...fields },
  }),
  occurredAt: start,
});
const raised = (fields: NoticeFields = {}) => notice({ action: 'raise', ...fields });
const over = () => notice({ action: 'resolve', text: 'HEALTHY' });
const brake = (scope: string | null, agentIds: readonly string[] = []) =>
  notice({ action: 'inhibit', route: GATES_KEY, agentId: null, taskId: null, scope, agentIds });
const released = () => notice({ action: 'release', route: GATES_KEY, agentId: null, taskId: null });
const silenced = (matchers: readonly { field: string; value: string }[], until: number, silenceId = 's1') =>
  example(Topic.controlAlerts, 'SILENCE_ALERTS', { matchers, until, by: 'ada', why: 'known', silenceId });

const open = () => alerting(settings, start);
const sent = (outputs: readonly { readonly payload: object }[]) =>
  outputs.filter(({ payload }) => 'deliverAt' in payload && payload.deliverAt !== null);

test.each([
  ['of the whole fleet', brake('fleet'), {}],
  ['that names it', brake('host:h1', ['w1']), {}],
  ['of its host', brake('host:h1'), { labels: { host: 'h1' } }],
])(
  'the alert of an agent in an incident %s exists, and is delivered when the brake is released',
  (_, engaged, fields) => {
    const alert = open();
    expect(alert.receive(raised(fields))).toMatchObject([{ type: 'ALERT_RAISED', payload: { deliverAt: null } }]);
    alert.receive(engaged);
    expect(sent(alert.passTo(start + HOUR))).toEqual([]);
    alert.receive(released());
    expect(sent(alert.passTo(start + HOUR + 1000))).toHaveLength(1);
  },
);

test.each([
  ['of another host', { labels: { host: 'h2' } }],
  ['that is a review of its task', { route: 'recovery_failed', labels: { host: 'h1' } }],
  ['that asks a question', { labels: { host: 'h1' }, options: ['pardon'], caseId: 'case-1' }],
  ['without an agent', { agentId: null }],
] as const)('an alert %s is delivered while the brake is on', (_, fields) => {
  const alert = open();
  alert.receive(brake('host:h1'));
  alert.receive(raised(fields));
  expect(sent(alert.passTo(start + MINUTE))).toHaveLength(1);
});

test('500 agents that fall silent at once are one message: that of the incident', () => {
  const incident = open();
  const lost = Array.from({ length: 500 }, (_, n) => `w${n}`);
  const messages = Array.from({ length: 500 }, (_, n) => {
    const alert = open();
    alert.receive(raised({ agentId: `w${n}`, taskId: `T-${n}` }));
    alert.receive(brake('fleet', lost));
    return sent(alert.passTo(start + HOUR)).length;
  }).reduce((sum, count) => sum + count, 0);
  incident.receive(brake('fleet', lost));
  incident.receive(raised({ route: 'fleet_brake', agentId: null, taskId: null, severity: 'critical' }));
  expect(messages + sent(incident.passTo(start + HOUR)).length).toBe(1);
});

test('an incident of the fleet holds back the alerts of the agents that it names, and no other', () => {
  for (const [agentId, delivered] of [
    ['w1', 0],
    ['w2', 1],
  ] as const) {
    const alert = open();
    alert.receive(brake('fleet', ['w1']));
    alert.receive(raised({ agentId }));
    expect(sent(alert.passTo(start + HOUR))).toHaveLength(delivered);
  }
});

test('an incident that grows covers the agents of all its reports: the first and the last of 500', () => {
  for (const n of [0, 499]) {
    const alert = open();
    for (let lost = 0; lost < 500; lost += 2) alert.receive(brake('host:h1', [`w${lost}`, `w${lost + 1}`]));
    alert.receive(raised({ agentId: `w${n}` }));
    expect(sent(alert.passTo(start + MINUTE))).toEqual([]);
  }
  const other = open();
  for (let lost = 0; lost < 500; lost += 2) other.receive(brake('host:h1', [`w${lost}`, `w${lost + 1}`]));
  other.receive(raised({ agentId: 'w500' }));
  expect(sent(other.passTo(start + MINUTE))).toHaveLength(1);
});

test('an incident holds back its agents for as long as the brake is on', () => {
  const alert = open();
  alert.receive(brake('fleet'));
  alert.receive(raised());
  expect(sent(alert.passTo(start + HOUR))).toEqual([]);
  alert.unwatched(8 * DAY);
  expect(sent(alert.passTo(start + HOUR + 8 * DAY + MINUTE))).toEqual([]);
});

test('a silence applies to every alert that it matches, by fields and labels, until its end', () => {
  const team = [{ field: 'team', value: 'red' }];
  const matching = open();
  matching.receive(silenced(team, start + HOUR));
  matching.receive(raised({ labels: { team: 'red' } }));
  expect(sent(matching.passTo(start + HOUR - 1))).toEqual([]);
  expect(sent(matching.passTo(start + HOUR + 1000))).toHaveLength(1);
  const other = open();
  other.receive(silenced(team, start + HOUR));
  other.receive(raised({ labels: { team: 'blue' } }));
  expect(sent(other.passTo(start + MINUTE))).toHaveLength(1);
});

test('of two silences the later end counts; one that is set again replaces itself', () => {
  const alert = open();
  const route = [{ field: 'route', value: 'stuck_agent' }];
  alert.receive(silenced(route, start + HOUR, 's1'));
  alert.receive(silenced(route, start + 2 * HOUR, 's2'));
  alert.receive(raised());
  expect(sent(alert.passTo(start + HOUR + MINUTE))).toEqual([]);
  alert.receive(silenced(route, start + HOUR, 's2'));
  expect(sent(alert.passTo(start + HOUR + 2 * MINUTE))).toHaveLength(1);
});

test('the end of a silenced alert is sent to the sinks that received its start', () => {
  const alert = open();
  alert.receive(raised());
  alert.passTo(start + MINUTE);
  alert.receive(silenced([{ field: 'route', value: 'stuck_agent' }], start + HOUR));
  alert.receive({ ...over(), occurredAt: start + MINUTE } as Input);
  expect(sent(alert.passTo(start + 2 * MINUTE))).toMatchObject([{ type: 'ALERT_RESOLVED' }]);
});

test('under a silence and an incident alerting obeys the laws of deciders', () => {
  const gates: Gates = {
    ...NO_GATES,
    silences: [{ silenceId: 's1', matchers: [{ field: 'taskId', value: 'T-1' }], until: start + 2 * HOUR }],
    incidents: [{ scope: 'host:h1', agentIds: ['w2'] }],
  };
  const inputs = fc.oneof(
    fc
      .record({ taskId: fc.constantFrom('T-1', 'T-2'), agentId: fc.constantFrom('w1', 'w2') })
      .map((fields) => raised(fields)),
    fc.constant(over()),
  );
  laws(alerts(settings, gates), inputs, { runs: 200 });
});

test('the state of the gates obeys the laws of deciders', () => {
  const route = [{ field: 'route', value: 'stuck_agent' }];
  const inputs = fc.oneof(
    fc.integer({ min: -1000, max: HOUR }).map((ms) => silenced(route, start + ms)),
    fc.constant(brake('fleet')),
    fc.constant(released()),
  );
  laws(alerts(settings), inputs, { runs: 200 });
});
