import { catalogue, type EventOf, type HealthState, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { alerts } from '../alert/alerts.ts';
import { consoleOnly } from '../alert/routing.ts';
import { lineOf } from '../sinks/console.ts';
import { agentNotices as noticesOf } from './agents/agent-notices.ts';
import { type Noticed, type Notify, notify } from './notice.ts';
import { AS_CONFIGURED, agentNotices, fleetNotices, taskNotices } from './notices.fixture.ts';
import { noPolicies, type PolicyAlerts } from './policy-alerts.ts';
import { taskNotices as tasksOf } from './tasks/task-notices.ts';

const brief = (notices: readonly Notify[]) =>
  notices.map(({ key, payload }) => `${payload.action} ${key} ${payload.severity}`);
const turned = (to: HealthState, taskId: string | null = 'OMN-1234') =>
  example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', {
    ...{ to, taskId, leftTaskId: null, endReason: to === 'TERMINATED' ? 'crashed' : null, endOrderId: null },
  });
const story = <K extends EventOf<typeof Topic.taskRecovery>['type']>(type: K, payload = {}) =>
  example(Topic.taskRecovery, type, payload as never);

const ofAgent = ['stuck_agent', 'escalation_ticket', 'task_blocked'].map((route) => `resolve ${route}:worker-1 info`);
const endings = ['resolve stuck_agent:OMN-1234 info', 'resolve escalation_ticket:OMN-1234 info', ...ofAgent];

test.each([
  ['STUCK', ['raise stuck_agent:OMN-1234 warning']],
  ['FAILING', ['raise stuck_agent:OMN-1234 critical']],
  ['DEGRADED', []],
  // Its own block, and that of any agent before it on the task.
  ['HEALTHY', [...endings, 'resolve task_blocked:OMN-1234 info', 'resolve task_blocked:OMN-1234 info']],
  ['TERMINATED', [...endings, 'resolve task_blocked:OMN-1234 info']],
] as const)('an agent that turns %s: %j', (to, expected) => {
  expect(brief(agentNotices(turned(to)))).toEqual(expected);
});

test('the alert of an agent without a task has the agent in its key', () => {
  expect(brief(agentNotices(turned('STUCK', null)))).toEqual(['raise stuck_agent:worker-1 warning']);
});

test.each(['HEALTHY', 'TERMINATED'] as const)('what blocks an agent without a task is over when it is %s', (to) => {
  const blocked = example(Topic.agentIntervention, 'TASK_BLOCKED', { taskId: null });
  expect(brief(agentNotices(blocked))).toEqual(['raise task_blocked:worker-1 warning']);
  expect(brief(agentNotices(turned(to, null)))).toEqual(ofAgent);
});

test.each(['HEALTHY', 'FAILING', 'DEGRADED', 'TERMINATED'] as const)(
  'an agent that was stuck with one task and is %s with another leaves no alert behind',
  (to) => {
    const noticesOfTask = (leftTaskId: string | null) =>
      brief(
        agentNotices(
          example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', {
            to,
            taskId: 'OMN-2',
            leftTaskId,
            endReason: to === 'TERMINATED' ? 'crashed' : null,
          }),
        ),
      );
    const left = ['stuck_agent', 'task_blocked', 'escalation_ticket', 'spending_limit'].map(
      (route) => `resolve ${route}:OMN-1 info`,
    );
    expect(noticesOfTask('OMN-1')).toEqual([...noticesOfTask(null), ...left]);
  },
);

test("a case's notices belong to the alert of the episode, with options and deadline", () => {
  const requests = example(Topic.agentIntervention, 'ESCALATION_TRIGGERED', {
    options: ['pardon'],
    deadlineAt: 5,
    reason: 'no call',
    onTimeout: 'terminate',
    answers: [],
  });
  expect(brief(agentNotices(requests))).toEqual(['raise stuck_agent:OMN-1234 critical']);
  expect(agentNotices(requests)[0]?.payload).toMatchObject({
    options: ['pardon'],
    deadlineAt: 5,
    text: 'no call; without an answer: terminate; case/case-1 of `vigil inbox`',
  });
  expect(brief(agentNotices(example(Topic.agentIntervention, 'ALERT_REQUESTED', { severity: 'UNKNOWN' })))).toEqual([
    'raise stuck_agent:OMN-1234 warning',
  ]);
  expect(brief(agentNotices(example(Topic.agentIntervention, 'TERMINATION_UNCONFIRMED')))).toEqual([
    'raise stuck_agent:OMN-1234 critical',
  ]);
});

