import { NEVER } from '@vigil/stream';
import { expect, test } from 'vitest';
import { type Call, call, type HeartbeatPayload, history, judgedAt, T0 } from '../fixture.ts';
import { callBudget, consecutiveFailures } from './rate.ts';
import type { AnySignal } from './signal.ts';

type Reported = Partial<HeartbeatPayload>;
const calls = (...made: readonly Partial<Call>[]): readonly Reported[] =>
  made.map((one, i) => ({ tool_calls: [call(`c${i}`, one)] }));
const fires = (signal: AnySignal, reported: readonly Reported[], settings: object): boolean =>
  signal.firesFrom(
    history(reported.map((more, i) => [1000 * i, more])),
    signal.limits.parse(settings) as never,
    judgedAt(T0 + 1e7),
  ) < NEVER;
const failed = (tool: string): Partial<Call> => ({ tool, outcome: 'error', result_hash: null });
const ok = (tool: string): Partial<Call> => ({ tool });

test('failures of one tool count in a row, also with calls of other tools between', () => {
  const between = calls(failed('Bash'), ok('Read'), failed('Bash'), ok('Read'), failed('Bash'));
  expect(fires(consecutiveFailures, between, { above: 2 })).toBe(false);
  expect(fires(consecutiveFailures, between, { above: 2, applies_to: ['Bash'] })).toBe(true);
  expect(fires(consecutiveFailures, between, { above: 3, applies_to: ['Bash'] })).toBe(false);
  expect(fires(consecutiveFailures, between, { above: 2, except: ['Bash'] })).toBe(false);
  expect(fires(consecutiveFailures, between, { above: 2, except: ['Read'] })).toBe(true);
  expect(fires(consecutiveFailures, [...between, ...calls(ok('Bash'))], { above: 2, applies_to: ['Bash'] })).toBe(
    false,
  );
});

test('failures of two tools are not added up where tools are named', () => {
  const both = calls(failed('Bash'), failed('Fetch'), failed('Bash'));
  expect(fires(consecutiveFailures, both, { above: 2 })).toBe(true);
  expect(fires(consecutiveFailures, both, { above: 2, applies_to: ['Bash', 'Fetch'] })).toBe(false);
});

const many = (n: number) => calls(...Array.from({ length: n }, (_, i) => ({ args_hash: `a${i}` })));
const accepted: Reported = { steps: { total_steps: 1, verdicts: ['ACCEPT'] } };
const turn = (open: boolean): Reported => ({ turn: { open, started_at: T0, last_event_at: null } });

test('a budget of calls is exceeded by the first call above it', () => {
  expect(fires(callBudget, many(10), { above: 10 })).toBe(false);
  expect(fires(callBudget, many(11), { above: 10 })).toBe(true);
});

test('a budget per progress starts again with declared progress, one per turn with the next turn', () => {
  const settings = (per: string) => ({ above: 10, per });
  expect(fires(callBudget, [...many(9), accepted, ...many(9)], settings('instance'))).toBe(true);
  expect(fires(callBudget, [...many(9), accepted, ...many(9)], settings('progress'))).toBe(false);
  expect(fires(callBudget, [...many(9), accepted, ...many(11)], settings('progress'))).toBe(true);
  const turns = [turn(true), ...many(9), turn(false), turn(true), ...many(9)];
  expect(fires(callBudget, turns, settings('turn'))).toBe(false);
  expect(fires(callBudget, [...turns, ...many(2)], settings('turn'))).toBe(true);
});

test('calls in flight and refused calls are not made calls', () => {
  const others = (['running', 'refused', 'abandoned'] as const).map((outcome) => ({ outcome }));
  expect(fires(callBudget, [...many(10), ...calls(...others)], { above: 10 })).toBe(false);
});
