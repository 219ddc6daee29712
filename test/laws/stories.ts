import fc from 'fast-check';
import { NAMES } from './policies.ts';
import type { Step, Story } from './story.ts';

const number = fc.nat({ max: 5 });
const agent = number;
const host = fc.nat({ max: 2 });
const is = <const T>(value: T) => fc.constant(value);

const of = <T extends Record<string, unknown>>(what: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(what) as fc.Arbitrary<never>;

/** Steps with their frequencies. */
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: of({ kind: is('wait'), minutes: fc.constantFrom(1, 2, 3, 5, 8, 12) }) },
  {
    weight: 6,
    arbitrary: of({
      kind: is('mode'),
      agent,
      mode: fc.constantFrom('hangs', 'hangs', 'works', 'loops', 'waits', 'rests'),
    }),
  },
  { weight: 5, arbitrary: of({ kind: is('end'), agent, reason: fc.constantFrom('crashed', 'crashed', 'finished') }) },
  { weight: 1, arbitrary: of({ kind: is('checkpoint'), agent }) },
  {
    weight: 3,
    arbitrary: of({ kind: is('manners'), answers: fc.boolean(), leaves: fc.boolean(), dies: fc.boolean() }),
  },
  {
    weight: 7,
    arbitrary: of({
      kind: is('host'),
      host,
      what: fc.constantFrom(
        'deaf',
        'mute',
        'cut',
        'cut',
        'heal',
        'heal',
        'heal_late',
        'fill',
        'free',
        'kill',
        'supervise',
        'crash',
        'double',
      ),
    }),
  },
  { weight: 1, arbitrary: of({ kind: is('capacity'), host, agents: fc.nat({ max: 4 }), failing: fc.nat({ max: 2 }) }) },
  { weight: 2, arbitrary: of({ kind: is('stop'), agent }) },
  {
    weight: 3,
    arbitrary: of({
      kind: is('request'),
      agent,
      step: fc.constantFrom('nudge', 'handoff', 'terminate', 'terminate_and_recover'),
    }),
  },
  {
    weight: 5,
    arbitrary: of({
      kind: is('decide'),
      question: number,
      decision: fc.constantFrom('allow_more_time', 'force_handoff', 'terminate_and_recover', 'pardon'),
    }),
  },
  { weight: 2, arbitrary: of({ kind: is('recover'), of: number }) },
  { weight: 2, arbitrary: of({ kind: fc.constantFrom('hold', 'release'), agent }) },
  {
    weight: 2,
    arbitrary: of({ kind: is('control'), what: fc.constantFrom('HALT_FLEET', 'RESUME_FLEET', 'LIFT_BRAKE') }),
  },
  { weight: 2, arbitrary: of({ kind: is('gone'), host }) },
  {
    weight: 2,
    arbitrary: of({ kind: is('review'), task: number, decision: fc.constantFrom('retry', 'reset', 'abandon') }),
  },
  { weight: 3, arbitrary: of({ kind: is('start'), of: number, host, again: fc.boolean() }) },
  { weight: 1, arbitrary: of({ kind: is('stall'), reader: number, seconds: fc.constantFrom(5, 40, 300) }) },
  { weight: 1, arbitrary: of({ kind: is('restart'), reader: number }) },
);

export const stories: fc.Arbitrary<Story> = fc.record({
  policy: fc.constantFrom(...NAMES),
  steps: fc.array(step, { minLength: 1, maxLength: 16 }),
  end: fc.constantFrom('pardon' as const, 'terminate_and_recover' as const),
});
