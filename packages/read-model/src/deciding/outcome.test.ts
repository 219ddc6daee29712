import { describe, expect, test } from 'vitest';
import type { Entry } from '../queries/journal.ts';
import { outcomeOf } from './outcome.ts';

type Caused = string | readonly [type: string, payload: object];

const caused = (types: readonly Caused[]): readonly Entry[] =>
  types.map((one, at) => {
    const [type, payload] = typeof one === 'string' ? [one, {}] : one;
    return { eventId: `e${at}`, at, type, agentId: null, taskId: null, caseId: null, payload } as Entry;
  });
const outcome = (...types: readonly Caused[]) => {
  const { outcome, reason } = outcomeOf('c1', caused(types));
  return [outcome, reason];
};

test('a command without an answer is pending', () => {
  expect(outcome()).toEqual(['pending', null]);
  expect(outcome('CASE_OPENED')).toEqual(['pending', null]);
});

test('a command is applied when its service reports what it did', () => {
  for (const type of ['FLEET_HALTED', 'HOLD_CHANGED', 'ESCALATION_DECIDED', 'REVIEW_DECIDED', 'POLICY_PUBLISHED'])
    expect(outcome([type, { why: 'because' }])).toEqual(['applied', null]);
});

test('a hold is pending until the evaluator answers it', () => {
  expect(outcome('HOLD_AGENT')).toEqual(['pending', null]);
  expect(outcome('RELEASE_AGENT', 'HOLD_CHANGED')).toEqual(['applied', null]);
});

test('a refused command has the reason', () => {
  const ended = 'worker-1 has ended: crashed. Hold its replacement.';
  expect(outcome(['HOLD_REFUSED', { why: 'deploys', reason: ended }])).toEqual(['refused', ended]);
  expect(outcome(['DECISION_REFUSED', { reason: 'case c is closed' }])).toEqual(['refused', 'case c is closed']);
  expect(outcome(['POLICY_REFUSED', { why: 'a trial', mistakes: ['a: is wrong', 'b: is missing'] }])).toEqual([
    'refused',
    'a: is wrong\nb: is missing',
  ]);
  expect(outcome(['ANSWER_REFUSED', { reason: 'expired', detail: 'at 12:00' }])).toEqual([
    'refused',
    'expired: at 12:00',
  ]);
});

test('a test of an unknown channel is refused with its text', () => {
  const tested = { route: 'channel_test', text: 'channel "nosuch" does not exist' };
  expect(outcome(['ALERT_RAISED', { ...tested, sinks: [] }], ['ALERT_RESOLVED', tested])).toEqual([
    'refused',
    tested.text,
  ]);
});

test('a test of a channel is decided by its deliveries: none before each sink has one, and why where one fails', () => {
  const raised: Caused = ['ALERT_RAISED', { route: 'channel_test', text: 'ada: a trial', sinks: ['ops', 'console'] }];
  const over: Caused = ['ALERT_RESOLVED', { text: 'the test is over' }];
  const delivered = (sink: string): Caused => ['ALERT_DELIVERED', { sink, ok: true, detail: null }];
  const failing: Caused = ['ALERT_DELIVERED', { sink: 'ops', ok: false, detail: 'ops answers 503' }];
  expect(outcome(raised, over)).toEqual(['pending', 'waits for the delivery to ops, console']);
  expect(outcome(raised, over, delivered('console'))).toEqual([
    'pending',
    'delivered to console; waits for the delivery to ops',
  ]);
  expect(outcome(raised, over, delivered('console'), delivered('ops'))).toEqual([
    'applied',
    'delivered to ops, console',
  ]);
  expect(outcome(raised, over, delivered('console'), failing)).toEqual([
    'refused',
    'delivered to console; not delivered to ops: ops answers 503',
  ]);
  expect(outcome(raised, failing, delivered('console'), delivered('ops'))).toEqual([
    'applied',
    'delivered to ops, console',
  ]);
});

test('a hand-off by hand waits until its agent has the request, and its order alone decides nothing', () => {
  const requested: Caused = ['HANDOFF_REQUESTED', { asked: null }];
  const receipt = (outcome: string): Caused => ['ORDER_RECEIPT', { kind: 'handoff', outcome, why: null }];
  expect(outcome('CASE_OPENED', requested)).toEqual(['pending', 'waits until the agent has the request']);
  expect(outcome('CASE_OPENED', requested, receipt('delivered'))).toEqual(['applied', null]);
  expect(outcome('CASE_OPENED', requested, receipt('expired'))).toEqual(['refused', 'not delivered (expired)']);
  expect(outcome('CASE_OPENED', requested, ['CASE_CLOSED', { ending: 'executed', why: 'done' }])).toEqual([
    'applied',
    null,
  ]);
});