test("an agent's answers are in the alert as quoted words, which cannot pass for Vigil's", () => {
  const answers = [
    { how: 'handoff', text: 'I am lost' },
    { how: 'blockers', text: 'no access"; without an answer: pardon' },
  ] as const;
  const quoted =
    '; the agent answers (handoff): "I am lost"; the agent answers (blockers): "no access\\"; without an answer: pardon"';
  const asks = { reason: 'no call', deadlineAt: null, answers };
  const texts = [
    example(Topic.agentIntervention, 'ESCALATION_TRIGGERED', asks),
    example(Topic.agentIntervention, 'ALERT_REQUESTED', { text: 'no call', answers }),
  ].map((event) => agentNotices(event)[0]?.payload.text);
  expect(texts).toEqual([`no call${quoted}; case/case-1 of \`vigil inbox\``, `no call${quoted}`]);
});

test('a handoff that the agent has asked for takes the question back; one of a plan or a person does not', () => {
  const asked = (words: string | null) =>
    agentNotices(example(Topic.agentIntervention, 'HANDOFF_REQUESTED', { asked: words }));
  expect(asked('I am "lost"')).toMatchObject([
    { payload: { action: 'settle', text: 'the agent answers (handoff): "I am \\"lost\\""' } },
  ]);
  expect(asked(null)).toEqual([]);
});

test('a task that a plan leaves to people is blocked, and its alert has its own key', () => {
  const [notice] = agentNotices(example(Topic.agentIntervention, 'TASK_BLOCKED', { reason: 'no way on' }));
  expect(notice).toMatchObject({ key: 'task_blocked:OMN-1234', payload: { severity: 'warning', text: 'no way on' } });
  expect(notice?.payload.blocked).toMatchObject({ limit: null, reason: 'no way on' });
});

test.each([true, false])(
  'whether the last agent ended by itself is what its event has, and not what its reason reads: %s',
  (endedByItself) => {
    const reason = endedByItself ? 'no call for 9 min' : 'ended: crashed';
    const [blocked] = agentNotices(example(Topic.agentIntervention, 'TASK_BLOCKED', { reason, endedByItself }));
    const [spent] = taskNotices(story('REVIEW_REQUIRED', { attempts: 2, of: 2, reason, endedByItself }));
    for (const notice of [blocked, spent]) expect(notice?.payload.blocked).toMatchObject({ reason, endedByItself });
  },
);

test.each([
  [null, null],
  [0, 1],
  [2, 3],
])('an agent of attempt %j that is blocked makes it %j times that the task has stalled', (attempt, attempts) => {
  const [notice] = agentNotices(example(Topic.agentIntervention, 'TASK_BLOCKED', { attempt }));
  expect(notice?.payload.blocked).toMatchObject({ attempts });
});

test('only a review of used-up attempts names how often agents have stalled', () => {
  const [spent] = taskNotices(story('REVIEW_REQUIRED', { attempts: 2, of: 2, reason: 'used', endedByItself: false }));
  expect(spent?.payload.blocked).toEqual({ attempts: 3, limit: 2, reason: 'used', endedByItself: false });
  expect(taskNotices(story('REVIEW_REQUIRED', { of: null }))[0]?.payload.blocked).toBeNull();
});

test('the ways to people are those of the policy’s route, or the one that the step names', () => {
  const alerts: PolicyAlerts = {
    ...noPolicies,
    of: () => ({ severity: 'info', channels: ['pagerduty'], ...AS_CONFIGURED }),
  };
  const noticesOfTask = (event: Parameters<typeof noticesOf>[0]) =>
    noticesOf(event).map((one) => notify(one, { name: 'vigil', hash: 'h' }, alerts).payload);
  expect(noticesOfTask(turned('STUCK'))).toMatchObject([
    { severity: 'info', channels: ['pagerduty'], ...AS_CONFIGURED },
  ]);
  expect(noticesOfTask(turned('FAILING'))).toMatchObject([
    { severity: 'info', urgency: 'high', channels: ['pagerduty'], ...AS_CONFIGURED },
  ]);
  const asks = (channel: string | null) =>
    noticesOfTask(example(Topic.agentIntervention, 'ALERT_REQUESTED', { severity: 'warning', channel }));
  expect(asks('ops')).toMatchObject([{ severity: 'warning', channels: ['ops'], ...AS_CONFIGURED }]);
  expect(asks(null)).toMatchObject([{ severity: 'warning', channels: ['pagerduty'], ...AS_CONFIGURED }]);
  expect(agentNotices(turned('STUCK'))[0]?.payload.channels).toEqual(['default']);
});

