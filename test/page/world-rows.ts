import type {
  AgentRow,
  AlertRow,
  BreakerRow,
  CaseStory,
  CheckpointRow,
  Entry,
  FleetRow,
  PolicyRow,
  RecoveryRow,
  RequestRow,
  SilenceRow,
  TaskRow,
  TicketRow,
} from '@vigil/read-model';

const MINUTE = 60_000;

export const FLEET: FleetRow = {
  ...{ halted: false, haltBy: null, haltWhy: null, haltAt: null, braked: false, brakeScope: null, brakeAgents: [] },
  ...{ brakeWhy: null, brakeAt: null, dryRun: false, dryRunBy: null, dryRunWhy: null },
};

export const entry = (at: number, type: string, agent: AgentRow, payload: object): Entry => ({
  ...{ eventId: `${type}-${at}`, at, type, agentId: agent.agentId, taskId: agent.taskId, caseId: agent.caseId },
  payload: { agentId: agent.agentId, ...payload },
});

const OPTIONS = ['allow_more_time', 'pardon', 'force_handoff', 'terminate_and_recover'];

/** The cases of the agents that have one. */
export const casesOf = (agents: readonly AgentRow[], now: number): CaseStory[] =>
  agents
    .filter(({ caseId }) => caseId !== null)
    .map((agent, index): CaseStory => {
      const asked = agent.caseWaiting;
      const openedAt = (agent.since ?? now) + 2000;
      return {
        ...{ caseId: agent.caseId ?? '', agentId: agent.agentId, instanceId: 'i1', taskId: agent.taskId },
        ...{ episodeId: agent.episodeId, warrantId: `w-${index}`, requestedBy: null, state: agent.state },
        ...{ axes: ['absence'], planName: 'stuck', runtimeId: agent.runtimeId, evidence: agent.evidence, note: null },
        plan: [{ step: 'nudge' }, { step: 'escalate' }, { step: 'terminate' }, { step: 'recover' }],
        ...{ openedAt, policyName: agent.policyName, policyHash: agent.policyHash, withheld: null },
        ...{ step: asked ? 'ESCALATION_TRIGGERED' : 'NUDGE_SENT', stepAt: openedAt + 90_000, waiting: asked },
        escalationAt: asked ? now - 95_000 : null,
        escalationReason: asked ? `${agent.reason}. Two nudges had no answer.` : null,
        escalationOptions: asked ? OPTIONS : [],
        escalationDeadlineAt: asked ? now + (index + 1) * 4.6 * MINUTE : null,
        escalationOnTimeout: asked ? 'terminate' : null,
        ...{ decision: null, decisionBy: null, decisionWhy: null, decisionAt: null },
        ...{ moreTimeUntil: null, closedAt: null, ending: null, closedWhy: null },
        trail: [
          entry(openedAt, 'CASE_OPENED', agent, { planName: 'stuck', requestedBy: null, note: null }),
          entry(openedAt + 1000, 'STEP_ADMITTED', agent, { step: 'nudge', dryRun: false }),
          entry(openedAt + 1200, 'NUDGE_SENT', agent, {
            attempt: 1,
            of: 2,
            message: 'You have made no call for a while. What are you waiting for?',
          }),
          entry(openedAt + 61_200, 'NUDGE_SENT', agent, {
            attempt: 2,
            of: 2,
            message: 'Please continue, or say what blocks you.',
          }),
        ],
      };
    });

const ticketOf = (agent: AgentRow, ticketId: string, more: Partial<TicketRow>): TicketRow => ({
  ...{ ticketId, agentId: agent.agentId, instanceId: 'i1', taskId: agent.taskId, episodeId: null, labels: {} },
  ...{ severity: 'high', ticket: null, findings: null, filedAt: null, answer: null, analysis: null, alertKey: null },
  answeredAt: null,
  ...more,
});

