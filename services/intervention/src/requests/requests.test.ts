import { type EventOf, Topic } from '@vigil/events';
import { example, EXAMPLE_TIME as START } from '@vigil/events/examples';
import { given, laws, upgraded } from '@vigil/stream/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MOST_OPEN, REQUESTS_AT_REST, type RequestDraft, requests } from './requests.ts';

const MINUTE = 60_000;
const CHOICES = [
  { name: 'allow', label: 'Allow' },
  { name: 'deny', label: 'Deny' },
];
type Opening = Extract<EventOf<typeof Topic.handleRequest>, { type: 'OPEN_REQUEST' }>['payload'];

const open = (requestId = 'r-1', more: Partial<Opening> = {}) =>
  example(Topic.handleRequest, 'OPEN_REQUEST', {
    ...{ requestId, instanceId: 'i1', kind: 'permission', choices: CHOICES, questions: [], atDeadline: 'no_decision' },
    ...{ deadlineAt: START + 10 * MINUTE, heldBy: 'gateway:a', ...more },
  });
const answer = (option = 'allow', more: object = {}) =>
  example(Topic.handleRequest, 'ANSWER_REQUEST', {
    ...{ requestId: 'r-1', instanceId: 'i1', option, answers: [], by: 'ada', ...more },
  });
const QUESTIONS: Opening['questions'] = [
  { name: 'Database', header: 'Database', text: 'Which?', isMultiple: false, options: ['Postgres', 'SQLite'] },
  { name: 'Features', header: 'Features', text: 'Which?', isMultiple: true, options: ['Login', 'Search'] },
].map((one) => ({
  ...one,
  options: one.options.map((label) => ({ label, description: null, preview: null })),
}));
const DATABASE = { question: 'Database', labels: ['SQLite'], text: null };
const FEATURES = { question: 'Features', labels: ['Login', 'Search'], text: 'a cache' };
const questions = (requestId = 'r-1') => open(requestId, { kind: 'question', choices: [], questions: QUESTIONS });
const withdraw = (requestId = 'r-1') =>
  example(Topic.handleRequest, 'WITHDRAW_REQUEST', { requestId, why: 'its hook has ended' });
const started = (previousInstanceId: string | null) =>
  example(Topic.agentHealth, 'INSTANCE_STARTED', { instanceId: 'i2', previousInstanceId });
const terminated = (instanceId: string) =>
  example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { instanceId, to: 'TERMINATED' });

const agent = () => given(requests, START);
const types = (events: readonly RequestDraft[]) => events.map(({ type }) => type);
const refused = (events: readonly RequestDraft[]) =>
  events.map((event) => (event.type === 'ANSWER_REFUSED' ? event.payload.reason : event.type));

test('the first answer decides, and a second one is refused with the name of the first', () => {
  const one = agent();
  expect(one.receive(open())).toMatchObject([{ type: 'REQUEST_OPENED', payload: { requestId: 'r-1', open: 1 } }]);
  expect(one.receive(answer('deny'))).toMatchObject([
    { type: 'REQUEST_ANSWERED', payload: { option: 'deny', by: 'ada', open: 0 } },
  ]);
  expect(one.receive(answer('allow', { by: 'eve' }))).toMatchObject([
    { type: 'ANSWER_REFUSED', payload: { by: 'eve', reason: 'answered', detail: 'ada has answered deny' } },
  ]);
});

test('an answer counts until a millisecond before the deadline, and not at it', () => {
  const inTime = agent();
  inTime.receive(open());
  expect(types(inTime.receive(answer(), START + 10 * MINUTE - 1))).toEqual(['REQUEST_ANSWERED']);
  const late = agent();
  late.receive(open('r-1', { deadlineAt: START + 500 }));
  // No tick has come since, so the answer itself brings the time of the deadline.
  const clock = { ...late.clock(), now: START + 500 };
  expect(refused(late.receive(answer(), clock))).toEqual(['REQUEST_EXPIRED', 'expired']);
});