const policyOf = (severity: 'info' | 'warning' | 'critical'): PolicyAlerts => ({
  ...noPolicies,
  of: () => ({ severity, channels: [], ...AS_CONFIGURED }),
});
const severityBy = (alerts: PolicyAlerts, notices: readonly Noticed[]) =>
  notices.map((one) => notify(one, { name: 'vigil', hash: 'h' }, alerts).payload.severity);

test.each(['info', 'critical'] as const)('a route has the severity that its policy sets: %s', (severity) => {
  const by = (notices: readonly Noticed[]) => severityBy(policyOf(severity), notices);
  const begun = (skipped: readonly object[]) =>
    tasksOf(story('RECOVERY_INITIATED', { fromCheckpoint: 'task-start', skipped }));
  expect(by(noticesOf(example(Topic.agentIntervention, 'TASK_BLOCKED')))).toEqual([severity]);
  expect(by(noticesOf(example(Topic.agentIntervention, 'ALERT_REQUESTED', { severity: 'UNKNOWN' })))).toEqual([
    severity,
  ]);
  expect(by(begun([{ checkpointId: 'c1', why: 'sha256' }]))).toEqual([severity]);
  expect(by(begun([]))).toEqual([severity]);
});

test("a policy's severity is kept: FAILING, an escalation and an unconfirmed end raise the urgency", () => {
  const by = (notices: readonly Noticed[]) =>
    notices.map((one) => notify(one, { name: 'vigil', hash: 'h' }, policyOf('info')).payload);
  for (const notices of [
    noticesOf(turned('FAILING')),
    noticesOf(example(Topic.agentIntervention, 'TERMINATION_UNCONFIRMED')),
    noticesOf(example(Topic.agentIntervention, 'ESCALATION_TRIGGERED')),
  ])
    expect(by(notices)).toMatchObject([{ severity: 'info', urgency: 'high' }]);
  expect(by(noticesOf(turned('STUCK')))).toMatchObject([{ severity: 'info', urgency: 'normal' }]);
});

test('each breaker of a task has its own alert; half open is neither', () => {
  const breaker = (name: string, to: 'OPEN' | 'HALF_OPEN' | 'CLOSED') =>
    brief(agentNotices(example(Topic.agentHealth, 'CIRCUIT_BREAKER_STATE_CHANGED', { name, to })));
  expect(breaker('tool execution', 'OPEN')).toEqual(['raise circuit_breaker_open:OMN-1234:tool-execution warning']);
  expect(breaker('external_api', 'HALF_OPEN')).toEqual([]);
  expect(breaker('external_api', 'CLOSED')).toEqual(['resolve circuit_breaker_open:OMN-1234:external_api info']);
});

test('the alert of an open breaker explains what follows and what to do, with a time to the second', () => {
  const changed = { to: 'OPEN', failures: 5, nextAttemptAt: Date.parse('2026-11-27T11:27:20.508Z') } as const;
  const [ofTask] = taskNotices(story('CIRCUIT_BREAKER_STATE_CHANGED', { ...changed, name: 'recovery_attempt' }));
  expect(ofTask?.payload).toMatchObject({
    title: 'OMN-1234: 5 attempts in a row have failed, so its recovery pauses',
    text: 'Vigil starts no agent for it until 2026-11-27 11:27:20 UTC; one trial follows. Find out why the attempts end: vigil task show OMN-1234',
    afterMs: 15_000,
  });
  const called = { ...changed, name: 'external_api', agentId: 'worker-1' };
  const [ofAgent] = agentNotices(example(Topic.agentHealth, 'CIRCUIT_BREAKER_STATE_CHANGED', called));
  expect(ofAgent?.payload).toMatchObject({
    title: 'OMN-1234: 5 failures in a row, so the breaker external_api is open',
    text: 'The agent is to stop calls of this kind. It is to try again from 2026-11-27 11:27:20 UTC. Find the cause: vigil explain worker-1',
  });
});

const recoveryBreaker = (to: 'OPEN' | 'HALF_OPEN' | 'CLOSED') =>
  taskNotices(story('CIRCUIT_BREAKER_STATE_CHANGED', { to, failures: 3, name: 'recovery_attempt' }));