export const ticketsOf = (agents: readonly AgentRow[], now: number): TicketRow[] => {
  const [first, second] = [agents[41], agents[58]] as [AgentRow, AgentRow];
  return [
    ticketOf(first, 'tk-20c4', {
      ...{
        filedAt: now - 12_000,
        answer: 'intervene',
        answeredAt: now - 8000,
        alertKey: `escalation_ticket:${first.taskId}`,
      },
      analysis:
        'It calls `kubectl get pods` again and again with the same answer. Nothing new was found for 4 minutes: a loop.',
    }),
    ticketOf(second, 'tk-1fb9', {
      ...{ severity: 'low', filedAt: now - 40 * MINUTE, answer: 'dismissed', answeredAt: now - 39 * MINUTE },
      analysis: 'A single timeout that has ended by itself.',
    }),
  ];
};

export const alertsOf = (agents: readonly AgentRow[], tickets: readonly TicketRow[], now: number): AlertRow[] => {
  const alert = (id: number, agent: AgentRow | null, more: Partial<AlertRow>): AlertRow => ({
    ...{ alertId: `al-${id}`, alertKey: `stuck_agent:${agent?.taskId}`, route: 'stuck_agent', severity: 'warning' },
    ...{ urgency: 'normal', title: null, text: null },
    ...{ agentId: agent?.agentId ?? null, taskId: agent?.taskId ?? null, caseId: agent?.caseId ?? null, options: [] },
    ...{ deadlineAt: null, updatedAt: null, raisedAt: now - id * 7 * MINUTE, acknowledgedAt: null },
    ...{ acknowledgedBy: null, waitsAgain: false, resolvedAt: null },
    deliveries: [{ sink: 'slack', ok: true, detail: null }],
    ...more,
  });
  const [stuck, failing, asked, ended] = [agents[3], agents[17], agents[41], agents[130]] as AgentRow[];
  return [
    alert(1, stuck ?? null, {
      severity: 'critical',
      title: `${stuck?.agentId} waits for a decision`,
      text: stuck?.reason ?? '',
    }),
    alert(2, failing ?? null, {
      severity: 'critical',
      title: `${failing?.agentId} fails every call`,
      text: failing?.reason ?? '',
    }),
    alert(3, asked ?? null, {
      ...{ route: 'escalation_ticket', alertKey: tickets[0]?.alertKey ?? null, severity: 'high' },
      ...{ title: `A ticket asks for a look at ${asked?.agentId}`, text: tickets[0]?.analysis ?? '' },
      ...{ acknowledgedAt: (tickets[0]?.answeredAt ?? now) - MINUTE, acknowledgedBy: 'ada', waitsAgain: true },
    }),
    alert(4, ended ?? null, {
      ...{ route: 'recovery_failed', severity: 'critical', title: 'Recovery failed: 3 of 3 attempts used' },
      ...{ acknowledgedAt: now - 20 * MINUTE, acknowledgedBy: 'grace' },
      deliveries: [
        { sink: 'slack', ok: true, detail: null },
        { sink: 'pagerduty', ok: false, detail: '429: retried at 14:20' },
      ],
    }),
    alert(9, agents[12] ?? null, {
      ...{ route: 'circuit_breaker_open', title: 'Breaker external_api is open', resolvedAt: now - 55 * MINUTE },
    }),
  ];
};

export const breakersOf = (agents: readonly AgentRow[], now: number): BreakerRow[] => {
  const breaker = (index: number, more: Partial<BreakerRow>): BreakerRow => ({
    ...{ name: 'tool_execution', agentId: agents[index]?.agentId ?? null, taskId: agents[index]?.taskId ?? null },
    ...{ state: 'OPEN', failures: 8, nextAttemptAt: now + 45_000, since: now - 75_000, trips: 3 },
    ...more,
  });
  return [
    breaker(17, { failures: 14, trips: 6 }),
    breaker(41, {
      name: 'external_api',
      failures: 5,
      state: 'HALF_OPEN',
      nextAttemptAt: now - 1000,
      since: now - 310_000,
      trips: 2,
    }),
    breaker(130, {
      name: 'recovery',
      agentId: null,
      failures: 3,
      nextAttemptAt: null,
      since: now - 18 * MINUTE,
      trips: 1,
    }),
    breaker(12, {
      name: 'checkpoint_write',
      state: 'CLOSED',
      failures: 0,
      nextAttemptAt: null,
      since: now - 3_300_000,
      trips: 1,
    }),
  ];
};

