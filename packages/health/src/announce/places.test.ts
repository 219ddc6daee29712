import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { clockAt } from '@vigil/stream/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { agentHealth } from '../evaluator/health.ts';
import { OlderInstance } from '../evaluator/observe.ts';
import { type AgentState, UNSEEN } from '../evaluator/state.ts';
import { heartbeat, presetsWith, T0 } from '../fixture.ts';

const vigil = agentHealth(presetsWith('vigil'));
const MINUTE = 60_000;

type Move =
  | {
      readonly kind: 'heartbeat';
      readonly host: string | null;
      readonly runtimeId: string | null;
      readonly instance: number;
    }
  | { readonly kind: 'exit'; readonly instance: number }
  | { readonly kind: 'time'; readonly ms: number };

const moves: fc.Arbitrary<Move> = fc.oneof(
  fc.record({
    kind: fc.constant('heartbeat' as const),
    host: fc.constantFrom(null, 'h1', 'h2'),
    runtimeId: fc.constantFrom(null, 'r1', 'r2'),
    instance: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({ kind: fc.constant('exit' as const), instance: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant('time' as const), ms: fc.constantFrom(1000, MINUTE, 30 * MINUTE, 25 * 60 * MINUTE) }),
);

const exited = (instanceId: string) => ({
  ...example(Topic.agentObservation, 'AGENT_EXITED', {
    ...{ agentId: 'a1', instanceId, reason: 'crashed', orderId: null, at: null },
    ...{ runtimeId: 'r1', labels: {} },
  }),
  key: 'a1',
});

const observed = (state: AgentState, move: Move, at: number): AgentState => {
  const clock = clockAt(T0 + at);
  if (move.kind === 'time') return state;
  const instance_id = `w.i${move.instance}`;
  if (move.kind === 'exit') return vigil.observe(state, exited(instance_id), clock);
  const labels: Record<string, string> = move.host === null ? {} : { host: move.host };
  try {
    return vigil.observe(state, heartbeat(at, { instance_id, labels, runtime_id: move.runtimeId }), clock);
  } catch (error) {
    if (error instanceof OlderInstance) return state;
    throw error;
  }
};

test('who counts by the previous place counts each agent once where it was last reported, and nowhere after its loss', () => {
  fc.assert(
    fc.property(fc.array(moves, { maxLength: 30 }), (story) => {
      const counts = new Map<string, number>();
      const add = (place: unknown, by: number) => {
        const key = JSON.stringify(place);
        counts.set(key, (counts.get(key) ?? 0) + by);
      };
      let state = UNSEEN as AgentState;
      let reportedAt: string | null = null;
      let at = 0;
      for (const move of story) {
        at += move.kind === 'time' ? move.ms : 10;
        state = observed(state, move, at);
        const events = vigil.decide(state, clockAt(T0 + at));
        state = events.reduce(vigil.evolve, state);
        for (const { type, payload } of events) {
          if (type !== 'AGENT_PRESENT' && type !== 'AGENT_LOST') continue;
          const place = { host: payload.host, runtimeId: payload.runtimeId };
          if (payload.previousPlace !== null) add(payload.previousPlace, -1);
          if (type === 'AGENT_PRESENT') add(place, 1);
          reportedAt = type === 'AGENT_PRESENT' ? JSON.stringify(place) : null;
        }
        expect([...counts].filter(([, count]) => count !== 0)).toEqual(reportedAt === null ? [] : [[reportedAt, 1]]);
      }
    }),
    { numRuns: 500 },
  );
});