/** The alert about the recovery of a task, by what is reported about it: each report, and how many milliseconds after the first. */
const pausing = (...reports: readonly (readonly [afterMs: number, notices: readonly Notify[]])[]) => {
  const settings = { groupWaitMs: 0, endWaitMs: 0, repeatMs: 1e9, routing: consoleOnly };
  const alert = given(alerts(settings), EXAMPLE_TIME);
  const [paused] = recoveryBreaker('OPEN') as [Notify];
  for (const [afterMs, notices] of reports)
    for (const { payload } of notices.filter(({ key }) => key === paused.key)) {
      const at = EXAMPLE_TIME + afterMs;
      alert.receive({ ...example(Topic.notify, 'NOTIFY', payload as never), occurredAt: at }, at);
    }
  return alert;
};
/** The shortest pause that a source sets is 30 s, and its alert is that source's own. */
const LIMIT_MS = 15_000;

test('a pause of recovery is an alert after 15 seconds, not a moment before', () => {
  const alert = pausing([0, recoveryBreaker('OPEN')]);
  expect(alert.passTo(EXAMPLE_TIME + LIMIT_MS - 1)).toEqual([]);
  expect(alert.passTo(EXAMPLE_TIME + LIMIT_MS).map(({ type }) => type)).toEqual(['ALERT_RAISED']);
});

test.each([
  ['the review, which is the one message', taskNotices(story('REVIEW_REQUIRED'))],
  ['a trial', recoveryBreaker('HALF_OPEN')],
  ['a closed breaker', recoveryBreaker('CLOSED')],
])('a pause of recovery that ends within 15 seconds by %s raises no alert, and ends none', (_, over) => {
  const alert = pausing([0, recoveryBreaker('OPEN')], [LIMIT_MS - 1, over]);
  expect(alert.passTo(EXAMPLE_TIME + 3_600_000)).toEqual([]);
  expect(alert.all()).toEqual([]);
});

test('of several pauses of recovery each has 15 seconds of its own', () => {
  const alert = pausing(
    [0, recoveryBreaker('OPEN')],
    [9_000, recoveryBreaker('HALF_OPEN')],
    [12_000, recoveryBreaker('OPEN')],
  );
  expect(alert.passTo(EXAMPLE_TIME + 27_000 - 1)).toEqual([]);
  expect(alert.passTo(EXAMPLE_TIME + 27_000)).toHaveLength(1);
});

test('an alert about a long pause of recovery stays one through its trials, and ends when one succeeds', () => {
  const alert = pausing([0, recoveryBreaker('OPEN')]);
  alert.passTo(EXAMPLE_TIME + LIMIT_MS);
  const receive = (to: 'OPEN' | 'HALF_OPEN' | 'CLOSED', afterMs: number) =>
    recoveryBreaker(to).flatMap(({ payload }) => {
      const at = EXAMPLE_TIME + afterMs;
      return alert.receive({ ...example(Topic.notify, 'NOTIFY', payload as never), occurredAt: at }, at);
    });
  expect(receive('HALF_OPEN', 60_000)).toEqual([]);
  expect(receive('OPEN', 61_000)).toEqual([]);
  expect(receive('CLOSED', 120_000).map(({ type }) => type)).toEqual(['ALERT_RESOLVED']);
});

test('a trial that is read after the pause that follows it does not end that pause', () => {
  const alert = pausing([0, recoveryBreaker('OPEN')]);
  const [trial] = recoveryBreaker('HALF_OPEN') as [Notify];
  const early = { ...example(Topic.notify, 'NOTIFY', trial.payload as never), occurredAt: EXAMPLE_TIME - 1000 };
  expect(alert.receive(early)).toEqual([]);
  expect(alert.passTo(EXAMPLE_TIME + LIMIT_MS)).toHaveLength(1);
});

test('a cause that two signals find appears once, and another cause stays', () => {
  const words = (...of: string[]) => {
    const changed = turned('STUCK');
    const evidence = of.map((one) => ({ ...changed.payload.evidence[0], words: one }));
    return agentNotices({ ...changed, payload: { ...changed.payload, evidence } } as typeof changed)[0]?.payload.text;
  };
  expect(words('5 times; limit 5', '5 times; limit 4')).toBe('5 times; limit 5');
  expect(words('5 times; limit 5', 'no call for 6 min; limit 5 min')).toBe(
    '5 times; limit 5; no call for 6 min; limit 5 min',
  );
});

