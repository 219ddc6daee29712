import { describe, expect, test } from 'vitest';
import { type Beat, T0 } from '../fixture.ts';
import type { Beats } from '../signals/case.ts';
import { each, MIN, preset, SEC } from './judging.fixture.ts';

const hive = preset('hive');
const steps = (total_steps: number, ...verdicts: NonNullable<Beat['steps']>['verdicts']): Partial<Beat> => ({
  steps: { total_steps, verdicts },
});
/** An ACCEPT, then `n` steps without one. */
const since = (n: number, verdict: 'RETRY' | 'CONTINUE' = 'CONTINUE'): Beats =>
  each(n + 1, (i) => steps(i + 1, i === 0 ? 'ACCEPT' : verdict));
const stateAfter = (n: number) => hive.at(since(n), n * SEC).state;

describe('the bands', () => {
  test.each([
    [4, 'HEALTHY'],
    [5, 'DEGRADED'],
    [9, 'DEGRADED'],
    [14, 'DEGRADED'],
    [19, 'DEGRADED'],
    [20, 'FAILING'],
  ])('%i steps since the last ACCEPT: %s', (n, state) => {
    expect(stateAfter(n)).toBe(state);
  });

  test('tickets: medium from 10 where a loop shows, high from 15, critical from 20; 5..9 warns without one', () => {
    expect(hive.policy.ticket).toEqual({
      bands: [
        { at: 10, severity: 'medium', needsLoop: true },
        { at: 15, severity: 'high', needsLoop: false },
        { at: 20, severity: 'critical', needsLoop: false },
      ],
      stallMs: 4 * MIN,
      graceMs: 2 * MIN,
    });
  });

  test('a stall of four minutes counts at them', () => {
    const beats = [[0, steps(7, 'ACCEPT')]] as const;
    expect(hive.at(beats, 4 * MIN - 1).state).toBe('HEALTHY');
    expect(hive.at(beats, 4 * MIN)).toMatchObject({ state: 'STUCK', fires: ['no_step'] });
  });

  test('an ACCEPT ends it', () => {
    const beats = [...since(9), [10 * SEC, steps(11, 'ACCEPT')]] as const;
    expect(hive.at(beats, 10 * SEC).state).toBe('HEALTHY');
  });
});

test('it never acts on the worker: there is no plan, so no warrant', () => {
  expect(hive.policy.plans).toEqual([]);
  expect(hive.at(since(25), 25 * SEC).plan).toBe(null);
});

test('one that waits for its user is not stalled', () => {
  const beats = [[0, { ...steps(7, 'ACCEPT'), activity: 'awaiting_input' }]] as const;
  expect(hive.at(beats, 60 * MIN).state).toBe('HEALTHY');
});

test('of a worker that logs no steps nothing is said', () => {
  expect(hive.at([[0, { timestamp: T0 }]], 600 * MIN)).toEqual({ state: 'HEALTHY', fires: [], plan: null });
});
