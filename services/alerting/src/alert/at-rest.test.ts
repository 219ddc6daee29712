import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { given, upgraded } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { PLAIN } from './alerts.fixture.ts';
import { alerts } from './alerts.ts';
import { AT_REST } from './at-rest.ts';
import { NO_GATES } from './gates.ts';
import { consoleOnly } from './routing.ts';

const settings = { groupWaitMs: 30_000, endWaitMs: 0, repeatMs: 14_400_000, routing: consoleOnly };

const without = (state: object, ...fields: readonly string[]): unknown =>
  JSON.parse(JSON.stringify(state, (field, value) => (fields.includes(field) ? undefined : value)));

/** Without the requests of agents. */
const shapeNine = (state: object): unknown => without(state, 'requestId', 'questions', 'itemId', 'askedAt');

test.each([{ afterMs: null }, { afterMs: 60_000 }])('an alert of shape 9 shows no request: %j', (fields) => {
  const alert = given(alerts(settings), EXAMPLE_TIME);
  alert.receive(example(Topic.notify, 'NOTIFY', { ...PLAIN, blocked: null, ticket: null, action: 'raise', ...fields }));
  expect(upgraded(AT_REST, 9, shapeNine(alert.state()))).toEqual(JSON.parse(JSON.stringify(alert.state())));
});

test('an alert of shape 10 shows a request without questions', () => {
  const alert = given(alerts(settings), EXAMPLE_TIME);
  const request = { requestId: 'r-1', options: ['allow', 'deny'], questions: [] };
  alert.receive(
    example(Topic.notify, 'NOTIFY', { ...PLAIN, blocked: null, ...request, ticket: null, action: 'raise' }),
  );
  expect(upgraded(AT_REST, 10, without(alert.state(), 'questions', 'itemId', 'askedAt'))).toEqual(alert.state());
});

test.each([
  ['2 of 2 attempts used: ended: crashed', true],
  ['2 of 2 attempts used: no call for 9 min', false],
])('an alert of shape 13 about a blocked task has its end from the reason: %s', (reason, endedByItself) => {
  const alert = given(alerts(settings), EXAMPLE_TIME);
  const blocked = { attempts: 3, limit: 2, reason, endedByItself };
  alert.receive(example(Topic.notify, 'NOTIFY', { ...PLAIN, blocked, action: 'raise' }));
  expect(upgraded(AT_REST, 13, without(alert.state(), 'endedByItself'))).toEqual(alert.state());
});

test('silences and incidents of shape 9 stay as they are', () => {
  const gates = { ...NO_GATES, incidents: [{ scope: 'fleet', agentIds: ['w1'] }] };
  expect(upgraded(AT_REST, 9, without(gates, 'groups'))).toEqual(gates);
});

test('an alert of shape 11 names no item of the inbox', () => {
  const alert = given(alerts(settings), EXAMPLE_TIME);
  alert.receive(example(Topic.notify, 'NOTIFY', { ...PLAIN, blocked: null, action: 'raise' }));
  expect(upgraded(AT_REST, 11, without(alert.state(), 'itemId', 'askedAt'))).toEqual(alert.state());
});

test('an alert of shape 12 has no time of its question', () => {
  const alert = given(alerts(settings), EXAMPLE_TIME);
  alert.receive(example(Topic.notify, 'NOTIFY', { ...PLAIN, blocked: null, action: 'raise' }));
  expect(upgraded(AT_REST, 12, without(alert.state(), 'askedAt'))).toEqual(alert.state());
});
