import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { describe, expect, test } from 'vitest';
import { call, type HeartbeatPayload, history as historyOf, judgedAt, T0 } from '../fixture.ts';
import { SIGNALS, type SignalName } from './all.ts';
import type { Mark } from './signal.ts';
import type { Heartbeats } from './testing/case.ts';
import { CASES } from './testing/cases.ts';
import { output, workItem } from './testing/cases-absence.ts';

const CHECKPOINT = example(Topic.agentObservation, 'AGENT_HEARTBEAT').payload.checkpoint;

type Sign = readonly [heartbeat: Partial<HeartbeatPayload>, marks: readonly Mark[]];

/** A heartbeat at a time with one change, and the marks that a runtime can see in it. */
const signsAfter = (heartbeats: Heartbeats, moment: number): Readonly<Record<string, Sign>> => {
  const lasting = Object.assign(
    {},
    ...heartbeats.map(([, { token_count, work }]) => ({ token_count, ...(work && { work }) })),
  );
  const known = { ...workItem({}).work, ...lasting.work };
  /** a report of a runtime about an agent; a report of the agent itself counts as activity */
  const reported = (more: Partial<HeartbeatPayload>): Partial<HeartbeatPayload> => ({
    ...lasting,
    reporter: 'runtime',
    ...more,
  });
  const own = (more: Partial<HeartbeatPayload>): Partial<HeartbeatPayload> =>
    reported({ agent_heartbeat_at: moment, ...more });
  const stepped = (verdict: 'RETRY' | 'ACCEPT') => own({ steps: { total_steps: 99, verdicts: [verdict] } });
  const ends = (more: Parameters<typeof call>[1]) =>
    own({ tool_calls: [call('c1', { result_hash: null, ended_at: moment, ...more })] });
  const updated = { ...known, updated_at: moment } as HeartbeatPayload['work'];
  const claimed = { ...known, claim_refreshed_at: moment } as HeartbeatPayload['work'];
  const begins = call('new', { outcome: 'running', started_at: moment });
  const completed = output({ last_output_at: moment, completion_signal_at: moment });
  return {
    'a heartbeat': [reported({}), ['heartbeat']],
    'a word': [own({}), ['heartbeat', 'activity']],
    output: [reported(output({ last_output_at: moment })), ['heartbeat', 'activity', 'output']],
    'a call that begins': [own({ tool_calls: [begins] }), ['heartbeat', 'activity', 'call']],
    'a failed call': [ends({ outcome: 'error' }), ['heartbeat', 'activity', 'call', 'answer']],
    'a call': [ends({}), ['heartbeat', 'activity', 'call', 'answer', 'success']],
    'a change': [ends({ mutating: true }), ['heartbeat', 'activity', 'call', 'answer', 'success', 'change']],
    'a checkpoint': [
      own({ checkpoint: CHECKPOINT && { ...CHECKPOINT, created_at: moment } }),
      ['heartbeat', 'activity', 'checkpoint', 'change'],
    ],
    'an event of its client': [
      reported({ turn: { open: true, started_at: T0, last_event_at: moment } }),
      ['heartbeat', 'activity', 'turn'],
    ],
    tokens: [own({ token_count: 99_999 }), ['heartbeat', 'activity', 'tokens']],
    'a work update': [own({ work: updated }), ['heartbeat', 'activity', ...worked(lasting.work)]],
    'a refreshed claim': [own({ work: claimed }), ['heartbeat', 'activity', 'claim']],
    'a step': [stepped('RETRY'), ['heartbeat', 'activity', 'step']],
    'an accepted step': [stepped('ACCEPT'), ['heartbeat', 'activity', 'step', 'accept', 'change']],
    'the signal of completion': [reported(completed), ['heartbeat', 'activity', 'output', 'completion']],
  };
};
/** A work item that is reported for the first time was not updated. */
const worked = (known: HeartbeatPayload['work'] | undefined): readonly Mark[] => (known ? ['work', 'change'] : []);

/** Signals that await nothing, because they depend on a figure or a reported state that a runtime cannot see. */
const UNSEEN: readonly SignalName[] = [
  'context_exhausted',
  'error_rate',
  'reported_errors',
  'repeated_answer',
  'repeated_arguments',
  'frequent_call',
  'call_budget',
  'rate_limited',
  'error_pattern',
  'unrecoverable_error',
  'breaker_open',
  'exited',
  'self_reported_stuck',
  'blocked',
  'false_completion',
  'diverse_calls',
  'steady_tokens',
  'resource_limit',
];

test('every signal names the progress that ends it, or none if a runtime cannot see it (a fact or a share)', () => {
  const unseen = Object.entries(SIGNALS).flatMap(([name, { awaits }]) => (awaits.length === 0 ? [name] : []));
  expect(unseen.sort()).toEqual([...UNSEEN].sort());
  for (const [name, { axis, awaits }] of Object.entries(SIGNALS))
    if (axis === 'fact') expect([name, awaits]).toEqual([name, []]);
});

const seen = (Object.keys(CASES) as SignalName[]).filter((name) => !UNSEEN.includes(name));
describe.each(seen)('%s', (name) => {
  const { limits, heartbeats, firesAt } = CASES[name];
  const { awaits, firesFrom, limits: schema } = SIGNALS[name];
  const read = schema.parse(limits) as never;
  const later = firesAt + 1000;
  const now = T0 + later;
  const fires = (more: Heartbeats) => firesFrom(historyOf([...heartbeats, ...more]), read, judgedAt(now)) <= now;

  test('fires until then', () => expect(fires([])).toBe(true));

  test.each(Object.entries(signsAfter(heartbeats, now)))(
    '%s ends it only where it is awaited',
    (_, [heartbeat, marks]) => {
      // For an agent without stronger reports, output is progress, too. Runtimes do not count it.
      if (awaits.includes('change') && marks.includes('output')) return;
      expect(fires([[later, heartbeat]])).toBe(!awaits.some((mark) => marks.includes(mark)));
    },
  );
});