test('the text of a start from the beginning adds to its title', () => {
  const [alert] = taskNotices(story('RECOVERY_INITIATED', { fromCheckpoint: 'task-start', skipped: [] }));
  expect(alert?.payload.title).toContain('it has no checkpoint');
  expect(alert?.payload.text).toMatch(/^Work of the previous agent may be done twice/);
});

test('a recovery that failed rises critical, and is over with a decision or a new agent', () => {
  // Recovery decides both at once: people get one message.
  expect(taskNotices(story('RECOVERY_FAILED'))).toEqual([]);
  expect(brief(taskNotices(story('REVIEW_REQUIRED')))).toEqual([
    'raise recovery_failed:OMN-1234 critical',
    'resolve checkpoint_lost:OMN-1234 info',
    'resolve circuit_breaker_open:OMN-1234:recovery_attempt info',
  ]);
  expect(taskNotices(story('REVIEW_REQUIRED'))[0]?.payload.options).toEqual(['retry', 'reset', 'abandon']);
  const over = ['resolve recovery_failed:OMN-1234 info', 'resolve task_blocked:OMN-1234 info'];
  expect(brief(taskNotices(story('REVIEW_DECIDED')))).toEqual(over);
  expect(brief(taskNotices(story('RECOVERY_COMPLETED')))).toEqual(over);
});

test('a task without a fitting runtime is one alert: which agent, how it ended, its last lines, and the commands that start it again', () => {
  const reason = 'no runtime can start OMN-1234: no runtime has a template for it. Write to a file: …';
  const cause = 'ended: crashed with exit code 3';
  const lastOutput = ['Traceback (most recent call last):', "KeyError: 'seven'"];
  const spawn = story('SPAWN_IMPOSSIBLE', { reason, agentId: 'worker-1', cause, lastOutput });
  const impossible = { ...spawn, policy: { name: 'vigil', hash: 'h' } };
  const [alert, ...more] = taskNotices(impossible);
  expect(more).toEqual([]);
  expect(alert?.payload).toMatchObject({
    agentId: 'worker-1',
    taskId: 'OMN-1234',
    title: 'OMN-1234 has no agent after worker-1 (ended: crashed with exit code 3)',
  });
  expect(alert?.payload.text.split('\n')).toEqual([
    'Start it again: `vigil run --name worker-1 --task OMN-1234 --health-policy vigil -- COMMAND`. Or let a runtime do it: see the end of this text.',
    'The last output of worker-1:',
    ...lastOutput,
    reason,
  ]);
  expect(brief(taskNotices(impossible))).toEqual(['raise recovery_failed:OMN-1234 critical']);
  expect(brief(taskNotices(story('RECOVERY_COMPLETED')))).toContain('resolve recovery_failed:OMN-1234 info');
});

test('the alerts of a recovery that waits, or needs a review, have the last lines of the dead agent', () => {
  const end = { agentId: 'worker-1', cause: 'ended: crashed by SIGKILL', lastOutput: ['out of memory'] };
  const [waits] = taskNotices(story('RECOVERY_WAITING', { reason: 'no room', refusals: 5, ...end }));
  expect(waits?.payload.text).toContain(
    'worker-1 had it (ended: crashed by SIGKILL)\nThe last output of worker-1:\nout of memory',
  );
  const [review] = taskNotices(story('REVIEW_REQUIRED', { reason: '3 of 3 attempts used', ...end }));
  expect(review?.payload.text).toBe('3 of 3 attempts used\nThe last output of worker-1:\nout of memory');
});

test('a task that starts again is announced, more urgently if checkpoints were skipped; one that continues is not', () => {
  const begun = (fromCheckpoint: string, skipped: readonly object[]) =>
    brief(taskNotices(story('RECOVERY_INITIATED', { fromCheckpoint, skipped })));
  expect(begun('task-start', [{ checkpointId: 'c1', why: 'sha256' }])).toEqual([
    'raise checkpoint_lost:OMN-1234 warning',
  ]);
  expect(begun('task-start', [])).toEqual(['raise checkpoint_lost:OMN-1234 info']);
  expect(begun('c0', [{ checkpointId: 'c1', why: 'sha256' }])).toEqual([]);
});

