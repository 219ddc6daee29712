import type {
  AgentRow,
  AlertRow,
  BreakerRow,
  CaseStory,
  Entry,
  Explanation,
  FleetRow,
  InboxItem,
  PolicyRow,
  SignalFigure,
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
        ...{ closedAt: null, ending: null, closedWhy: null },
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
    ...{ alertId: `al-${id}`, alertKey: null, route: 'stuck_agent', severity: 'warning', urgency: 'normal' },
    ...{ title: null, text: null },
    ...{ agentId: agent?.agentId ?? null, taskId: agent?.taskId ?? null, caseId: agent?.caseId ?? null, options: [] },
    ...{ deadlineAt: null, updatedAt: null, raisedAt: now - id * 7 * MINUTE, acknowledgedAt: null },
    ...{ acknowledgedBy: null, resolvedAt: null, deliveries: [{ sink: 'slack', ok: true, detail: null }] },
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
      ...{ checkpoints: index % 12, lastCheckpoint: index % 12 === 0 ? null : `c-${index % 12}` },
      ...(index === 130 && {
        ...{ recovery: 'REVIEW_REQUIRED', recoveryAt: now - 18 * MINUTE, attempt: 3 },
        recoveryReason: '3 of 3 attempts used: each ended with code 137 while it ran the integration tests',
      }),
      ...(index === 20 && { recovery: 'RECOVERY_COMPLETED', recoveryAt: now - 50 * MINUTE, attempt: 2 }),
    }),
  );

export const policiesOf = (now: number): (PolicyRow & { document: object })[] => {
  const policy = (name: string, agents: number, document: object, more: Partial<PolicyRow>) => ({
    ...{ name, hash: `${name}-7c1e90ab`.slice(0, 16), origin: 'preset' as const, publishedBy: 'health-evaluator' },
    ...{ publishedAt: now - 26 * 60 * MINUTE, why: null, agents, document },
    ...more,
  });
  const vigil = {
    policy: 'vigil',
    signals: { no_calls: { after: '6m' }, context: { above: 85 }, repeated_call: { times: 8 } },
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
      { origin: 'applied', publishedBy: 'ada', why: 'no terminations while nobody is here' },
    ),
    policy('vigil', 178, vigil, {}),
  ];
};

export const inboxOf = (
  agents: readonly AgentRow[],
  cases: readonly CaseStory[],
  tasks: readonly TaskRow[],
): InboxItem[] => [
  ...cases
    .filter(({ waiting, closedAt }) => waiting && closedAt === null)
    .map(
      (one): InboxItem => ({
        ...{ id: `case/${one.caseId}`, kind: 'case', agentId: one.agentId, taskId: one.taskId },
        ...{ text: one.escalationReason, since: one.escalationAt, deadlineAt: one.escalationDeadlineAt },
        atDeadline: one.escalationOnTimeout,
        options: one.escalationOptions.map((name) => ({
          name,
          label: name,
          command: `vigil inbox answer case/${one.caseId} ${name} --why "…"`,
        })),
      }),
    ),
  ...agents
    .filter(({ waitingFor }) => waitingFor !== null)
    .map(
      (agent): InboxItem => ({
        ...{ id: `agent/${agent.agentId}`, kind: agent.waitingFor?.kind === 'question' ? 'question' : 'permission' },
        ...{ agentId: agent.agentId, taskId: agent.taskId, text: agent.waitingFor?.text ?? null },
        ...{ since: agent.exemptionSince, deadlineAt: null, atDeadline: null },
        options: [{ name: 'attach', label: 'attach', command: `vigil attach ${agent.agentId} --write` }],
      }),
    ),
  ...tasks
    .filter(({ recovery }) => recovery === 'REVIEW_REQUIRED')
    .map(
      (task): InboxItem => ({
        ...{ id: `task/${task.taskId}`, kind: 'review', agentId: task.agentId, taskId: task.taskId },
        ...{ text: task.recoveryReason, since: task.recoveryAt, deadlineAt: null, atDeadline: null },
        options: ['retry', 'abandon', 'reset'].map((name) => ({
          name,
          label: name,
          command: `vigil inbox answer task/${task.taskId} ${name} --why "…"`,
        })),
      }),
    ),
];

const figure = (signal: string, axis: string, words: string, more: Partial<SignalFigure>): SignalFigure => ({
  ...{ signal, axis, confidence: 'medium', words, value: null, limit: null, fires: false, firesFrom: null },
  suspendedBy: [],
  ...more,
});

export const explanationOf = (
  agent: AgentRow,
  cases: readonly CaseStory[],
  more: Partial<Explanation>,
  now: number,
): Explanation => {
  const isStuck = agent.state === 'STUCK';
  const began = now - 95 * MINUTE;
  const since = agent.since ?? now;
  const change = (at: number, from: AgentRow['state'], to: AgentRow['state'], reason: string) => ({
    ...{ eventId: `t-${at}`, agentId: agent.agentId, instanceId: 'i1', taskId: agent.taskId, episodeId: null },
    ...{ occurredAt: at, stateFrom: from, stateTo: to, reason, exemption: null, endReason: null, onsetAt: null },
    ...{ evidence: [], policyName: agent.policyName, policyHash: agent.policyHash },
  });
  const own = cases.filter(({ agentId }) => agentId === agent.agentId);
  return {
    agent,
    transitions: isStuck
      ? [
          change(since, 'DEGRADED', 'STUCK', agent.reason ?? ''),
          change(since - 2.5 * MINUTE, 'HEALTHY', 'DEGRADED', 'no call for 4 min; limit 4 min'),
          change(began + 30 * MINUTE, 'DEGRADED', 'HEALTHY', 'context 41 % after a compaction'),
          change(began + 21 * MINUTE, 'HEALTHY', 'DEGRADED', 'context 88 %; limit 85 %'),
        ]
      : [],
    story: [
      entry(began, 'INSTANCE_STARTED', agent, { instanceId: 'i1', attempt: 1 }),
      entry(began + 40 * MINUTE, 'CHECKPOINT_RECORDED', agent, { checkpoint: { checkpointId: 'c-4', valid: true } }),
      ...own.flatMap(({ trail }) => trail),
      ...(isStuck
        ? [
            entry(since, 'HEALTH_STATE_CHANGED', agent, {
              from: 'HEALTHY',
              to: 'STUCK',
              reason: agent.reason,
              exemption: null,
            }),
          ]
        : []),
    ].toSorted((a, b) => a.at - b.at),
    cases: own,
    ...{ orders: [], task: null, checkpoints: [], recoveries: [], alerts: [], breakers: [], tickets: [] },
    signals: [
      figure('no_calls', 'absence', isStuck ? 'no call for 9 min 2 s; limit 6 min' : 'no call for 40 s; limit 6 min', {
        ...{ value: isStuck ? 542_000 : 40_000, limit: 360_000, fires: isStuck, confidence: 'high' },
        firesFrom: isStuck ? now - 182_000 : now + 320_000,
      }),
      figure('no_output', 'absence', 'no output for 1 min 10 s; limit 10 min', {
        ...{ value: 70_000, limit: 600_000, firesFrom: now + 530_000 },
      }),
      figure('context', 'context', 'context 41 %; limit 85 %', { value: 41, limit: 85, confidence: 'high' }),
      figure('repeated_call', 'repetition', 'the same call 2 times; limit 8', { value: 2, limit: 8 }),
      figure('cost', 'cost', '212,400 tokens; limit 2,000,000', {
        value: 212_400,
        limit: 2_000_000,
        confidence: 'low',
      }),
    ],
    notes: [],
    facts: null,
    options: null,
    ...more,
  };
};