test('the first complete answer to all questions decides the request', () => {
  const one = agent();
  one.receive(questions());
  const answers = [FEATURES, DATABASE];
  expect(one.receive(answer('', { answers }))).toMatchObject([
    {
      type: 'REQUEST_ANSWERED',
      payload: { option: 'Features: Login, Search, "a cache"; Database: SQLite', answers, by: 'ada', open: 0 },
    },
  ]);
  expect(one.receive(answer('', { by: 'eve', answers: [DATABASE, { ...FEATURES, text: null }] }))).toMatchObject([
    {
      type: 'ANSWER_REFUSED',
      payload: { by: 'eve', reason: 'answered', option: 'Database: SQLite; Features: Login, Search' },
    },
  ]);
});

test('an incomplete or unknown answer is refused with the question, and the request waits on', () => {
  const one = agent();
  one.receive(questions());
  const refusalOf = (answers: readonly object[], option = '') =>
    one.receive(answer(option, { answers })).map((event) => ('reason' in event.payload ? event.payload : event.type));
  expect(refusalOf([DATABASE])).toMatchObject([{ reason: 'incomplete_answer' }]);
  expect(refusalOf([{ ...DATABASE, labels: ['Oracle'] }, FEATURES])).toMatchObject([
    { reason: 'no_such_option', detail: expect.stringContaining('"Database": "Oracle"') },
  ]);
  expect(refusalOf([{ ...DATABASE, labels: ['SQLite', 'Postgres'] }, FEATURES])).toMatchObject([
    { reason: 'too_many_labels' },
  ]);
  expect(refusalOf([], 'SQLite')).toMatchObject([
    { detail: '"SQLite" is not an answer to each of its questions: Database, Features' },
  ]);
  expect(types(one.receive(answer('', { answers: [DATABASE, FEATURES] })))).toEqual(['REQUEST_ANSWERED']);
});

test('a permission takes no answers to questions', () => {
  const one = agent();
  one.receive(open());
  expect(refused(one.receive(answer('allow', { answers: [DATABASE] })))).toEqual(['unknown_question']);
});

test('a request that was open before questions existed takes one of its choices', () => {
  const one = agent();
  one.receive(open());
  const { questions: _, ...request } = one.state().open[0] ?? { questions: [] };
  const state = upgraded(REQUESTS_AT_REST, 1, { ...one.state(), open: [request] });
  expect(state).toEqual(one.state());
});

test('at the deadline the hook returns no decision, unless the policy allows', () => {
  const outcome = (atDeadline: Opening['atDeadline']) => {
    const one = agent();
    one.receive(open('r-1', { atDeadline }));
    expect(one.passTo(START + 10 * MINUTE - 1000)).toEqual([]);
    const [event] = one.passTo(START + 10 * MINUTE);
    return event?.type === 'REQUEST_EXPIRED' ? event.payload.outcome : event?.type;
  };
  expect(outcome('no_decision')).toBe('no_decision');
  expect(outcome('UNKNOWN')).toBe('no_decision');
  expect(outcome('allow')).toBe('allow');
});

test('an answer for another instance, by another option or to an unknown request changes nothing', () => {
  const one = agent();
  one.receive(open());
  expect(refused(one.receive(answer('allow', { instanceId: 'i2' })))).toEqual(['other_instance']);
  expect(refused(one.receive(answer('allow', { instanceId: null })))).toEqual(['other_instance']);
  expect(refused(one.receive(answer('always')))).toEqual(['no_such_option']);
  expect(refused(one.receive(answer('allow', { requestId: 'r-2' })))).toEqual(['unknown_request']);
  expect(types(one.receive(answer()))).toEqual(['REQUEST_ANSWERED']);
});

test('a request whose hook has ended is withdrawn, and an answer after that is refused', () => {
  const one = agent();
  one.receive(open());
  expect(one.receive(withdraw())).toMatchObject([
    { type: 'REQUEST_WITHDRAWN', payload: { why: 'its hook has ended', wasAnswered: false, open: 0 } },
  ]);
  expect(refused(one.receive(answer()))).toEqual(['withdrawn']);
  expect(one.receive(withdraw())).toEqual([]);
});

test('an answer that its hook has not received is reported as not applied, once', () => {
  const one = agent();
  one.receive(open());
  one.receive(answer());
  expect(one.receive(withdraw())).toMatchObject([{ type: 'REQUEST_WITHDRAWN', payload: { wasAnswered: true } }]);
  expect(one.receive(withdraw())).toEqual([]);
});

