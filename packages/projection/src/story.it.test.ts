import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { apply, createDays, explain, outcomeOf, prepareDays, readModel } from '@vigil/read-model';
import { scratchReadModel } from '@vigil/read-model/testing';
import { expect, test } from 'vitest';
import { project } from './project.ts';

type Event = Parameters<typeof project>[0];
type Unplaced = Omit<Event, 'offset'>;

/** Events a second apart, with the versions that their deciders would set. */
const happening = (...events: readonly Unplaced[]): readonly Event[] =>
  events.map((event, i) => ({
    ...event,
    offset: i,
    eventId: `event-${i}`,
    version: event.topic === Topic.agentObservation ? null : i + 1,
    occurredAt: EXAMPLE_TIME + i * 1000,
  })) as readonly Event[];

const modelOf = async (...events: readonly Unplaced[]) => {
  const database = await scratchReadModel();
  const statements = happening(...events).flatMap(project);
  await prepareDays(database, createDays(), statements);
  await apply(database, statements);
  return { model: readModel(database), [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
};

const changed = (to: 'HEALTHY' | 'STUCK' | 'TERMINATED', more: object = {}) =>
  example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { to, exemption: null, endReason: null, ...more });
const started = example(Topic.agentHealth, 'INSTANCE_STARTED');
const opened = example(Topic.agentIntervention, 'CASE_OPENED');
const requested = example(Topic.agentIntervention, 'ESCALATION_TRIGGERED');
const decided = example(Topic.agentIntervention, 'ESCALATION_DECIDED');
const closed = example(Topic.agentIntervention, 'CASE_CLOSED', { ending: 'executed' });

test('a stuck agent is unhealthy, shows the reason that matched, and its open case', async () => {
  await using it = await modelOf(started, changed('STUCK', { reason: 'no call for 20 s' }), opened);
  expect(await it.model.agents({ unhealthy: true })).toMatchObject([
    { agentId: 'worker-1', state: 'STUCK', reason: 'no call for 20 s', caseId: 'case-1', caseWaiting: false },
  ]);
});

test('a case has until when a person has granted more time, until it continues', async () => {
  const given = (forMs: number) =>
    example(Topic.agentIntervention, 'ESCALATION_DECIDED', { decision: 'allow_more_time', forMs });
  const untilAfter = async (...events: readonly Unplaced[]) => {
    await using it = await modelOf(opened, requested, ...events);
    const [found] = await it.model.cases({});
    return found?.moreTimeUntil ?? null;
  };
  const at = (second: number) => EXAMPLE_TIME + second * 1000;
  expect(await untilAfter(given(600_000))).toBe(at(2) + 600_000);
  expect(await untilAfter(given(600_000), requested, given(60_000))).toBe(at(4) + 60_000);
  const otherwise = example(Topic.agentIntervention, 'ESCALATION_DECIDED', { decision: 'pardon', forMs: null });
  for (const events of [[], [given(600_000), requested], [otherwise], [given(600_000), closed]])
    expect(await untilAfter(...events)).toBeNull();
});

const ended = (endReason: 'finished' | 'explicit' | 'crashed') =>
  changed('TERMINATED', { endReason, taskId: 'OMN-1234' });
const unhealthyAfter = async (...events: readonly Unplaced[]) => {
  await using it = await modelOf(started, ...events);
  return (await it.model.agents({ unhealthy: true })).map(({ agentId }) => agentId);
};
const held = (agentId: string) => example(Topic.taskHealth, 'TASK_HEALTH_CHANGED', { agentId, taskId: 'OMN-1234' });
const { instanceId } = started.payload;
const terminate = (outcome: 'done' | 'failed') => [
  example(Topic.agentOrder, 'TERMINATE_AGENT', { orderId: 'end', agentId: 'worker-1', instanceId }),
  example(Topic.orderReceipt, 'ORDER_RECEIPT', { orderId: 'end', agentId: 'worker-1', outcome }),
];

test('a crashed agent is unhealthy; one that has finished or was ended on request is not', async () => {
  expect(await unhealthyAfter(ended('crashed'))).toEqual(['worker-1']);
  expect(await unhealthyAfter(ended('finished'))).toEqual([]);
  expect(await unhealthyAfter(ended('explicit'))).toEqual([]);
});

test('an agent that Vigil has ended is unhealthy until another agent has its task', async () => {
  expect(await unhealthyAfter(...terminate('done'), ended('explicit'))).toEqual(['worker-1']);
  expect(await unhealthyAfter(...terminate('failed'), ended('explicit'))).toEqual([]);
  expect(await unhealthyAfter(...terminate('done'), ended('explicit'), held('worker-1-r1'))).toEqual([]);
});

test('an agent that a person has ended by hand is not unhealthy, unless it was to start again or its task to be recovered', async () => {
  const byHand = (steps: readonly ('terminate' | 'recover')[], restart = false) => {
    const [order, receipt] = terminate('done');
    const plan = steps.map((step) => ({ ...opened.payload.plan[0], step }));
    return [
      example(Topic.agentIntervention, 'CASE_OPENED', { caseId: 'by-hand', requestedBy: 'ada', plan } as never),
      { ...order, payload: { ...order?.payload, caseId: 'by-hand', restart } } as Unplaced,
      receipt as Unplaced,
      ended('explicit'),
    ];
  };
  expect(await unhealthyAfter(...byHand(['terminate']))).toEqual([]);
  expect(await unhealthyAfter(...byHand(['terminate', 'recover']))).toEqual(['worker-1']);
  expect(await unhealthyAfter(...byHand(['terminate'], true))).toEqual(['worker-1']);
});

test('a crashed agent is unhealthy until a later agent has its task, or the task is over', async () => {
  expect(await unhealthyAfter(ended('crashed'), held('worker-1'))).toEqual(['worker-1']);
  expect(await unhealthyAfter(held('worker-0'), ended('crashed'))).toEqual(['worker-1']);
  expect(await unhealthyAfter(ended('crashed'), held('worker-1-r1'))).toEqual([]);
  const review = (decision: 'retry' | 'abandon') =>
    example(Topic.taskRecovery, 'REVIEW_DECIDED', { taskId: 'OMN-1234', decision });
  expect(await unhealthyAfter(ended('crashed'), review('retry'))).toEqual(['worker-1']);
  expect(await unhealthyAfter(ended('crashed'), review('abandon'))).toEqual([]);
  expect(await unhealthyAfter(ended('crashed'), example(Topic.taskRecovery, 'TASK_RELEASED'))).toEqual([]);
});

test('an agent that has only started is healthy', async () => {
  await using it = await modelOf(started);
  expect(await it.model.agent('worker-1')).toMatchObject({ state: 'HEALTHY', since: EXAMPLE_TIME, reason: null });
  expect(await it.model.agent('worker-1')).toMatchObject({ policyName: started.policy?.name });
});

test('a new instance after an end is healthy until it is evaluated', async () => {
  await using it = await modelOf(changed('TERMINATED', { endReason: 'crashed' }), started);
  expect(await it.model.agent('worker-1')).toMatchObject({ state: 'HEALTHY', endReason: null, evidence: [] });
});

test('the errors of an earlier instance do not belong to the present one', async () => {
  const heartbeat = example(Topic.agentObservation, 'AGENT_HEARTBEAT', {
    instance_id: 'worker-1.i0',
    task_id: 'OLD-1',
  });
  await using it = await modelOf(heartbeat, started);
  expect(await it.model.agent('worker-1')).toMatchObject({ errors: [], taskId: 'OMN-1234' });
});

test('the lines of the terminal that match error patterns are errors beside those that the agent reports', async () => {
  const pattern = (kind: string, line: number | null, source: string) => ({ kind, line, source, at: EXAMPLE_TIME });
  const matched_patterns = [
    pattern('error', 4, '^Error'),
    pattern('fatal', null, 'out of memory'),
    pattern('rate_limit', 5, '429'),
    pattern('error', 1, 'denied'),
  ];
  const output = {
    ...{
      last_output_at: EXAMPLE_TIME,
      lines: 5,
      matched_patterns,
      shown_errors: [],
      repeated_error: null,
      result_at: null,
    },
    ...{ completion_signal_at: null, tail: ['one more', 'Error: no such table', 'HTTP 429'] },
  };
  const heartbeat = (instance_id: string) =>
    example(Topic.agentObservation, 'AGENT_HEARTBEAT', {
      ...{ instance_id, task_id: 'OMN-1234', output },
      errors: [{ at: EXAMPLE_TIME, count: 2, error_class: 'E', hash: 'h', message: 'it failed' }],
    });
  const current = started.payload.instanceId ?? '';
  await using it = await modelOf(started, heartbeat(current));
  const agent = await it.model.agent('worker-1');
  expect(agent?.errors).toMatchObject([{ message: 'it failed', count: 2 }]);
  expect(agent?.terminalErrors.map(({ errorClass, message }) => [errorClass, message])).toEqual([
    ['error', 'Error: no such table'],
    ['fatal', 'out of memory'],
    ['error', 'denied'],
  ]);
  await using earlier = await modelOf(started, heartbeat('worker-1.i0'));
  expect((await earlier.model.agent('worker-1'))?.terminalErrors).toEqual([]);
});

test('a case waits for a person from the escalation to the decision', async () => {
  await using waiting = await modelOf(opened, requested, example(Topic.agentIntervention, 'ALERT_REQUESTED'));
  expect(await waiting.model.cases({ open: true })).toMatchObject([{ waiting: true }]);
  await using answered = await modelOf(opened, requested, decided);
  expect(await answered.model.cases({ open: true })).toMatchObject([{ waiting: false, decisionBy: 'ada' }]);
});

test('a closed case is not open and does not wait', async () => {
  await using it = await modelOf(opened, requested, closed);
  expect(await it.model.cases({ open: true })).toEqual([]);
  expect(await it.model.cases({ open: false })).toMatchObject([{ waiting: false, ending: 'executed' }]);
});

test('a case contains its rulings, steps, orders and receipts in chronological order', async () => {
  await using it = await modelOf(
    example(Topic.stepRuling, 'STEP_ADMITTED'),
    opened,
    example(Topic.agentIntervention, 'NUDGE_SENT'),
    example(Topic.agentOrder, 'NUDGE_AGENT'),
    example(Topic.orderReceipt, 'ORDER_RECEIPT', { at: EXAMPLE_TIME }),
    closed,
  );
  const story = await it.model.case('case-1');
  expect(story?.trail.map(({ type }) => type)).toEqual([
    'STEP_ADMITTED',
    'CASE_OPENED',
    'NUDGE_SENT',
    'NUDGE_AGENT',
    'ORDER_RECEIPT',
    'CASE_CLOSED',
  ]);
  expect(story?.plan).toEqual([{ step: 'recover' }]);
});

test('each attempt of a recovery is a row that ends where the next begins', async () => {
  const attempt = (n: number) => example(Topic.taskRecovery, 'RECOVERY_INITIATED', { attempt: n });
  await using it = await modelOf(
    attempt(1),
    example(Topic.taskRecovery, 'RECOVERY_COMPLETED'),
    attempt(2),
    example(Topic.taskRecovery, 'RECOVERY_FAILED'),
    example(Topic.taskRecovery, 'REVIEW_REQUIRED'),
  );
  expect(await it.model.recoveries({ taskId: 'OMN-1234' })).toMatchObject([
    { attempt: 2, completedAt: null, failedReason: 'reason' },
    { attempt: 1, completedAt: EXAMPLE_TIME + 1000, failedAt: null, reviewAt: null },
  ]);
  expect(await it.model.tasks({ review: true })).toMatchObject([{ taskId: 'OMN-1234', recovery: 'REVIEW_REQUIRED' }]);
});

const NOON = EXAMPLE_TIME;
const written = (id: string, createdAt: number | null, rest: { valid?: boolean; writtenAt?: number | null } = {}) => {
  const checkpoint = { ...ref, checkpointId: id, parentId: null, createdAt, valid: rest.valid ?? null };
  const { writtenAt = createdAt } = rest;
  return example(Topic.taskCheckpoint, 'CHECKPOINT_RECORDED', { taskId: 'T-times', writtenAt, checkpoint });
};
const { checkpoint: ref } = example(Topic.taskCheckpoint, 'CHECKPOINT_RECORDED').payload;

test('checkpoints have the time at which they were written, and the last written comes first; repeats change neither', async () => {
  const HOUR = 3_600_000;
  await using it = await modelOf(
    written('new', NOON - 1000),
    written('old', NOON - HOUR),
    written('untimed', null),
    written('untimed', null, { valid: true }),
    written('old', NOON - HOUR, { writtenAt: NOON - HOUR + 7 }),
    written('of an older version', NOON - 2 * HOUR, { writtenAt: null }),
    example(Topic.taskHealth, 'TASK_HEALTH_CHANGED', { taskId: 'T-times' }),
  );
  const shown = (await it.model.checkpoints('T-times')).map(({ checkpointId, writtenAt, valid }) => [
    checkpointId,
    writtenAt - NOON,
    valid,
  ]);
  expect(shown).toEqual([
    ['untimed', 2000, true],
    ['new', -1000, null],
    ['old', -HOUR, null],
    ['of an older version', -2 * HOUR, null],
  ]);
  expect(await it.model.task('T-times')).toMatchObject({ checkpoints: 4, lastCheckpoint: 'untimed' });
});

test('a checkpoint that is updated in place has its new time', async () => {
  await using it = await modelOf(written('one', NOON - 2000), written('one', NOON - 1000));
  expect(await it.model.checkpoints('T-times')).toMatchObject([{ checkpointId: 'one', writtenAt: NOON - 1000 }]);
});

test('a repeated attempt from an older checkpoint is one row, with the skipped checkpoints', async () => {
  const skipped = [{ checkpointId: 'c2', why: 'missing' }];
  const one = { attempt: 1, newAgentId: 'fresh' };
  await using it = await modelOf(
    example(Topic.taskRecovery, 'RECOVERY_INITIATED', { ...one, fromCheckpoint: 'c2', skipped: [] }),
    example(Topic.taskRecovery, 'RECOVERY_INITIATED', { ...one, fromCheckpoint: 'c1', skipped }),
    example(Topic.taskRecovery, 'RECOVERY_INITIATED', { attempt: 1, newAgentId: 'after-reset' }),
  );
  expect(await it.model.recoveries({ taskId: 'OMN-1234' })).toMatchObject([
    { attempt: 1, newAgentId: 'after-reset' },
    { attempt: 1, newAgentId: 'fresh', fromCheckpoint: 'c1', skipped },
  ]);
});

test('the explanation of an ended agent has its recovery attempt', async () => {
  const attempt = example(Topic.taskRecovery, 'RECOVERY_INITIATED', { newAgentId: 'fresh' });
  const end = { agentId: 'fresh', hold: 'left', to: 'TERMINATED', endReason: 'crashed' } as const;
  await using it = await modelOf(attempt, example(Topic.taskHealth, 'TASK_HEALTH_CHANGED', end));
  expect(await it.model.recoveries({})).toMatchObject([{ newAgentId: 'fresh', endReason: 'crashed' }]);
});

test('the assignee of a task is the agent that has not left it', async () => {
  await using it = await modelOf(
    example(Topic.taskHealth, 'TASK_HEALTH_CHANGED', { agentId: 'fresh', hold: 'took', to: 'HEALTHY' }),
    example(Topic.taskHealth, 'TASK_HEALTH_CHANGED', { agentId: 'dead', hold: 'left', to: 'TERMINATED' }),
  );
  expect(await it.model.task('OMN-1234')).toMatchObject({ agentId: 'fresh', state: 'HEALTHY' });
});

test('an explanation contains all data of an agent; an unknown agent has none', async () => {
  await using it = await modelOf(started, changed('STUCK'), opened, example(Topic.alert, 'ALERT_RAISED'), closed);
  const explanation = await explain(it.model, 'worker-1');
  expect(explanation).toMatchObject({ transitions: [{ stateTo: 'STUCK' }], alerts: [{ alertId: 'alert-1' }] });
  expect(explanation?.cases[0]?.trail).toHaveLength(3);
  expect(await explain(it.model, 'missing')).toBeNull();
});

const breaker = (to: 'OPEN' | 'HALF_OPEN' | 'CLOSED', more: object = {}) =>
  example(Topic.agentHealth, 'CIRCUIT_BREAKER_STATE_CHANGED', {
    name: 'tool_execution',
    to,
    agentId: 'worker-1',
    ...more,
  });

test('a breaker is one row an agent and name, with its state, its next attempt and how often it has opened', async () => {
  const next = EXAMPLE_TIME + 30_000;
  const again = breaker('OPEN', { failures: 6, nextAttemptAt: next });
  const other = example(Topic.taskRecovery, 'CIRCUIT_BREAKER_STATE_CHANGED', { name: 'recovery_attempt', to: 'OPEN' });
  await using it = await modelOf(breaker('OPEN'), breaker('HALF_OPEN'), again, other);
  expect(await it.model.breakers({ agentId: 'worker-1' })).toMatchObject([
    { name: 'tool_execution', state: 'OPEN', failures: 6, nextAttemptAt: next, since: EXAMPLE_TIME + 2000, trips: 2 },
  ]);
  expect(await it.model.breakers({ agentId: 'worker-1', tripsSince: EXAMPLE_TIME + 1 })).toMatchObject([{ trips: 1 }]);
  expect(await it.model.breakers({ open: true })).toHaveLength(2);
  expect(await it.model.breakers({ open: false })).toEqual([]);
});

test('a ticket is stored unchanged, with the people who were notified', async () => {
  const filed = example(Topic.agentHealth, 'WORKER_ESCALATION_TICKET');
  const { ticket, findings } = filed.payload;
  await using untriaged = await modelOf(filed);
  expect(await untriaged.model.tickets({ agentId: 'worker-1', limit: 5 })).toMatchObject([
    { ticketId: ticket.ticket_id, severity: ticket.severity, ticket, findings, filedAt: EXAMPLE_TIME, answer: null },
  ]);
  const { ticket_id } = ticket;
  const dismissed = example(Topic.alert, 'TICKET_DISMISSED', { ticket_id, agentId: 'worker-1', analysis: 'low' });
  await using triaged = await modelOf(filed, dismissed);
  expect(await triaged.model.tickets({ ticketId: ticket_id, limit: 5 })).toMatchObject([
    { ticket, answer: 'dismissed', analysis: 'low', alertKey: dismissed.payload.alertKey },
  ]);
  const requested = example(Topic.alert, 'QUEEN_INTERVENTION_REQUESTED', { ticket_id, analysis: 'it loops' });
  await using it = await modelOf(filed, requested);
  const filedIn = async (since: number, until: number) => (await it.model.tickets({ since, until })).length;
  expect([await filedIn(EXAMPLE_TIME, EXAMPLE_TIME + 1), await filedIn(EXAMPLE_TIME + 1, EXAMPLE_TIME + 2)]).toEqual([
    ...[1, 0],
  ]);
  expect(await it.model.tickets({ ticketId: ticket_id, limit: 5 })).toMatchObject([
    { ticket, answer: 'intervene', analysis: 'it loops', alertKey: requested.payload.queen_stream_id },
  ]);
});

test('the outcome of a command is what its service answers, and for a step by hand the steps and receipts of its case', async () => {
  const causationId = 'command-1';
  const caseId = 'case-command-2';
  await using it = await modelOf(
    { ...example(Topic.fleetGovernance, 'FLEET_HALTED'), causationId },
    { ...example(Topic.fleetGovernance, 'BRAKE_ENGAGED'), causationId },
    { ...example(Topic.policy, 'POLICY_REFUSED'), causationId: 'command-3' },
    example(Topic.agentIntervention, 'CASE_OPENED', { caseId }),
    example(Topic.agentIntervention, 'NUDGE_SENT', { caseId, attempt: 1, of: 1 }),
    example(Topic.agentOrder, 'NUDGE_AGENT', { caseId, orderId: 'case-command-2-1' }),
    {
      ...example(Topic.orderReceipt, 'ORDER_RECEIPT', {
        kind: 'nudge',
        outcome: 'expired',
        orderId: 'case-command-2-1',
      }),
      occurredAt: EXAMPLE_TIME + 1,
    },
  );
  const typesOf = async (id: string) => (await it.model.outcomes(id)).map(({ type }) => type);
  expect(await typesOf('command-1')).toEqual(['FLEET_HALTED']);
  expect(await typesOf('command-2')).toEqual(['CASE_OPENED', 'NUDGE_SENT', 'ORDER_RECEIPT']);
  expect(outcomeOf('command-2', await it.model.outcomes('command-2')).outcome).toBe('refused');
  expect(await typesOf('command-3')).toEqual(['POLICY_REFUSED']);
  expect(await typesOf('command-4')).toEqual([]);
});

test('a later command that is refused while an end is ordered is not the outcome of the command that ordered it', async () => {
  const [caseId, agentId] = ['case-first', 'a'];
  const refused = example(Topic.agentIntervention, 'DECISION_REFUSED', { caseId, agentId, reason: 'it is ordered' });
  const later = (id: string) => ({ causationId: id, correlationId: id });
  const events = [
    example(Topic.agentIntervention, 'CASE_OPENED', { caseId, agentId, taskId: 'T-1' }),
    example(Topic.agentOrder, 'TERMINATE_AGENT', { caseId, agentId, orderId: 'case-first-1' }),
    { ...refused, ...later('second') },
    { ...example(Topic.agentIntervention, 'ESCALATION_DECIDED', { caseId, agentId }), ...later('third') },
    { ...example(Topic.taskRecovery, 'RECOVERY_REFUSED', { caseId, taskId: 'T-1' }), ...later('fourth') },
  ];
  await using it = await modelOf(...events);
  const becameOf = async (id: string) => outcomeOf(id, await it.model.outcomes(id)).outcome;
  expect(await Promise.all(['first', 'second', 'third', 'fourth'].map(becameOf))).toEqual([
    'pending',
    'refused',
    'applied',
    'refused',
  ]);
  const own = { ...refused, causationId: 'the ruling', correlationId: 'first' };
  await using alone = await modelOf(own);
  expect(outcomeOf('first', await alone.model.outcomes('first')).outcome).toBe('refused');
});

test('the outcome of a recovery by hand is what recovery does with the task after its case', async () => {
  const about = { caseId: 'case-asked', agentId: 'a', taskId: 'T-1' };
  const plan = [{ step: 'terminate' }, { step: 'recover' }] as never;
  const recovery = (type: 'RECOVERY_INITIATED' | 'RECOVERY_COMPLETED') =>
    example(Topic.taskRecovery, type, { taskId: 'T-1' });
  const earlier = recovery('RECOVERY_COMPLETED');
  const ended = [
    example(Topic.agentIntervention, 'CASE_OPENED', { ...about, plan, planName: 'by hand: terminate_and_recover' }),
    example(Topic.agentIntervention, 'AGENT_TERMINATED', about),
    example(Topic.agentIntervention, 'CASE_CLOSED', { ...about, ending: 'executed' }),
  ];
  const becameOf = async (...events: readonly Unplaced[]) => {
    await using it = await modelOf(...events);
    return outcomeOf('asked', await it.model.outcomes('asked'));
  };
  expect(await becameOf(earlier, ...ended)).toMatchObject({
    outcome: 'pending',
    reason: 'waits for a fresh agent in place of a, which has ended',
  });
  const order = example(Topic.agentOrder, 'SPAWN_AGENT', { caseId: 'case-asked', agentId: 'a-r1', ttlMs: 1000 });
  expect(await becameOf(...ended, recovery('RECOVERY_INITIATED'), order)).toMatchObject({
    outcome: 'pending',
    reason: 'waits for the first heartbeat of a-r1',
  });
  expect(await becameOf(...ended, recovery('RECOVERY_INITIATED'), recovery('RECOVERY_COMPLETED'))).toMatchObject({
    outcome: 'applied',
  });
});

test('the targets are measured from the onset of findings, and from the ends of cases and recoveries', async () => {
  const opened = (caseId: string) => example(Topic.agentIntervention, 'CASE_OPENED', { caseId });
  const closed = (caseId: string, ending: 'executed' | 'recovered' | 'pardoned') =>
    example(Topic.agentIntervention, 'CASE_CLOSED', { caseId, ending });
  await using it = await modelOf(
    changed('STUCK', { onsetAt: EXAMPLE_TIME - 60_000 }),
    opened('case-a'),
    example(Topic.agentIntervention, 'NUDGE_SENT', { caseId: 'case-a' }),
    closed('case-a', 'recovered'),
    opened('case-b'),
    closed('case-b', 'recovered'),
    opened('case-c'),
    closed('case-c', 'pardoned'),
    example(Topic.taskRecovery, 'RECOVERY_INITIATED', { taskId: 'T-1', attempt: 1 }),
    example(Topic.taskRecovery, 'PROBATION_PASSED', { taskId: 'T-1', attempt: 1 }),
    example(Topic.taskRecovery, 'RECOVERY_INITIATED', { taskId: 'T-2', attempt: 1 }),
  );
  const { detection, intervention, recovery, falsePositives, watched } = await it.model.targets(EXAMPLE_TIME - 1);
  expect(detection).toEqual({ count: 1, p50Ms: 60_000, p95Ms: 60_000, maxMs: 60_000 });
  expect(intervention).toMatchObject({ count: 1, p50Ms: 62_000 });
  expect(recovery).toEqual({ part: 1, all: 1, rate: 1 });
  expect(falsePositives).toEqual({ part: 2, all: 3, rate: 2 / 3 });
  expect(watched).toBe(1);
  expect((await it.model.targets(EXAMPLE_TIME + 60_000)).detection.count).toBe(0);
});

test('a recovery succeeds by its probation or by the end of the task, and fails when another attempt follows', async () => {
  const attempt = (taskId: string, n: number, newAgentId: string) =>
    example(Topic.taskRecovery, 'RECOVERY_INITIATED', { taskId, attempt: n, newAgentId });
  const released = (taskId: string, why: 'finished' | 'left') =>
    example(Topic.taskRecovery, 'TASK_RELEASED', { taskId, why });
  await using it = await modelOf(
    attempt('T-finished', 1, 'a-r1'),
    released('T-finished', 'finished'),
    attempt('T-left', 1, 'l-r1'),
    released('T-left', 'left'),
    attempt('T-crashes', 1, 'c-r1'),
    attempt('T-crashes', 2, 'c-r2'),
    example(Topic.taskRecovery, 'REVIEW_REQUIRED', { taskId: 'T-crashes' }),
    attempt('T-older-checkpoint', 1, 'o-r1'),
    attempt('T-older-checkpoint', 1, 'o-r1'),
    attempt('T-open', 1, 'p-r1'),
  );
  expect((await it.model.targets(EXAMPLE_TIME - 1)).recovery).toEqual({ part: 1, all: 3, rate: 1 / 3 });
});

test('the cells of the fleet have each agent once, with its state and whether it waits for a person', async () => {
  await using it = await modelOf(started, changed('STUCK'), opened, requested);
  expect(await it.model.cells()).toMatchObject([{ agentId: 'worker-1', state: 'STUCK', waiting: true, held: false }]);
});
