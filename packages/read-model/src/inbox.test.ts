import { expect, test } from 'vitest';
import { type InboxSources, inboxOf } from './inbox.ts';

const nothing = {
  cases: [],
  requests: [],
  expired: [],
  agents: [],
  tasks: [],
  tickets: [],
  alerts: [],
  fleet: { braked: false },
};
const inboxWith = (more: object) => inboxOf({ ...nothing, ...more } as unknown as InboxSources);

const waitingCase = {
  caseId: 'c-1',
  agentId: 'worker-1',
  taskId: 'T-1',
  waiting: true,
  evidence: [{ words: 'no progress for 20 min' }],
  escalationReason: 'no progress for 20 min',
  escalationAt: 500,
  escalationDeadlineAt: 9000,
  escalationOnTimeout: 'terminate',
  escalationOptions: ['pardon', 'terminate_and_recover'],
};
const asking = (kind: string) => ({
  agentId: 'worker-2',
  taskId: 'T-2',
  waitingFor: { kind, text: 'Run rm -rf build?', since: 1 },
  exemptionSince: 300,
  runtimeId: 'host-1',
  host: 'build-7',
});
const ticket = {
  ticketId: 't-1',
  agentId: 'worker-3',
  taskId: null,
  answer: 'intervene',
  alertKey: 'k',
  analysis: 'a loop',
  answeredAt: 700,
};
const inReview = { agentId: null, recovery: 'REVIEW_REQUIRED' };
const alert = { alertId: 'a-1', alertKey: 'k', acknowledgedAt: null };

test('a fleet in which no agent waits has an empty inbox', () => {
  expect(inboxWith({})).toEqual([]);
});

test('a case whose reason is not what was found shows the finding first, and each once', () => {
  const textOf = (more: object) => inboxWith({ cases: [{ ...waitingCase, ...more }] })[0]?.text;
  expect(textOf({ escalationReason: 'it reports no instance_id' })).toBe(
    'no progress for 20 min. it reports no instance_id',
  );
  expect(textOf({ escalationReason: 'no progress for 20 min; two nudges had no answer' })).toBe(
    'no progress for 20 min; two nudges had no answer',
  );
  expect(textOf({ escalationReason: 'asked for by ada', evidence: [] })).toBe('asked for by ada');
});

test('a case with a question has its options, its deadline and what happens then', () => {
  expect(inboxWith({ cases: [waitingCase, { ...waitingCase, caseId: 'c-2', waiting: false }] })).toEqual([
    {
      id: 'case/c-1',
      kind: 'case',
      agentId: 'worker-1',
      taskId: 'T-1',
      text: 'no progress for 20 min',
      since: 500,
      deadlineAt: 9000,
      atDeadline: 'terminate',
      withoutAnswer: 'terminate (the plan continues with its next step)',
      options: [
        { name: 'pardon', label: 'pardon', command: 'vigil inbox answer case/c-1 pardon --why "…"' },
        {
          name: 'terminate_and_recover',
          label: 'terminate_and_recover',
          command: 'vigil inbox answer case/c-1 terminate_and_recover --why "…"',
        },
      ],
      questions: [],
      command: null,
      alertId: null,
    },
  ]);
});

test.each([
  ['no progress for 31 min', 'no progress for 31 min'],
  ['it reports no instance_id', 'no progress for 20 min. it reports no instance_id'],
])('the finding is named once, with the figures of the question: %s', (escalationReason, text) => {
  expect(inboxWith({ cases: [{ ...waitingCase, escalationReason }] })).toMatchObject([{ text }]);
});

test('without a deadline nothing happens by itself', () => {
  const [item] = inboxWith({ cases: [{ ...waitingCase, escalationDeadlineAt: null, escalationOnTimeout: 'hold' }] });
  expect(item).toMatchObject({ deadlineAt: null, atDeadline: null });
});