test('a released task is over in every respect, unless another agent holds it', () => {
  expect(brief(taskNotices(story('TASK_RELEASED', { why: 'finished' })))).toHaveLength(5);
  expect(brief(taskNotices(story('TASK_RELEASED', { why: 'reassigned' })))).not.toContain(
    'resolve stuck_agent:OMN-1234 info',
  );
});

test('the brake is one incident of the fleet', () => {
  expect(brief(fleetNotices(example(Topic.fleetGovernance, 'BRAKE_ENGAGED')))).toEqual([
    'raise fleet_brake:fleet critical',
    'inhibit gates:fleet warning',
  ]);
  expect(brief(fleetNotices(example(Topic.fleetGovernance, 'BRAKE_RELEASED')))).toEqual([
    'resolve fleet_brake:fleet info',
    'release gates:fleet warning',
  ]);
  expect(fleetNotices(example(Topic.fleetGovernance, 'FLEET_HALTED'))).toEqual([]);
});

test('the alert of a brake names what it holds and the first agents to go; a brake of one place leaves the rest as usual', () => {
  const textsOf = (payload: object) => {
    const [raised] = fleetNotices(example(Topic.fleetGovernance, 'BRAKE_ENGAGED', payload));
    return { title: raised?.payload.title, text: raised?.payload.text };
  };
  const why = '3 of 19 lost within 30 s (fleet)';
  expect(textsOf({ scope: 'runtime:farm-rt', agentIds: ['a', 'b', 'c'], why })).toEqual({
    title: 'At least 3 agents of runtime farm-rt went at once: no agent of runtime farm-rt is ended',
    text: `${why}. The first to go: a, b, c. Agents elsewhere are handled as usual.`,
  });
  const many = Array.from({ length: 12 }, (_, n) => `w${n}`);
  const fleet = textsOf({ scope: 'fleet', agentIds: many, why });
  expect(fleet.title).toBe('At least 12 agents went at once: no agent of the fleet is ended');
  expect(fleet.text).toContain('w9 and 2 more.');
  expect(fleet.text).not.toContain('elsewhere');
});

test('a key is never longer than Kafka’s keys may be here', () => {
  for (const taskId of ['x'.repeat(128), 'y']) {
    const [notice] = agentNotices(
      example(Topic.agentHealth, 'CIRCUIT_BREAKER_STATE_CHANGED', { taskId, to: 'OPEN', name: 'n'.repeat(90) }),
    );
    expect(notice?.key).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
  }
});

test('every event of the mapped topics has its answer', () => {
  const kinds = (topic: keyof typeof catalogue) =>
    catalogue[topic].events.map(({ type }) => example(topic, type as never));
  for (const event of [...kinds(Topic.agentHealth), ...kinds(Topic.agentIntervention)])
    expect(agentNotices(event)).toBeInstanceOf(Array);
  for (const event of kinds(Topic.taskRecovery)) expect(taskNotices(event)).toBeInstanceOf(Array);
  for (const event of kinds(Topic.fleetGovernance)) expect(fleetNotices(event)).toBeInstanceOf(Array);
});

test('a message is one line, even if agents write control characters into it', () => {
  const event = example(Topic.alert, 'ALERT_RAISED', {
    route: 'stuck_agent',
    severity: 'critical',
    title: 'a\u001b[2Jb\n\u202e',
    text: 'c',
    itemId: 'task/OMN-1234',
    options: ['retry'],
    deadlineAt: 0,
    channels: ['default'],
  });
  expect(lineOf(event, ['console'])).toBe(
    'ALERT raised [critical] stuck_agent OMN-1234: a [2Jb  (c; task/OMN-1234 of `vigil inbox`) options: retry until 1970-01-01 00:00:00 UTC',
  );
});

test('a recovery that waits for a runtime is announced, and over when an agent runs', () => {
  const waiting = tasksOf(story('RECOVERY_WAITING', { reason: 'no runtime has room', refusals: 5 }));
  expect(waiting).toMatchObject([
    {
      route: 'recovery_failed',
      action: 'raise',
      details: { severity: 'warning', text: expect.stringMatching(/no room|has room/) },
    },
  ]);
  const begun = tasksOf(story('RECOVERY_COMPLETED', {}));
  expect(begun[0]).toMatchObject({ route: 'recovery_failed', action: 'resolve' });
});

