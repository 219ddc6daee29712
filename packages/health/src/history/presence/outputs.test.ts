import { expect, test } from 'vitest';
import { type HeartbeatPayload, history, T0 } from '../../fixture.ts';
import { output } from '../../signals/testing/cases-absence.ts';

const runtime = (
  more: Parameters<typeof output>[0],
  rest: Partial<HeartbeatPayload> = {},
): Partial<HeartbeatPayload> => ({
  reporter: 'runtime',
  ...output(more),
  ...rest,
});
const printed = runtime({ last_output_at: T0 + 1000, lines: 3 });
const draws = runtime({});

test('the silence of a program that prints lines counts from its first report', () => {
  const { output: outputs, activity } = history([[2000, printed]]);
  expect([outputs.last, activity.own]).toEqual([T0 + 2000, T0 + 2000]);
});

test('once a program draws a screen, its silence is unknown', () => {
  const { output: outputs, activity } = history([
    [2000, printed],
    [4000, draws],
  ]);
  expect([outputs.last, activity.own]).toEqual([null, null]);
});

test('a report of the agent itself counts as activity while it draws', () => {
  const { activity } = history([
    [2000, printed],
    [4000, runtime({}, { agent_heartbeat_at: T0 + 3000 })],
  ]);
  expect(activity.own).not.toBeNull();
});

test('when it prints lines again, silence counts from then', () => {
  const { output: outputs } = history([
    [2000, printed],
    [4000, draws],
    [6000, runtime({ last_output_at: T0 + 5000, lines: 4 })],
  ]);
  expect(outputs.last).toBe(T0 + 5000);
});

const result = runtime({ lines: 3, result_at: T0 + 1000 });
const turnFrom = (at: number, open: boolean) =>
  runtime({ lines: 3, result_at: T0 + 1000 }, { turn: { open, started_at: at, last_event_at: at } });

test('a turn that begins after a result awaits a result of its own; a turn that had begun before does not', () => {
  expect(history([[2000, result]]).output.uncompleted).toBe(T0 + 2000);
  const began = (at: number, open: boolean) =>
    history([
      [2000, result],
      [4000, turnFrom(at, open)],
    ]).output.uncompleted;
  expect(began(T0 + 1001, true)).toBeNull();
  expect(began(T0 + 1000, true)).toBe(T0 + 2000);
  expect(began(T0 + 1001, false)).toBe(T0 + 2000);
});