test.each(['permission', 'question'])('a %s of an agent waits for a person', (kind) => {
  expect(inboxWith({ agents: [asking(kind)] })).toMatchObject([
    {
      id: 'agent/worker-2',
      kind,
      text: 'Run rm -rf build?',
      since: 300,
      deadlineAt: null,
      withoutAnswer:
        'nothing happens: it waits until a person answers in its terminal on its host build-7: that of `vigil run`, or `vigil attach worker-2 --write` where it runs in the background',
      options: [],
      command: 'vigil attach worker-2 --write',
    },
  ]);
});

test.each([
  ['Run it?', 'Run it? Answer in its own terminal.'],
  ['Bash', 'Bash. Answer in its own terminal.'],
  [null, 'It waits for a person (question). Answer in its own terminal.'],
])('an agent without a runtime is answered in its own terminal, which Vigil does not have: %s', (asked, text) => {
  const alone = { ...asking('question'), runtimeId: null, waitingFor: { kind: 'question', text: asked, since: 1 } };
  const withoutAnswer = 'nothing happens: it waits until a person answers in its own terminal on its host';
  expect(inboxWith({ agents: [{ ...alone, host: null }] })).toMatchObject([
    { id: 'agent/worker-2', text, options: [], command: null, deadlineAt: null, withoutAnswer },
  ]);
});

test('an agent that waits in its own terminal leaves the inbox by the acknowledgement of its alert', () => {
  const alone = { ...asking('question'), runtimeId: null };
  const waits = { alertId: 'a-2', alertKey: 'w', route: 'awaiting_input', agentId: 'worker-2', acknowledgedAt: null };
  const command = 'vigil inbox answer agent/worker-2 acknowledge --why "…"';
  expect(inboxWith({ agents: [alone], alerts: [waits] })).toMatchObject([
    { id: 'agent/worker-2', alertId: 'a-2', options: [{ name: 'acknowledge', command }] },
  ]);
  expect(inboxWith({ agents: [alone], alerts: [{ ...waits, acknowledgedAt: 400 }] })).toEqual([]);
  const others = [{ ...waits, agentId: 'worker-3', acknowledgedAt: 400 }];
  expect(inboxWith({ agents: [alone], alerts: others })).toMatchObject([{ alertId: null, options: [] }]);
  // Its runtime takes the answer, so it waits until it has it.
  const acknowledged = [{ ...waits, acknowledgedAt: 400 }];
  expect(inboxWith({ agents: [asking('question')], alerts: acknowledged })).toMatchObject([{ options: [] }]);
});

const request = {
  requestId: 'r-1',
  agentId: 'worker-2',
  taskId: 'T-2',
  kind: 'permission',
  text: 'Bash: rm -rf build',
  options: [
    { name: 'allow', label: 'Allow' },
    { name: 'deny', label: 'Deny' },
  ],
  questions: [],
  deadlineAt: 8500,
  atDeadline: 'no_decision',
  openedAt: 300,
};

test('a request with a waiting hook has its options and its deadline, and is there once', () => {
  const items = inboxWith({ requests: [request], agents: [asking('permission')] });
  expect(items).toEqual([
    {
      ...{ id: 'request/r-1', kind: 'permission', agentId: 'worker-2', taskId: 'T-2', text: 'Bash: rm -rf build' },
      ...{ since: 300, deadlineAt: 8500, atDeadline: 'no_decision' },
      withoutAnswer: 'no decision, so an interactive client keeps its dialog, and a headless call is denied',
      options: [
        { name: 'allow', label: 'Allow', command: 'vigil inbox answer request/r-1 allow' },
        { name: 'deny', label: 'Deny', command: 'vigil inbox answer request/r-1 deny' },
      ],
      questions: [],
      command: null,
      alertId: null,
    },
  ]);
});

const stillAsking = (more: object = {}) => ({
  ...{ ...asking('permission'), instanceId: 'i-1', waitingFor: { kind: 'permission', text: 'Bash', since: 1 } },
  ...more,
});
const expired = { ...request, instanceId: 'i-1', settled: 'expired', settledAt: 8500 };

test('after the deadline of its request the item of the agent has the command that it waits for', () => {
  expect(inboxWith({ agents: [stillAsking()], expired: [expired] })).toMatchObject([
    { id: 'agent/worker-2', text: 'Bash: rm -rf build', options: [] },
  ]);
});