export const tasksOf = (agents: readonly AgentRow[], now: number): TaskRow[] =>
  agents.map(
    (agent, index): TaskRow => ({
      ...{
        taskId: agent.taskId ?? '',
        agentId: agent.agentId,
        state: agent.state,
        hold: 'held',
        attempt: agent.attempt,
      },
      ...{ endReason: agent.endReason, recovery: null, recoveryAt: null, recoveryReason: null },
      ...{ blockedReason: null, blockedAt: null, blockedAlertId: null },
      ...{ checkpoints: index % 12, lastCheckpoint: index % 12 === 0 ? null : `c-${index % 12}` },
      ...(index === 130 && {
        ...{ recovery: 'REVIEW_REQUIRED', recoveryAt: now - 18 * MINUTE, attempt: 3 },
        recoveryReason: '3 of 3 attempts used: each ended with code 137 while it ran the integration tests',
      }),
      ...(index === 21 && {
        ...{
          recovery: 'SPAWN_IMPOSSIBLE',
          recoveryAt: now - 4 * MINUTE,
          lastCheckpoint: `checkpoint_of_${agent.agentId}_after_the_12th_part`,
        },
        recoveryReason: `no runtime can start OMN-${4100 + index}: none has a template for it`,
      }),
      ...(index === 20 && { recovery: 'RECOVERY_COMPLETED', recoveryAt: now - 50 * MINUTE, attempt: 2 }),
    }),
  );

/** As long as a real plan: its document scrolls. */
const PLAN = [
  { nudge: { attempts: 2, interval: '5m' } },
  { alert: { severity: 'warning' } },
  { escalate: { timeout: '15m', options: OPTIONS } },
  { terminate: { grace: '30s', cleanup: '60s', requires: ['hard', 'two_axes', 'unanswered'] } },
];

export const policiesOf = (now: number): (PolicyRow & { document: object })[] => {
  const policy = (name: string, agents: number, document: object, more: Partial<PolicyRow>) => ({
    ...{ name, hash: `${name}-7c1e90ab`.slice(0, 16), origin: 'preset' as const, publishedBy: 'health-evaluator' },
    ...{ publishedAt: now - 26 * 60 * MINUTE, why: null, agents, document },
    ...more,
  });
  const vigil = {
    policy: 'vigil',
    signals: { no_calls: { after: '6m' }, context: { above: 85 }, repeated_call: { times: 8 } },
    plans: ['STUCK', 'FAILING'].map((when) => ({ when, do: PLAN })),
  };
  return [
    policy(
      'coditect',
      22,
      { ...vigil, policy: 'coditect', signals: { no_calls: { after: '10m' }, context: { above: 80 } } },
      {},
    ),
    policy(
      'night',
      0,
      { ...vigil, policy: 'night' },
      { origin: 'applied', publishedBy: 'ada', why: 'no terminations while people are away' },
    ),
    policy('vigil', 178, vigil, {}),
  ];
};

/** The attempts to recover the task in review. */
export const recoveriesOf = (agents: readonly AgentRow[], now: number): RecoveryRow[] =>
  [1, 2, 3].map((attempt) => ({
    ...{ taskId: agents[130]?.taskId ?? '', attempt, newAgentId: `${agents[130]?.agentId}-r${attempt}` },
    ...{ deadAgentId: agents[130]?.agentId ?? '', orderId: `o-${attempt}`, maxAttempts: 3 },
    ...{ fromCheckpoint: `${agents[130]?.taskId}-0-7`, runtimeId: 'build-3', skipped: [] },
    ...{ initiatedAt: now - (60 - 12 * attempt) * MINUTE, completedAt: now - (59 - 12 * attempt) * MINUTE },
    ...{ probationPassedAt: null, failedReason: 'ended with code 137 while it ran the integration tests' },
    ...{ failedAt: now - (54 - 12 * attempt) * MINUTE, reviewAt: null, releasedAt: null, releasedWhy: null },
    endReason: 'crashed',
  }));

