import { expect, test } from 'vitest';
import {
  isLive,
  lostAt,
  maySeeTerminals,
  noOutputText,
  opening,
  received,
  type TerminalMessage,
  type TerminalView,
  whyNoTerminal,
} from './terminal.ts';

const shown = { instanceId: 'i1', at: 700, unseen: 0, outputAt: null };
const live: TerminalMessage = { kind: 'status', status: 'live', since: 700, runtimeId: 'host-1' };
const whole: TerminalMessage = { kind: 'whole', lines: ['one', 'two'], ...shown };
const after = (...messages: readonly TerminalMessage[]): TerminalView => messages.reduce(received, opening(0));

test('the lines are those of the first message with the changes since then', () => {
  const change: TerminalMessage = { kind: 'change', removed: 1, kept: 1, lines: ['three'], ...shown, at: 900 };
  expect(after(whole, live, change)).toMatchObject({ lines: ['two', 'three'], changedAt: 900, instanceId: 'i1' });
});

test('a message without a change keeps the age of the last one, and one with lines that passed does not', () => {
  const quiet: TerminalMessage = { kind: 'change', removed: 0, kept: 2, lines: [], ...shown, at: 5000 };
  expect(after(whole, live, quiet)).toMatchObject({ lines: ['one', 'two'], changedAt: 700 });
  expect(after(whole, live, { ...quiet, unseen: 4 })).toMatchObject({ changedAt: 5000, unseen: 4 });
});

test('of a terminal that is opened, the last change is as old as its last output', () => {
  expect(after({ ...whole, outputAt: 100 }).changedAt).toBe(100);
});

test('lines count as live only while the runtime answers and the dashboard sends them', () => {
  const view = after(whole, live);
  expect(isLive(view)).toBe(true);
  expect(isLive(received(view, { ...live, status: 'away' } as TerminalMessage))).toBe(false);
  expect(isLive(received(view, { ...live, status: 'closed' } as TerminalMessage))).toBe(false);
  const lost = lostAt(view, 800, 'the dashboard does not answer', false);
  expect(isLive(lost)).toBe(false);
  expect(lostAt(lost, 900, 'still', false).lost).toMatchObject({ since: 800, why: 'still' });
  expect(isLive(received(lost, whole))).toBe(true);
  expect(isLive(opening(0))).toBe(false);
});

test('a terminal that is closed keeps its lines and the reason, until it is opened again', () => {
  const closed = after(whole, live, { kind: 'closed', why: 'the agent has ended', at: 900 });
  expect(closed).toMatchObject({ lines: ['one', 'two'], closedWhy: 'the agent has ended' });
  expect(received(closed, whole).closedWhy).toBeNull();
});

test.each([
  ['viewer', false],
  ['responder', false],
  ['operator', true],
  ['admin', true],
])('a %s sees terminals: %s', (role, expected) => {
  expect(maySeeTerminals({ name: 'ada', role, commands: [] })).toBe(expected);
  expect(maySeeTerminals(null)).toBe(false);
});

test('an agent without a runtime, or one that has ended, has no terminal, and the reason is given', () => {
  expect(whyNoTerminal({ runtimeId: null, state: 'HEALTHY' })).toContain('without a runtime');
  expect(whyNoTerminal({ runtimeId: 'host-1', state: 'TERMINATED' })).toContain('has ended');
  expect(whyNoTerminal({ runtimeId: 'host-1', state: 'STUCK' })).toBeNull();
});

test('a running agent with a terminal sends its last output at its end; of any other none was received', () => {
  expect(noOutputText({ runtimeId: 'host-1', state: 'HEALTHY' })).toContain('when the agent ends');
  expect(noOutputText({ runtimeId: null, state: 'HEALTHY' })).toBe('Nothing was received.');
  expect(noOutputText({ runtimeId: 'host-1', state: 'TERMINATED' })).toBe('Nothing was received.');
});
