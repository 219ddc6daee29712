import { expect, test } from 'vitest';
import { TryLater, Undeliverable } from '../delivery/sink.ts';
import { ntfy } from './ntfy.ts';
import {
  alertEvent,
  answeredEvent,
  answeringWith,
  brakeAlert,
  escalation,
  failureOf,
  numberedQuestion,
  permissionRequest,
  type Received,
  resolvedEvent,
  severalQuestions,
  sinkDeps,
  ticketAlert,
} from './sinks.fixture.ts';

const TOKEN = 'tk_hunter2hunter2';
const open = (url: string, settings = {}) =>
  ntfy.open('phone', ntfy.settings.parse({ kind: 'ntfy', url, topic: 'vigil', ...settings }), {
    ...sinkDeps,
    env: { NTFY_TOKEN: TOKEN },
  });
const bodyOf = (received: readonly Received[], at = 0) => JSON.parse(received[at]?.body ?? '{}');

test('the lines of a text stay lines on the phone, without control characters', async () => {
  await using server = await answeringWith(200, { id: 'x', event: 'message' });
  await open(server.url).deliver(alertEvent({ text: 'its last output:\nKeyError: 7\u001b[31m' }));
  expect(bodyOf(server.received).message).toBe('its last output:\nKeyError: 7 [31m');
});

test('a notification is one POST of JSON, and later messages of the alert replace it on the phone', async () => {
  await using server = await answeringWith(200, { id: 'x', event: 'message' });
  const sink = open(server.url, { token_env: 'NTFY_TOKEN' });
  await sink.deliver(alertEvent());
  await sink.deliver(resolvedEvent());
  expect(server.received[0]?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}` });
  const { alertId } = alertEvent().payload;
  expect(bodyOf(server.received)).toEqual({
    topic: 'vigil',
    title: 'worker-1 is STUCK',
    message: 'no call',
    sequence_id: alertId,
    priority: 4,
    tags: ['rotating_light', 'stuck_agent'],
    click: 'http://127.0.0.1:7420',
  });
  expect(bodyOf(server.received, 1)).toMatchObject({
    sequence_id: alertId,
    title: 'Resolved: worker-1 is STUCK',
    priority: 2,
  });
});

test('a request of an agent has buttons, and the answer to a question replaces them without a sound', async () => {
  await using server = await answeringWith(200, { id: 'x', event: 'message' });
  const sink = open(server.url);
  await sink.deliver(permissionRequest());
  await sink.deliver(answeredEvent());
  expect(bodyOf(server.received)).toMatchObject({ priority: 4, actions: [{ label: 'Allow' }, { label: 'Deny' }] });
  expect(bodyOf(server.received, 1)).toMatchObject({ priority: 2 });
  expect(bodyOf(server.received, 1).actions).toBeUndefined();
  expect(bodyOf(server.received, 1).sequence_id).toBe(bodyOf(server.received).sequence_id);
});

test('the buttons of a question with numbered choices have the words of its choices', async () => {
  await using server = await answeringWith(200, {});
  await open(server.url).deliver(numberedQuestion());
  expect(bodyOf(server.received).actions).toMatchObject([{ label: 'Login' }, { label: 'Search' }]);
});

test('several questions have a link to the page, and no buttons', async () => {
  await using server = await answeringWith(200, {});
  await open(server.url).deliver(severalQuestions());
  expect(bodyOf(server.received).actions).toEqual([
    { action: 'view', label: 'Answer on the page', url: 'http://127.0.0.1:7420/#/inbox' },
  ]);
});

test('the brake has a link to the page and its command, because only an operator lifts it', async () => {
  await using server = await answeringWith(200, {});
  await open(server.url).deliver(brakeAlert());
  const { actions, message } = bodyOf(server.received);
  expect(actions).toEqual([{ action: 'view', label: 'Lift it on the page', url: 'http://127.0.0.1:7420/#/inbox' }]);
  expect(message).toContain('to be lifted by `vigil brake lift`');
});

test('a question has a button for each choice, three at most, which posts to its link', async () => {
  await using server = await answeringWith(200, {});
  await open(server.url).deliver(escalation());
  const { actions, priority } = bodyOf(server.received);
  expect(priority).toBe(5);
  expect(actions.map(({ label }: { label: string }) => label)).toEqual(['Allow more time', 'Pardon']);
  expect(actions[0]).toMatchObject({ action: 'http', method: 'POST', clear: true });
  expect(actions[0].url).toMatch(/^http:\/\/127\.0\.0\.1:7420\/v1\/decision\?link=/);
  await open(server.url).deliver(alertEvent({ options: ['a', 'b', 'c', 'd'], caseId: 'case-1' }));
  expect(bodyOf(server.received, 1).actions).toHaveLength(3);
});

test('a topic without a token has no header of authorization', async () => {
  await using server = await answeringWith(200, {});
  await open(server.url).deliver(alertEvent());
  expect(server.received[0]?.headers.authorization).toBeUndefined();
});

test('a limited rate is waited out for as long as the server requests', async () => {
  const limited = { code: 42901, http: 429, error: 'limit reached: too many requests' };
  await using server = await answeringWith(429, limited, { 'retry-after': '30' });
  const error = await failureOf(open(server.url).deliver(alertEvent()));
  expect(error).toBeInstanceOf(TryLater);
  expect(error).toMatchObject({ afterMs: 30_000 });
});

test('a refused token is a permanent error that does not contain it', async () => {
  await using server = await answeringWith(403, { code: 40301, http: 403, error: 'forbidden' });
  const error = await failureOf(open(server.url, { token_env: 'NTFY_TOKEN' }).deliver(alertEvent()));
  expect(error).toBeInstanceOf(Undeliverable);
  expect((error as Error).message).toContain('give it a token of the server');
  expect((error as Error).message).not.toContain('hunter2');
});

test('a missing token is refused with what to set', () => {
  expect(() => open('http://127.0.0.1:1', { token_env: 'NOWHERE' })).toThrow(
    'channels.phone.token_env: NOWHERE is not set: set it to a token',
  );
  expect(() => open('http://127.0.0.1:1', { token_file: '/nowhere/token' })).toThrow(/token_file: .* cannot be read/);
});

test('a message has the id of its item, also where a long text is cut', async () => {
  await using server = await answeringWith(200, { id: 'x', event: 'message' });
  const sink = open(server.url);
  await sink.deliver(ticketAlert());
  await sink.deliver(alertEvent({ itemId: 'task/T-1', text: `why\n${'x'.repeat(2000)}` }));
  await sink.deliver(alertEvent({ itemId: 'case/case-1', text: 'no call; case/case-1 of `vigil inbox`' }));
  const messages = server.received.map((_, at) => bodyOf(server.received, at).message);
  expect(messages[0]).toBe('no call; ticket/t-1 of `vigil inbox`');
  expect(messages[1]).toMatch(/x…\ntask\/T-1 of `vigil inbox`$/);
  expect(messages[1]).toHaveLength(1000);
  expect(messages[2]).toBe('no call; case/case-1 of `vigil inbox`');
  expect(bodyOf(server.received)).toMatchObject({ actions: [{ label: 'Acknowledge', method: 'POST' }] });
});
