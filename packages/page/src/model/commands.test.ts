import { expect, test } from 'vitest';
import { defaultReason, isAsked, mayUse, type Sent, whoText, withSent } from './commands.ts';

const sent = (id: number, became: Sent['became'], key = 'hold/a'): Sent => ({ id, key, label: 'Hold', at: 0, became });

test('a button shows as asked from the click until its outcome arrives', () => {
  expect(isAsked([sent(1, { kind: 'sending' })], 'hold/a')).toBe(true);
  expect(isAsked([sent(1, { kind: 'asked', text: '', eventId: 'e' })], 'hold/a')).toBe(true);
  expect(isAsked([sent(1, { kind: 'applied', text: '' })], 'hold/a')).toBe(false);
  expect(isAsked([sent(1, { kind: 'sending' })], 'hold/b')).toBe(false);
});

test('a newer standing replaces the older one of the same command, in its place', () => {
  const list = withSent(
    [sent(1, { kind: 'sending' }), sent(2, { kind: 'sending' })],
    sent(1, { kind: 'refused', text: 'no' }),
  );
  expect(list.map(({ id, became }) => [id, became.kind])).toEqual([
    [1, 'refused'],
    [2, 'sending'],
  ]);
});

test('a caller has the buttons of the commands that the role permits, and none without a session', () => {
  const me = { name: 'rob', role: 'responder', commands: ['decide_case'] };
  expect(mayUse(me, { command: { kind: 'decide_case' } })).toBe(true);
  expect(mayUse(me, { command: { kind: 'halt' } })).toBe(false);
  expect(mayUse(null, { command: { kind: 'decide_case' } })).toBe(false);
});

test('a person is shown with name and role, and only the role where both are the same word', () => {
  expect(whoText({ name: 'ada', role: 'operator', commands: [] })).toBe('ada (operator)');
  expect(whoText({ name: 'admin', role: 'admin', commands: [] })).toBe('role admin');
});

test('an answer to a request needs no reason, and what ends an agent or holds the fleet needs one', () => {
  expect(defaultReason({ kind: 'answer_request' })).toBe('answered on the page');
  for (const kind of ['request_step', 'halt', 'decide_case', 'review_task']) expect(defaultReason({ kind })).toBeNull();
});
