import { expect, test } from 'vitest';
import { type HeartbeatPayload, history, T0 } from '../../fixture.ts';

type Verdicts = NonNullable<HeartbeatPayload['steps']>['verdicts'];
const after = (...reports: readonly (readonly [total: number, ...verdicts: Verdicts])[]) =>
  history(
    reports.map(([total_steps, ...verdicts], i): [number, Partial<HeartbeatPayload>] => [
      1000 * i,
      { steps: { total_steps, verdicts } },
    ]),
  ).steps;

test('counts the steps since the last ACCEPT, with or without a decision of their own', () => {
  expect(after([3, 'ACCEPT', 'RETRY', 'CONTINUE']).sinceAccept).toBe(2);
  expect(after([3, 'ACCEPT', 'RETRY', 'CONTINUE'], [6, 'RETRY']).sinceAccept).toBe(5);
  expect(after([3, 'RETRY'], [5, 'RETRY', 'ACCEPT']).sinceAccept).toBe(0);
});

test('steps before the first report are not counted: whether they were accepted is unknown', () => {
  expect(after([40]).sinceAccept).toBe(0);
  expect(after([40, 'RETRY', 'RETRY']).sinceAccept).toBe(2);
});

test('an unchanged total keeps the mark of its last change, and a lower total is a change too', () => {
  expect(after([3], [3], [3]).changed).toBe(T0);
  expect(after([3], [4], [4]).changed).toBe(T0 + 1000);
  expect(after([3], [3], [1]).changed).toBe(T0 + 2000);
  expect(after([3], [1]).sinceAccept).toBe(0);
});

test('only RETRY in a row counts, and eight decisions are stored', () => {
  expect(after([3, 'RETRY', 'RETRY'], [4, 'RETRY']).retries).toBe(3);
  expect(after([3, 'RETRY', 'RETRY'], [4, 'CONTINUE'], [5, 'RETRY']).retries).toBe(1);
  expect(after([12, ...Array.from({ length: 12 }, () => 'RETRY' as const)]).recent).toHaveLength(8);
});

test('a heartbeat without steps changes nothing', () => {
  const before = history([[0, { steps: { total_steps: 3, verdicts: [] } }]]);
  expect(
    history([
      [0, { steps: { total_steps: 3, verdicts: [] } }],
      [1000, {}],
    ]).steps,
  ).toEqual(before.steps);
});
