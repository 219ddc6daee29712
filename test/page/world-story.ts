import type { AgentRow, CaseStory, Entry, HistoryRow, SignalFigure, SignalsOf } from '@vigil/read-model';
import { randomFrom } from './world-agents.ts';
import { entry } from './world-rows.ts';

const MINUTE = 60_000;
/** An agent began this long ago. */
const WORKED = 95 * MINUTE;

const figure = (signal: string, axis: string, words: string, more: Partial<SignalFigure>): SignalFigure => ({
  ...{ signal, axis, confidence: 'medium', words, value: null, limit: null, fires: false, firesFrom: null },
  ...{ isDuration: axis === 'absence', suspendedBy: [] },
  ...more,
});

const isStuck = ({ state }: AgentRow): boolean => state === 'STUCK';

/** It has made thousands of calls since its last change of state. */
const isBusy = ({ state }: AgentRow): boolean => state === 'FAILING';

const change = (agent: AgentRow, at: number, from: AgentRow['state'], to: AgentRow['state'], reason: string) => ({
  ...{ eventId: `t-${at}`, agentId: agent.agentId, instanceId: 'i1', taskId: agent.taskId, episodeId: null },
  ...{ occurredAt: at, stateFrom: from, stateTo: to, reason, exemption: null, endReason: null, onsetAt: null },
  ...{ evidence: [], policyName: agent.policyName, policyHash: agent.policyHash },
});

/** How the state of an agent has changed, newest first. */
export const transitionsOf = (agent: AgentRow, now: number): readonly ReturnType<typeof change>[] => {
  const since = agent.since ?? now;
  const began = now - WORKED;
  if (isBusy(agent)) return [change(agent, since, 'HEALTHY', 'FAILING', agent.reason ?? '')];
  if (!isStuck(agent)) return [];
  return [
    change(agent, since, 'DEGRADED', 'STUCK', agent.reason ?? ''),
    change(agent, since - 2.5 * MINUTE, 'HEALTHY', 'DEGRADED', 'no call for 4 min; limit 4 min'),
    change(agent, began + 30 * MINUTE, 'DEGRADED', 'HEALTHY', 'context 41 % after a compaction'),
    change(agent, began + 21 * MINUTE, 'HEALTHY', 'DEGRADED', 'context 88 %; limit 85 %'),
  ];
};

const happened = (agent: AgentRow, kind: HistoryRow['kind'], at: number, more: Partial<HistoryRow>): HistoryRow => ({
  ...{ kind, at, id: `${kind}-${at}`, instanceId: 'i1', taskId: agent.taskId, state: null, stateFrom: null },
  ...{ reason: null, evidence: [], tool: null, outcome: null, errorClass: null, endedAt: null },
  ...{ usedBefore: null, usedAfter: null, contextMax: null },
  ...more,
});

const TOOLS = ['Bash', 'Edit', 'Read', 'Grep'];

/** It called tools at irregular times, and a stuck agent stopped nine minutes ago. */
const callsOf = (agent: AgentRow, now: number): readonly HistoryRow[] => {
  const random = randomFrom(11);
  const until = now - (isStuck(agent) ? 9 * MINUTE : MINUTE);
  const calls: HistoryRow[] = [];
  const pauseMs = isBusy(agent) ? 500 : MINUTE;
  for (let endedAt = now - WORKED + MINUTE; endedAt < until; endedAt += (1 + random()) * pauseMs) {
    const tool = TOOLS[calls.length % TOOLS.length] ?? '';
    const outcome = random() < 0.12 ? 'error' : 'ok';
    calls.push(happened(agent, 'call', endedAt - 5000 - random() * 50_000, { tool, outcome, endedAt }));
  }
  return calls;
};

/** The states, calls and compactions of an agent, newest first. */
export const historyOf = (agent: AgentRow, now: number): readonly HistoryRow[] => {
  const began = now - WORKED;
  const states = transitionsOf(agent, now).map(({ occurredAt, stateTo: state, stateFrom, reason }) =>
    happened(agent, 'state', occurredAt, { state, stateFrom, reason, evidence: evidenceOf(reason) }),
  );
  const tokens = { usedBefore: 176_000, usedAfter: 82_000, contextMax: 200_000 };
  const compactions = isStuck(agent) ? [happened(agent, 'compaction', began + 30 * MINUTE, tokens)] : [];
  return [...states, ...compactions, ...callsOf(agent, now)].toSorted((a, b) => b.at - a.at);
};

const signalOf = (words: string): string => {
  if (words.startsWith('context')) return 'context';
  if (words.startsWith('the same call')) return 'repeated_call';
  return words.includes('failed') ? 'failing_calls' : 'no_calls';
};

/** The figure in words such as `context 88 %; limit 85 %` and `no call for 4 min; limit 4 min`. */
const valueIn = (words: string): number => {
  const figure = (unit: string): number =>
    Number(new RegExp(`(\\d+)${unit}`).exec(words.split(';')[0] ?? '')?.[1] ?? 0);
  return words.startsWith('no call') ? figure(' min') * MINUTE + figure(' s') * 1000 : figure('');
};

const evidenceOf = (words: string): HistoryRow['evidence'] =>
  words.includes('limit')
    ? [
        {
          ...{ signal: signalOf(words), axis: 'absence', words, onsetAt: null },
          ...{ value: valueIn(words), limit: null, hard: false, matched: null, confidence: 'high' },
        },
      ]
    : [];

/** What has happened to an agent, oldest first. */
export const storyOf = (agent: AgentRow, cases: readonly CaseStory[], now: number): readonly Entry[] => {
  const since = agent.since ?? now;
  const began = now - WORKED;
  const { reason } = agent;
  return [
    entry(began, 'INSTANCE_STARTED', agent, { instanceId: 'i1', attempt: 1 }),
    entry(began + 40 * MINUTE, 'CHECKPOINT_RECORDED', agent, { checkpoint: { checkpointId: 'c-4', valid: true } }),
    ...cases.filter(({ agentId }) => agentId === agent.agentId).flatMap(({ trail }) => trail),
    ...(isStuck(agent)
      ? [entry(since, 'HEALTH_STATE_CHANGED', agent, { from: 'HEALTHY', to: 'STUCK', reason, exemption: null })]
      : []),
  ].toSorted((a, b) => a.at - b.at);
};

type Judged = NonNullable<Awaited<ReturnType<SignalsOf>>>;

const FACTS: Judged['facts'] = {
  ...{ lastCallAt: null, idleMs: null, lastTool: null, lastCallLimitMs: null, contextPct: 41, rateLimitedAt: null },
  ...{ totalSteps: null, stepsSinceAccept: 0, recentVerdicts: [], stallMs: null },
};

/** What the evaluator reads of an agent. */
export const judgedOf = (agent: AgentRow, now: number): Judged => {
  const stuck = isStuck(agent);
  return {
    ...{ notes: [], facts: FACTS, upcoming: null, suspendedBy: null },
    signals: [
      figure('no_calls', 'absence', stuck ? 'no call for 9 min 2 s; limit 6 min' : 'no call for 40 s; limit 6 min', {
        ...{ value: stuck ? 542_000 : 40_000, limit: 360_000, fires: stuck, confidence: 'high' },
        firesFrom: stuck ? now - 182_000 : now + 320_000,
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
  };
};