test.each([
  ['of another agent', {}, { agentId: 'worker-3' }],
  ['of an earlier instance', {}, { instanceId: 'i-0' }],
  ['for another tool', {}, { text: 'Write: /a' }],
  ['of another kind', {}, { kind: 'question' }],
  ['that expired before the wait began', { exemptionSince: 8500 }, {}],
] as const)('a request %s is not what the agent waits for', (_, ofAgent, ofRequest) => {
  const sources = { agents: [stillAsking(ofAgent)], expired: [{ ...expired, ...ofRequest }] };
  expect(inboxWith(sources)).toMatchObject([{ id: 'agent/worker-2', text: 'Bash' }]);
});

const asked = (name: string) => ({ name, header: name, text: 'Which?', isMultiple: true, options: [] });

test('several questions have one command, and a single one also takes other words than its options', () => {
  const questions = [asked('Auth method'), asked('Features')];
  const [several] = inboxWith({ requests: [{ ...request, kind: 'question', options: [], questions }] });
  expect(several).toMatchObject({
    ...{ kind: 'question', options: [], questions },
    command: "vigil inbox answer request/r-1 --answer 'Auth method=…' --answer 'Features=…'",
  });
  const options = [{ name: '1', label: 'Postgres' }];
  const [single] = inboxWith({ requests: [{ ...request, options, questions: [asked('Database')] }] });
  expect(single?.command).toBe("vigil inbox answer request/r-1 --other 'Database=…'");
});

test('an agent at its idle prompt asks nothing', () => {
  expect(inboxWith({ agents: [asking('prompt'), { ...asking('x'), waitingFor: null }] })).toEqual([]);
});

test('a task in review has the three decisions', () => {
  const tasks = [{ ...inReview, taskId: 'T-4', recoveryReason: 'three attempts failed', recoveryAt: 1 }];
  expect(inboxWith({ tasks })[0]).toMatchObject({ id: 'task/T-4', kind: 'review', text: 'three attempts failed' });
  expect(inboxWith({ tasks })[0]?.options.map(({ name }) => name)).toEqual(['retry', 'abandon', 'reset']);
});

const blockedAlert = {
  ...{ alertId: 'a-7', alertKey: 'task_blocked:T-7', route: 'task_blocked', agentId: 'worker-7', taskId: 'T-7' },
  ...{ text: 'agent stalled 3 times', raisedAt: 900, acknowledgedAt: null },
};

test('a blocked task waits until its alert is acknowledged or over, and names the command that continues it', () => {
  const command = 'vigil inbox answer task/T-7 acknowledge --why "…"';
  expect(inboxWith({ alerts: [blockedAlert] })).toMatchObject([
    {
      ...{ id: 'task/T-7', kind: 'review', agentId: 'worker-7', taskId: 'T-7', since: 900, alertId: 'a-7' },
      text: 'BLOCKED: agent stalled 3 times',
      withoutAnswer: expect.stringContaining('`vigil recover worker-7` gives it to a fresh one'),
      options: [{ name: 'acknowledge', command }],
    },
  ]);
  expect(inboxWith({ alerts: [{ ...blockedAlert, acknowledgedAt: 901 }] })).toEqual([]);
});

test('a blocked agent without a task waits under its own name', () => {
  expect(inboxWith({ alerts: [{ ...blockedAlert, taskId: null }] })).toMatchObject([{ id: 'task/worker-7' }]);
});

test('a task that is blocked and in review is one item, with the decisions of the review', () => {
  const tasks = [{ ...inReview, taskId: 'T-7', recoveryReason: 'three attempts failed', recoveryAt: 1 }];
  const items = inboxWith({ tasks, alerts: [blockedAlert] });
  expect(items).toMatchObject([{ id: 'task/T-7', options: [{ name: 'retry' }, {}, {}], alertId: null }]);
});