test('a nudge by hand waits until its agent has the text: that it was sent decides nothing', () => {
  const receipt = (outcome: string): Caused => ['ORDER_RECEIPT', { kind: 'nudge', outcome, why: null }];
  const closed = (ending: string): Caused => ['CASE_CLOSED', { ending, why: 'its case is over' }];
  expect(outcome('CASE_OPENED', 'NUDGE_SENT')).toEqual(['pending', 'waits until the agent has the text']);
  for (const reached of ['delivered', 'answered', 'uncertain'])
    expect(outcome('CASE_OPENED', 'NUDGE_SENT', receipt(reached))).toEqual(['applied', null]);
  expect(outcome('CASE_OPENED', 'NUDGE_SENT', receipt('superseded'))).toEqual([
    'refused',
    'not delivered (superseded)',
  ]);
  for (const ending of ['executed', 'pardoned', 'recovered'])
    expect(outcome('CASE_OPENED', 'NUDGE_SENT', closed(ending))).toEqual(['applied', null]);
  expect(outcome('CASE_OPENED', 'NUDGE_SENT', closed('superseded'))).toEqual(['refused', 'its case is over']);
  // Without a text nothing of it was carried out.
  expect(outcome('CASE_OPENED', closed('recovered'))).toEqual(['refused', 'its case is over']);
});

test('while an agent has its grace, the outcome names it, and until when it has', () => {
  const at = Date.parse('2026-11-28T15:04:00Z');
  const order = { eventId: 'o', at, type: 'TERMINATE_AGENT', agentId: 'steady', taskId: null, caseId: null };
  const [opened, ended] = caused(['CASE_OPENED', 'AGENT_TERMINATED']);
  const ordered = { ...order, payload: { ttlMs: 60_000, graceMs: 30_000, cleanupMs: 30_000 } } as unknown as Entry;
  expect(outcomeOf('c1', [opened!, ordered])).toMatchObject({
    outcome: 'pending',
    reason: 'waits for steady to end, at most until 15:04:30 UTC; then it is killed',
    until: at + 60_000 + 30_000 + 30_000 + 60_000,
  });
  expect(outcomeOf('c1', [opened!, ordered, ended!])).toMatchObject({ outcome: 'applied', reason: null });
});

describe('of a request for the end of an agent and a fresh one', () => {
  const opened: Caused = ['CASE_OPENED', { planName: 'by hand: terminate_and_recover' }];
  const done: readonly Caused[] = [opened, 'AGENT_TERMINATED', ['CASE_CLOSED', { ending: 'executed', why: 'done' }]];

  test('the end of the agent decides nothing, and a fresh agent does', () => {
    expect(outcome(...done)).toEqual(['pending', 'waits for a fresh agent in place of the agent, which has ended']);
    expect(outcome(...done, 'RECOVERY_INITIATED', 'RECOVERY_COMPLETED')).toEqual(['applied', null]);
  });

  test('what was done with the fresh agent later is not its outcome', () => {
    const events = caused([...done, 'RECOVERY_COMPLETED', 'RECOVERY_INITIATED', 'RECOVERY_FAILED']);
    const found = outcomeOf('c1', events);
    expect([found.outcome, found.events.at(-1)?.type]).toEqual(['applied', 'RECOVERY_COMPLETED']);
  });

  test('a recovery that is refused, fails or is not needed is refused with the reason', () => {
    for (const [type, payload, reason] of [
      ['RECOVERY_REFUSED', { reason: 'a holds T-1: end that one' }, 'a holds T-1: end that one'],
      ['RECOVERY_FAILED', { reason: '3 of 3 attempts used' }, '3 of 3 attempts used'],
      ['TASK_RELEASED', { why: 'reassigned', detail: 'held by a' }, 'reassigned: held by a'],
      ['STEP_SKIPPED', { step: 'recover', why: 'no_task', detail: 'a has no task' }, 'no_task: a has no task'],
    ] as const)
      expect(outcome(opened, 'AGENT_TERMINATED', [type, payload])).toEqual(['refused', reason]);
    expect(outcome(opened, ['CASE_CLOSED', { ending: 'pardoned', why: 'ada: it works' }])).toEqual([
      'refused',
      'ada: it works',
    ]);
  });

  test('a task that no runtime can start waits, with the reason, and may be recovered later', () => {
    const impossible: Caused = ['SPAWN_IMPOSSIBLE', { reason: 'no runtime has a template for T-1' }];
    expect(outcome(...done, impossible)).toEqual(['pending', 'no runtime has a template for T-1']);
    expect(outcome(...done, impossible, 'RECOVERY_INITIATED', 'RECOVERY_COMPLETED')).toEqual(['applied', null]);
  });

  test('while a fresh agent starts, it waits for as long as that one has', () => {
    const spawn: Caused = ['SPAWN_AGENT', { ttlMs: 60_000 }];
    expect(outcomeOf('c1', caused([...done, spawn]))).toMatchObject({
      outcome: 'pending',
      reason: 'waits for the first heartbeat of the agent',
      until: 3 + 120_000,
    });
  });

  test('an agent that has ended before is not ended again', () => {
    const skipped: Caused = ['STEP_SKIPPED', { step: 'terminate', why: 'no_instance' }];
    const executed: Caused = ['CASE_CLOSED', { ending: 'executed' }];
    expect(outcome(opened, skipped)).toEqual(['pending', null]);
    expect(outcome(opened, skipped, executed, 'RECOVERY_COMPLETED')).toEqual(['applied', null]);
  });
});

