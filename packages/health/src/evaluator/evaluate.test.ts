import fc from 'fast-check';
import { expect, test } from 'vitest';
import { at, call, heartbeat, presetsWith } from '../fixture.ts';
import { evaluate, type Recorded } from './evaluate.ts';
import type { AgentState } from './state.ts';

const demo = presetsWith('demo');

/** A heartbeat of one of three agents, or a tick, some time after the record before it. */
const steps = fc.array(
  fc.record({
    ms: fc.integer({ min: 0, max: 9_000 }),
    agent: fc.constantFrom('a1', 'a2', 'a3', null),
    result: fc.constantFrom('r', 's'),
    outcome: fc.constantFrom('ok' as const, 'error' as const, 'running' as const),
    activity: fc.constantFrom('working' as const, 'idle' as const, 'stuck' as const, null),
  }),
  { maxLength: 60 },
);
type Steps = typeof steps extends fc.Arbitrary<infer S> ? S : never;

const recorded = (all: Steps): Recorded[] => {
  let ms = 0;
  return all.map(({ ms: by, agent, result, outcome, activity }, i) => {
    ms += by;
    const tool_calls = [call(`c${i}`, { result_hash: result, outcome })];
    const more = { agent_id: agent ?? '', instance_id: `${agent}.1`, activity, tool_calls };
    return { clock: at(ms), input: agent === null ? null : heartbeat(ms, more) };
  });
};

/** Folds the records in batches. The states are written and read again between the batches. */
const inPieces = (records: readonly Recorded[], ends: readonly number[]) => {
  let states = new Map<string, AgentState>();
  const cuts = [0, ...ends.map((end) => Math.min(end, records.length)).toSorted((a, b) => a - b), records.length];
  const all = cuts.flatMap((from, i) => {
    const piece = [...evaluate(demo, records.slice(from, cuts[i + 1]), states)];
    states = new Map(JSON.parse(JSON.stringify([...states])));
    return piece;
  });
  return { all, states };
};

test('the boundaries of batches, and restores of states between them, change nothing', () => {
  fc.assert(
    fc.property(steps, fc.array(fc.nat(60), { maxLength: 6 }), (all, ends) => {
      const records = recorded(all);
      const whole = inPieces(records, []);
      expect(inPieces(records, ends)).toEqual(whole);
    }),
    { numRuns: 150 },
  );
});

test('a second tick of the same moment emits nothing', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const twice = recorded(all).flatMap((record) => [record, ...Array(2).fill({ clock: record.clock, input: null })]);
      const evaluated = [...evaluate(demo, twice)];
      expect(evaluated.filter(({ emitted }, i) => i % 3 === 2 && emitted.length > 0)).toEqual([]);
    }),
    { numRuns: 100 },
  );
});