/** The checkpoints of the task in review. */
export const checkpointsOf = (agents: readonly AgentRow[], now: number): CheckpointRow[] =>
  [7, 6, 5].map((n) => ({
    ...{ taskId: agents[130]?.taskId ?? '', checkpointId: `${agents[130]?.taskId}-0-${n}` },
    ...{ agentId: agents[130]?.agentId ?? '', parentId: null, uri: `file:///checkpoints/${n}.json`, sha256: 'a1' },
    ...{ valid: true, invalidReason: null, createdAt: null, writtenAt: now - (90 - 5 * n) * MINUTE },
    ...{ recordedAt: now - (90 - 5 * n) * MINUTE, completedWork: ['the refund of a part'] },
    remainingWork: ['integration tests of the refund', 'the page in the manual'],
  }));

const SIX_MINUTES = 6 * MINUTE;

/** Requests of agents whose hooks wait for an answer. */
export const requestsOf = (agents: readonly AgentRow[], now: number): RequestRow[] => {
  const request = (index: number, requestId: string, more: Partial<RequestRow>): RequestRow => ({
    ...{ requestId, agentId: agents[index]?.agentId ?? '', instanceId: 'i1', taskId: agents[index]?.taskId ?? null },
    ...{ client: 'claude-code', kind: 'permission', tool: null, text: agents[index]?.waitingFor?.text ?? '' },
    ...{
      options: [],
      questions: [],
      deadlineAt: now + SIX_MINUTES,
      atDeadline: 'no_decision',
      openedAt: now - SIX_MINUTES,
    },
    ...{ settledAnswers: null },
    ...{ settled: null, settledOption: null, settledBy: null, settledWhy: null, settledCommand: null },
    ...{ settledAt: null, refusedCommand: null, refusedReason: null, refusedDetail: null },
    ...more,
  });
  return [
    request(73, 'rq-5d20e1', {
      tool: 'Bash',
      options: [
        { name: 'allow', label: 'Allow' },
        { name: 'deny', label: 'Deny' },
      ],
    }),
    request(88, 'rq-90c4b7', {
      ...{ kind: 'question', openedAt: now - 22 * MINUTE, deadlineAt: now + 8 * MINUTE },
      options: [
        { name: 'option-1', label: 'Keep 0042_add_currency' },
        { name: 'option-2', label: 'Keep 0043_rename_amount' },
        { name: 'option-3', label: 'Write a third migration' },
      ],
    }),
    request(103, 'rq-7a41d2', {
      ...{ kind: 'question', tool: 'AskUserQuestion', openedAt: now - 3 * MINUTE, deadlineAt: now + 9 * MINUTE },
      text: 'Cache: Where do search results go? Checks: Which checks run before a merge?',
      questions: [
        {
          ...{ name: 'Cache', header: 'Cache', text: 'Where do search results go?', isMultiple: false },
          options: [
            { label: 'Redis', description: 'the cluster that sessions use', preview: null },
            { label: 'Memory', description: 'each process has its own', preview: null },
          ],
        },
        {
          ...{ name: 'Checks', header: 'Checks', text: 'Which checks run before a merge?', isMultiple: true },
          options: [
            { label: 'Unit tests', description: null, preview: null },
            { label: 'Load test', description: '4 minutes', preview: 'k6 run search.js' },
            { label: 'Licences', description: null, preview: null },
          ],
        },
      ],
    }),
    request(96, 'rq-1b7f03', {
      ...{ tool: 'Edit', atDeadline: 'allow', openedAt: now - MINUTE, deadlineAt: now + 2.5 * MINUTE },
      options: [
        { name: 'allow', label: 'Allow' },
        { name: 'deny', label: 'Deny' },
      ],
    }),
  ];
};

export const silencesOf = (agents: readonly AgentRow[], now: number): SilenceRow[] => [
  {
    ...{ silenceId: 'si-7', matchers: [{ field: 'agentId', value: agents[12]?.agentId ?? '' }], by: 'grace' },
    ...{ until: now + 48 * MINUTE, why: 'its service is being moved' },
  },
];