test('a recovery that waits for the end of a limit is reported without refusals', () => {
  const reason = 'worker-1 had reached a limit that holds until 2026-11-23 15:45:00 UTC';
  const limited = { reason, refusals: 0, agentId: null, cause: null, lastOutput: [] };
  expect(tasksOf(story('RECOVERY_WAITING', limited))).toMatchObject([
    { action: 'raise', details: { severity: 'warning', text: `${reason}; a fresh agent takes it up then` } },
  ]);
});

const ofCase = (type: 'CASE_CLOSED' | 'ESCALATION_DECIDED', payload: object) =>
  brief(agentNotices(example(Topic.agentIntervention, type, payload as never)));

test('an alert of an agent that has ended is over with its case: its end is not sent again', () => {
  expect(ofCase('CASE_CLOSED', { ending: 'executed', instanceEnded: true })).toEqual([
    'resolve stuck_agent:OMN-1234 info',
  ]);
});

test('the question of a case is over when it is decided, also by more time, or its case closed', () => {
  const settled = ['settle stuck_agent:OMN-1234 warning'];
  expect(ofCase('CASE_CLOSED', { ending: 'pardoned', instanceEnded: false })).toEqual(settled);
  expect(ofCase('ESCALATION_DECIDED', { decision: 'pardon' })).toEqual(['settle stuck_agent:OMN-1234 info']);
  expect(ofCase('ESCALATION_DECIDED', { decision: 'allow_more_time' })).toEqual(settled);
  const decided = example(Topic.agentIntervention, 'ESCALATION_DECIDED', { decision: 'allow_more_time', by: 'ada' });
  expect(agentNotices(decided)[0]?.payload.title).toMatch(/: allow more time, decided by ada$/);
});

test.each([
  ['pardon', true],
  ['allow_more_time', false],
  ['terminate_and_recover', false],
] as const)('the decision %s is marked as a pardon: %s', (decision, isPardon) => {
  const decided = example(Topic.agentIntervention, 'ESCALATION_DECIDED', { decision });
  expect(agentNotices(decided)[0]?.payload).toMatchObject({ action: 'settle', isPardon });
});

test('a decision that was not carried out is announced, apart from the alert of the agent, and leaves no alert open', () => {
  const lapsed = agentNotices(example(Topic.agentIntervention, 'DECISION_LAPSED', { by: 'ada', why: 'halted: …' }));
  const key = 'stuck_agent:OMN-1234:decision';
  expect(brief(lapsed)).toEqual([`raise ${key} warning`, `resolve ${key} info`]);
  expect(lapsed[0]?.payload.title).toContain('as ada had decided');
  const noticesOfTask = lapsed.reduce(
    (one, { payload }) => {
      one.receive(example(Topic.notify, 'NOTIFY', { ...payload, alertKey: key } as never));
      return one;
    },
    given(alerts({ groupWaitMs: 30_000, endWaitMs: 0, repeatMs: 1e9, routing: consoleOnly }), 1),
  );
  expect(noticesOfTask.all().map(({ type }) => type)).toEqual(['ALERT_RAISED', 'ALERT_UPDATED', 'ALERT_RESOLVED']);
});

test('an alert about an item of the inbox has the id of the item', () => {
  const itemOf = (notices: readonly Notify[]) => notices[0]?.payload.itemId;
  const wait = (kind: 'question' | 'prompt') => example(Topic.agentHealth, 'WAIT_OVERDUE', { kind });
  expect(itemOf(agentNotices(example(Topic.agentIntervention, 'ESCALATION_TRIGGERED')))).toBe('case/case-1');
  expect(itemOf(taskNotices(story('REVIEW_REQUIRED')))).toBe('task/OMN-1234');
  expect(itemOf(agentNotices(example(Topic.agentIntervention, 'TASK_BLOCKED')))).toBe('task/OMN-1234');
  const question = example(Topic.agentIntervention, 'ESCALATION_TRIGGERED');
  expect(agentNotices(question)[0]?.payload.askedAt).toBe(question.occurredAt);
  expect(taskNotices(story('REVIEW_REQUIRED'))[0]?.payload.askedAt).toBe(story('REVIEW_REQUIRED').occurredAt);
  expect(itemOf(fleetNotices(example(Topic.fleetGovernance, 'BRAKE_ENGAGED')))).toBe('brake');
  expect(itemOf(agentNotices(wait('question')))).toBe('agent/worker-1');
  expect(itemOf(agentNotices(wait('prompt')))).toBeNull();
  expect(itemOf(agentNotices(turned('STUCK')))).toBeNull();
});