test('a blocked task that no review is about has no decisions of a review', () => {
  const tasks = [{ taskId: 'T-7', agentId: 'worker-7', recovery: null, blockedAlertId: 'a-7' }];
  const items = inboxWith({ tasks, alerts: [blockedAlert] });
  expect(items).toMatchObject([{ id: 'task/T-7', options: [{ name: 'acknowledge' }], alertId: 'a-7' }]);
});

test('a ticket that came after its alert was acknowledged waits, because no person has seen it', () => {
  const alerts = [{ ...alert, acknowledgedAt: ticket.answeredAt - 1 }];
  expect(inboxWith({ tickets: [ticket], alerts })).toMatchObject([{ id: 'ticket/t-1' }]);
});

test('a ticket waits until its alert is acknowledged or over; a dismissed one does not wait', () => {
  const tickets = [ticket];
  expect(inboxWith({ tickets, alerts: [alert] })).toMatchObject([
    {
      ...{ id: 'ticket/t-1', text: 'a loop', alertId: alert.alertId },
      options: [{ name: 'acknowledge', command: 'vigil inbox answer ticket/t-1 acknowledge --why "…"' }],
    },
  ]);
  expect(inboxWith({ tickets, alerts: [{ ...alert, acknowledgedAt: ticket.answeredAt }] })).toEqual([]);
  expect(inboxWith({ tickets, alerts: [] })).toEqual([]);
  expect(inboxWith({ tickets: [{ ...ticket, answer: 'dismissed' }], alerts: [alert] })).toEqual([]);
  expect(inboxWith({ tickets: [{ ...ticket, answer: null }], alerts: [alert] })).toEqual([]);
});

test('a brake waits to be lifted, and shows what happens without an answer', () => {
  const fleet = { braked: true, brakeScope: 'fleet', brakeWhy: '8 of 10 agents are lost', brakeAt: 3 };
  expect(inboxWith({ fleet })).toMatchObject([
    {
      id: 'brake',
      text: 'fleet: 8 of 10 agents are lost',
      withoutAnswer: expect.stringMatching(/^it lifts by itself once /),
      since: 3,
    },
  ]);
});

test('the earliest deadline is first, then what has waited longest', () => {
  const cases = [waitingCase, { ...waitingCase, caseId: 'c-0', escalationDeadlineAt: 8000 }];
  const tasks = [{ ...inReview, taskId: 'T-4', recoveryReason: null, recoveryAt: 200 }];
  const ids = inboxWith({ cases, agents: [asking('question')], tasks }).map(({ id }) => id);
  expect(ids).toEqual(['case/c-0', 'case/c-1', 'task/T-4', 'agent/worker-2']);
});

test('an option or an id that an agent has chosen is one word of the printed command', () => {
  const options = [{ name: "x'; rm -rf ~ #", label: 'Yes' }];
  const [item] = inboxWith({ requests: [{ ...request, requestId: 'r 1', options }] });
  expect(item?.options[0]?.command).toBe(`vigil inbox answer 'request/r 1' 'x'\\''; rm -rf ~ #'`);
});

test('each kind of item shows what happens without an answer', () => {
  const items = inboxWith({
    cases: [waitingCase, { ...waitingCase, caseId: 'c-2', escalationDeadlineAt: null }],
    requests: [request],
    agents: [{ ...asking('question'), agentId: 'worker-9' }],
    tasks: [{ ...inReview, taskId: 'T-4', recoveryReason: null, recoveryAt: 1 }],
    tickets: [ticket],
    alerts: [alert],
    fleet: { braked: true, brakeScope: 'fleet', brakeWhy: null, brakeAt: 3 },
  });
  expect(Object.fromEntries(items.map(({ id, withoutAnswer }) => [id, withoutAnswer.slice(0, 30)]))).toEqual({
    brake: 'it lifts by itself once most o',
    'case/c-1': 'terminate (the plan continues ',
    'case/c-2': 'nothing happens: the case wait',
    'request/r-1': 'no decision, so an interactive',
    'agent/worker-9': 'nothing happens: it waits unti',
    'task/T-4': 'nothing happens: the task wait',
    'ticket/t-1': 'the agent continues, and the t',
  });
});
