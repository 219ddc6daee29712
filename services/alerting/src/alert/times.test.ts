import { type PayloadOf, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { laws } from '@vigil/stream/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { alerting, PLAIN } from './alerts.fixture.ts';
import { alerts } from './alerts.ts';
import type { Input } from './messages.ts';
import { consoleOnly, SINK_FAILING } from './routing.ts';

type NoticeFields = Partial<PayloadOf<typeof Topic.notify, 'NOTIFY'>>;

const start = EXAMPLE_TIME;
const settings = { groupWaitMs: 30_000, endWaitMs: 0, repeatMs: 4 * 3_600_000, routing: consoleOnly };
const quiet = {
  ...PLAIN,
  route: 'stuck_agent',
  options: [],
  deadlineAt: null,
  caseId: null,
  ticket: null,
  blocked: null,
};
/** `s`: when it happened, whenever it is received. */
const happened = (s: number, fields: NoticeFields): Input => ({
  ...example(Topic.notify, 'NOTIFY', { ...quiet, channels: ['default'], ...fields }),
  eventId: `n${s}`,
  occurredAt: start + s * 1000,
});
const stuck = (s: number, fields: NoticeFields = {}) =>
  happened(s, { action: 'raise', severity: 'warning', text: 'no call', ...fields });
const asking = (s: number) => stuck(s, { caseId: 'case-1', text: 'as planned' });
const over = (s: number, fields: NoticeFields = {}) =>
  happened(s, { action: 'resolve', severity: 'info', text: 'HEALTHY', ...fields });

const open = (groupWaitMs = settings.groupWaitMs) => alerting({ ...settings, groupWaitMs }, start);
type Outputs = ReturnType<ReturnType<typeof open>['receive']>;
const brief = (outputs: Outputs) =>
  outputs.map(({ type, payload }) => `${type}${'deliverAt' in payload && payload.deliverAt !== null ? ' sent' : ''}`);
const isOpen = (alert: ReturnType<typeof open>): boolean => {
  const types = alert.all().map(({ type }) => type);
  return types.lastIndexOf('ALERT_RAISED') > types.lastIndexOf('ALERT_RESOLVED');
};

test('a notification that a case requests is sent even if the alert is over within the group wait; a passing finding is not', () => {
  const alert = open();
  alert.receive(stuck(0));
  expect(brief(alert.receive(asking(1)))).toEqual(['ALERT_UPDATED']);
  expect(brief(alert.receive(over(2)))).toEqual(['ALERT_UPDATED sent', 'ALERT_RESOLVED sent']);
  const passing = open();
  passing.receive(stuck(0));
  expect(brief(passing.receive(over(2)))).toEqual(['ALERT_RESOLVED']);
});

test('unless it is silenced', () => {
  const alert = open();
  const matchers = [{ field: 'route', value: 'stuck_agent' }];
  alert.receive(
    example(Topic.controlAlerts, 'SILENCE_ALERTS', {
      matchers,
      until: start + 60_000,
      by: 'ada',
      why: 'known',
      silenceId: 's1',
    }),
  );
  alert.receive(asking(1));
  expect(brief(alert.receive(over(2)))).toEqual(['ALERT_RESOLVED']);
});

test('an alert that was over before it was read is sent, and resolved: a service that catches up reads one topic before another', () => {
  const alert = open();
  alert.receive(stuck(0));
  alert.receive(over(20));
  expect(brief(alert.receive(asking(10)))).toEqual(['ALERT_RAISED', 'ALERT_UPDATED sent', 'ALERT_RESOLVED sent']);
  expect(alert.passTo(start + 3_600_000)).toEqual([]);
});

test('an earlier end does not end a later raise, and an earlier question adds nothing to it', () => {
  const alert = open(0);
  alert.receive(stuck(0));
  alert.receive(over(20));
  alert.receive(stuck(30));
  expect(brief(alert.receive(over(25)))).toEqual([]);
  expect(brief(alert.receive(asking(10)))).toEqual([]);
  expect(isOpen(alert)).toBe(true);
  expect(brief(alert.receive(over(40)))).toEqual(['ALERT_RESOLVED sent']);
});

test('in the same millisecond the later record counts', () => {
  const alert = open(0);
  alert.receive(stuck(5));
  alert.receive(over(5));
  expect(isOpen(alert)).toBe(false);
  alert.receive(asking(5));
  expect(isOpen(alert)).toBe(true);
});

test("reports of sinks' own processes count in their order: their clocks are their own", () => {
  const alert = open(0);
  alert.receive(stuck(0, { route: SINK_FAILING }));
  alert.receive(over(3600, { route: SINK_FAILING }));
  alert.receive(stuck(10, { route: SINK_FAILING }));
  expect(isOpen(alert)).toBe(true);
});

test('an end of an unknown key is not remembered', () => {
  const alert = open();
  const before = JSON.stringify(alert.state());
  alert.receive(over(20));
  expect(JSON.stringify(alert.state())).toBe(before);
});

describe('an end of an unknown key that is read more than ten seconds late', () => {
  const readAt = start + 40_000;
  const kept = (...ends: readonly Input[]) => {
    const alert = open(0);
    for (const end of ends) expect(alert.receive(end, readAt)).toEqual([]);
    return alert;
  };
  const of = (agentId: string | null, taskId = 'T-1') => ({ agentId, taskId });

  test('ends an earlier raise that is read after it, and no later raise', () => {
    const ended = kept(over(29, of('w1')));
    expect(brief(ended.receive(stuck(20, of('w1'))))).toEqual(['ALERT_RAISED sent', 'ALERT_RESOLVED sent']);
    const raised = kept(over(29, of('w1')));
    raised.receive(stuck(30, of('w1')));
    expect(isOpen(raised)).toBe(true);
  });

  test('ends it for its own agent only; the end of the task ends it for each agent', () => {
    const ofAnother = kept(over(29, of('w2')));
    ofAnother.receive(stuck(20, of('w1')));
    expect(isOpen(ofAnother)).toBe(true);
    const ofTask = kept(over(29, of(null)));
    ofTask.receive(stuck(20, of('w1')));
    ofTask.receive(stuck(21, of('w2')));
    expect(isOpen(ofTask)).toBe(false);
    ofTask.receive(stuck(30, of('w2')));
    expect(isOpen(ofTask)).toBe(true);
  });

  test('also of a route whose alerts have no agent', () => {
    const alert = kept(over(29, { route: 'task_spending' }));
    alert.receive(stuck(20, { route: 'task_spending' }));
    expect(isOpen(alert)).toBe(false);
  });

  test('is kept for an hour; one that is read sooner is not kept', () => {
    const { forgets } = alerts(settings);
    const alert = kept(over(29));
    const clock = alert.clock();
    const until = readAt + 3_600_000;
    expect(forgets?.(alert.state(), { ...clock, now: until - 1 })).toBe(false);
    expect(alerts(settings).dueAt(alert.state(), clock)).toBe(until);
    expect(forgets?.(alert.state(), { ...clock, now: until })).toBe(true);
    expect(kept(over(30)).state()).toEqual(alerts(settings).initial);
  });
});

test('in any order of inputs, an alert is open at the end exactly if the last that happened is a raise', () => {
  const notice = fc.record({ s: fc.nat(50), raises: fc.boolean() });
  const received = fc.uniqueArray(notice, { selector: ({ s }) => s, minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(received, (notices) => {
      const alert = open(0);
      alert.receive(stuck(-1));
      for (const { s, raises } of notices) alert.receive(raises ? asking(s) : over(s));
      const [last] = notices.toSorted((one, other) => other.s - one.s);
      expect(isOpen(alert)).toBe(last?.raises);
    }),
  );
});

test('alerting obeys the laws of deciders in any order of inputs', () => {
  const inputs = fc.tuple(fc.constantFrom(stuck, asking, over), fc.nat(60)).map(([one, s]) => one(s));
  laws(alerts(settings), inputs, { runs: 300 });
});

describe('of two agents of a task', () => {
  const of = (agentId: string) => ({ agentId });
  const raised = (s: number, agentId: string) => stuck(s, of(agentId));
  const ended = (s: number, agentId: string) => over(s, of(agentId));
  const after = (...inputs: readonly Input[]) => {
    const alert = open(0);
    for (const input of inputs) alert.receive(input);
    return isOpen(alert);
  };

  test('the earlier end of the agent that is read last ends the alert', () => {
    expect(after(raised(10, 'w1'), raised(20, 'w2'), ended(25, 'w2'), ended(15, 'w1'))).toBe(false);
    expect(after(raised(10, 'w1'), ended(15, 'w1'), raised(20, 'w2'), ended(25, 'w2'))).toBe(false);
  });

  test('a raise from before the end of the other agent, read after it, keeps the alert open until its own end', () => {
    const late = [raised(10, 'w1'), raised(12, 'w2'), ended(25, 'w1')];
    expect(after(...late)).toBe(true);
    expect(after(...late, ended(26, 'w2'))).toBe(false);
  });

  test('an end that was read before its raise leaves the alert closed for that agent', () => {
    expect(after(raised(10, 'w1'), ended(30, 'w2'), raised(20, 'w2'), ended(40, 'w1'))).toBe(false);
  });

  test('the end of the task ends earlier raises, in any order, and no later raise', () => {
    const release = over(30, { agentId: null });
    expect(after(raised(10, 'w1'), raised(20, 'w2'), release)).toBe(false);
    expect(after(raised(10, 'w1'), raised(40, 'w2'), release)).toBe(true);
    expect(after(raised(10, 'w1'), raised(40, 'w2'), release, ended(50, 'w2'))).toBe(false);
  });
});