test('the requests of an instance end with it, and those of its successor stay', () => {
  const one = agent();
  one.receive(open('r-1'));
  one.receive(open('r-2', { instanceId: 'i2' }));
  expect(one.receive(started('i1'))).toMatchObject([{ payload: { requestId: 'r-1', open: 1 } }]);
  expect(one.receive(started(null))).toEqual([]);
  expect(one.receive(terminated('i1'))).toEqual([]);
  expect(one.receive(terminated('i2'))).toMatchObject([{ payload: { requestId: 'r-2', open: 0 } }]);
});

test('the same request again changes nothing, until its hook waits at another ingress', () => {
  const one = agent();
  one.receive(open());
  expect(one.receive(open())).toEqual([]);
  expect(one.receive(open('r-1', { heldBy: 'gateway:b', instanceId: 'i2' }))).toEqual([]);
  const later = { heldBy: 'gateway:b', deadlineAt: START + 90 * MINUTE, atDeadline: 'allow' } as const;
  expect(one.receive(open('r-1', later))).toMatchObject([
    { payload: { open: 1, heldBy: 'gateway:b', deadlineAt: START + 10 * MINUTE, atDeadline: 'no_decision' } },
  ]);
  one.receive(answer());
  expect(one.receive(open('r-1', { heldBy: 'gateway:a' }))).toEqual([]);
});

test('an agent has thirty open requests at most, and a flood is one line', () => {
  const one = agent();
  const flood = Array.from({ length: 1000 }, (_, n) => one.receive(open(`r-${n}`))).flat();
  expect(types(flood).filter((type) => type === 'REQUEST_OPENED')).toHaveLength(MOST_OPEN);
  const refusals = flood.filter((event) => event.type === 'REQUEST_REFUSED');
  expect(refusals).toHaveLength(1000 - MOST_OPEN);
  expect(refusals.filter(({ payload }) => payload.isFirst)).toHaveLength(1);
  one.receive(withdraw('r-0'));
  one.receive(open('r-a'));
  expect(one.receive(open('r-b'))).toMatchObject([{ type: 'REQUEST_REFUSED', payload: { isFirst: false } }]);
});

test('after there was room for half of them, another flood is another line', () => {
  const one = agent();
  for (let n = 0; n <= MOST_OPEN; n += 1) one.receive(open(`r-${n}`));
  for (let n = 0; n < MOST_OPEN / 2; n += 1) one.receive(withdraw(`r-${n}`));
  for (let n = 100; n < 100 + MOST_OPEN / 2; n += 1) one.receive(open(`r-${n}`));
  expect(one.receive(open('r-x'))).toMatchObject([{ type: 'REQUEST_REFUSED', payload: { isFirst: true } }]);
});

test('an agent without open requests is forgotten an hour after the last', () => {
  const one = agent();
  one.receive(open());
  one.receive(answer());
  expect(requests.forgets?.(one.state(), { ...one.clock(), now: START + 60 * MINUTE - 1 })).toBe(false);
  expect(requests.forgets?.(one.state(), { ...one.clock(), now: START + 60 * MINUTE })).toBe(true);
});

test('the state of an agent with thirty open requests fits 32 KiB', () => {
  const one = agent();
  const choices = Array.from({ length: 8 }, (_, n) => ({ name: String(n + 1), label: 'x'.repeat(200) }));
  for (let n = 0; n < 2 * MOST_OPEN; n += 1) {
    one.receive(open(`request-${n}`, { choices, text: 'x'.repeat(1000) }));
    if (n < MOST_OPEN) one.receive(answer('1', { requestId: `request-${n}` }));
  }
  expect(JSON.stringify(one.state()).length).toBeLessThan(32 * 1024);
});

test('the laws of deciders hold', () => {
  const id = fc.constantFrom('r-1', 'r-2', 'r-3');
  const instance = fc.constantFrom('i1', 'i2');
  const deadline = fc.integer({ min: START, max: START + 30 * MINUTE });
  const inputs = fc.oneof(
    fc.tuple(id, instance, deadline).map(([r, instanceId, deadlineAt]) => open(r, { instanceId, deadlineAt })),
    fc.tuple(id, instance).map(([requestId, instanceId]) => answer('allow', { requestId, instanceId })),
    id.map(withdraw),
    instance.map(started),
    instance.map(terminated),
  );
  laws(requests, inputs);
});