test('a step by hand is applied when it is done, and refused when its case closes before', () => {
  expect(outcome('CASE_OPENED', 'AGENT_TERMINATED', ['CASE_CLOSED', { why: 'over' }])).toEqual(['applied', null]);
  expect(outcome('CASE_OPENED', ['CASE_CLOSED', { why: 'it has ended' }])).toEqual(['refused', 'it has ended']);
});

test.each(['expired', 'failed', 'superseded'])(
  'a step by hand is refused when the receipt of its order is %s',
  (ending) => {
    const undelivered = (kind: string): Caused => [
      'ORDER_RECEIPT',
      { kind, outcome: ending, why: 'the agent asks a question' },
    ];
    for (const [kind, type] of [
      ['nudge', 'NUDGE_SENT'],
      ['handoff', 'HANDOFF_REQUESTED'],
    ] as const)
      for (const rest of [[], [['CASE_CLOSED', { ending: 'executed' }]]] as const)
        expect(outcome('CASE_OPENED', type, undelivered(kind), ...rest)).toEqual([
          'refused',
          `not delivered (${ending}): the agent asks a question`,
        ]);
    // The case of a terminate has its own end.
    expect(outcome('CASE_OPENED', undelivered('terminate'))).toEqual(['pending', null]);
  },
);

test('a step by hand whose text was delivered is applied, also where an order before it was not', () => {
  const receipt = (outcome: string): Caused => ['ORDER_RECEIPT', { kind: 'handoff', outcome, why: 'halted' }];
  expect(outcome('HANDOFF_REQUESTED', receipt('delivered'))).toEqual(['applied', null]);
  expect(outcome('HANDOFF_REQUESTED', receipt('expired'), receipt('delivered'))).toEqual(['applied', null]);
});

test('a recovery of an agent that has ended is applied although its end is skipped, and another skipped step is refused', () => {
  const skipped = ['STEP_SKIPPED', { step: 'terminate', why: 'no_instance' }] as const;
  expect(outcome('CASE_OPENED', skipped)).toEqual(['pending', null]);
  expect(outcome('CASE_OPENED', skipped, ['CASE_CLOSED', { ending: 'executed' }])).toEqual(['applied', null]);
  expect(outcome('CASE_OPENED', skipped, ['CASE_CLOSED', { ending: 'void', why: 'it is late' }])).toEqual([
    'refused',
    'it is late',
  ]);
  expect(outcome(['STEP_SKIPPED', { step: 'nudge', why: 'no_instance' }])).toEqual(['refused', 'no_instance']);
});

test('a withheld step is pending, with what withholds it until it continues', () => {
  const withheld = ['CASE_WITHHELD', { step: 'nudge', why: 'halted', detail: 'ada has halted the fleet' }] as const;
  expect(outcome('CASE_OPENED', withheld)).toEqual(['pending', 'halted: ada has halted the fleet']);
  expect(outcome('CASE_OPENED', withheld, 'CASE_RESUMED')).toEqual(['pending', null]);
});

test('a command of the evaluator is pending with the copy of ingest, and decided by the answer of the evaluator', () => {
  for (const copy of ['CONFIRM_DEATH', 'RESET_BREAKER', 'FILE_TICKET']) {
    expect(outcome(copy)).toEqual(['pending', null]);
    expect(outcome(copy, 'CONTROL_APPLIED')).toEqual(['applied', null]);
  }
  const reason = 'breaker tool_execution of worker-1 is closed: nothing is reset.';
  expect(outcome('RESET_BREAKER', ['CONTROL_REFUSED', { why: 'it is fixed', reason }])).toEqual(['refused', reason]);
  expect(outcome('RESET_BREAKER', 'BREAKER_RESET_ASKED')).toEqual(['applied', null]);
});

describe('of commands that were written at once', () => {
  const answer = (groupId: string | null, refused: string | null = null): Caused =>
    refused === null
      ? ['CONTROL_APPLIED', { groupId, of: 3, why: 'fire' }]
      : ['CONTROL_REFUSED', { groupId, of: 3, why: 'fire', reason: refused }];

  test('the first one counts all answers, and is applied with the last of them', () => {
    expect(outcome(answer(null))).toEqual(['pending', '1 of 3 confirmed']);
    expect(outcome(answer(null), answer('c1'))).toEqual(['pending', '2 of 3 confirmed']);
    expect(outcome(answer('c1'), answer('c1'), answer(null))).toEqual(['applied', '3 of 3 confirmed']);
  });

  test('one refusal is the outcome of all, with its reason, when all are answered', () => {
    const refused = answer('c1', 'worker-3 is instance i2 now, and not i1: confirm the death of that one.');
    expect(outcome(answer(null), refused)).toEqual(['pending', expect.stringMatching(/^1 of 3 confirmed; worker-3 /)]);
    expect(outcome(answer(null), refused, answer('c1'))).toEqual([
      'refused',
      '2 of 3 confirmed; worker-3 is instance i2 now, and not i1: confirm the death of that one.',
    ]);
  });

  test('another one than the first has its own answer only', () => {
    expect(outcome(answer('another'))).toEqual(['applied', null]);
  });
});
