import { hasOptions, type RecoveryOptions, recoveryOptions, type UpcomingPlan } from './deciding/options.ts';
import type { AgentRow } from './queries/agents.ts';
import type { CaseStory, OrderRow } from './queries/cases.ts';
import type { BreakerRow, TicketRow } from './queries/findings.ts';
import type { AlertRow, FleetRow } from './queries/fleet.ts';
import type { Entry, TransitionRow } from './queries/journal.ts';
import type { CheckpointRow, RecoveryRow, TaskRow } from './queries/tasks.ts';
import type { ReadModel } from './read-model.ts';

/**
 * One signal of an agent, as packages/health explains it from the evaluator's newest state. Times are epoch
 * milliseconds.
 */
export type SignalFigure = {
  readonly signal: string;
  readonly axis: string;
  /** how far it alone shows that the agent is stuck: high, medium or low */
  readonly confidence: string;
  readonly words: string;
  readonly value: number | null;
  readonly limit: number | null;
  /** whether `value` and `limit` are milliseconds */
  readonly isDuration: boolean;
  readonly fires: boolean;
  /** when it fires or would fire; null if that is not expected */
  readonly firesFrom: number | null;
  /** why it does not count now */
  readonly suspendedBy: readonly string[];
};

/** What the evaluator's newest state has of an agent's work, as packages/health describes it. */
export type AgentFacts = {
  readonly lastCallAt: number | null;
  readonly idleMs: number | null;
  readonly lastTool: string | null;
  readonly lastCallLimitMs: number | null;
  readonly contextPct: number | null;
  readonly rateLimitedAt: number | null;
  readonly totalSteps: number | null;
  readonly stepsSinceAccept: number;
  readonly recentVerdicts: readonly string[];
  readonly stallMs: number | null;
};

/** All reasons for the present state of an agent, for the page, the CLI and MCP. */
export type Explanation = {
  readonly agent: AgentRow;
  readonly transitions: readonly TransitionRow[];
  readonly story: readonly Entry[];
  readonly cases: readonly CaseStory[];
  /** orders without a case: by hand, or of recovery */
  readonly orders: readonly OrderRow[];
  readonly task: TaskRow | null;
  readonly checkpoints: readonly CheckpointRow[];
  readonly recoveries: readonly RecoveryRow[];
  readonly alerts: readonly AlertRow[];
  readonly breakers: readonly BreakerRow[];
  readonly tickets: readonly TicketRow[];
  /** null if the evaluator's state was not available */
  readonly signals: readonly SignalFigure[] | null;
  /** further notes for people, such as that the agent's cost is unknown; null as above */
  readonly notes: readonly string[] | null;
  /** what is known of its work, for programs with limits of their own; null as above */
  readonly facts: AgentFacts | null;
  /** what can be done next; null: it is healthy, or has ended */
  readonly options: RecoveryOptions | null;
};

const SHOWN = 30;
const SHOWN_CASES = 5;

/** The data besides the read model; see `Explanation`. null if the evaluator's state was not available. */
export type SignalsOf = (agentId: string) => Promise<{
  readonly signals: readonly SignalFigure[];
  readonly notes: readonly string[];
  readonly facts: AgentFacts;
  /** the plan that holds, or the first that will hold if nothing more is received; null: none is expected */
  readonly upcoming: UpcomingPlan | null;
  /** the exemption of the wait that suspends its plan; null: none does */
  readonly suspendedBy: string | null;
} | null>;

/** Reads an explanation from the read model; null if there is no such agent. */
export const explain = async (
  model: ReadModel,
  agentId: string,
  signalsOf: SignalsOf = async () => null,
): Promise<Explanation | null> => {
  const agent = await model.agent(agentId);
  if (agent === null) return null;
  const { taskId } = agent;
  const [judged, transitions, story, cases, orders, alerts, breakers, tickets] = await Promise.all([
    signalsOf(agentId),
    model.transitions({ agentId, limit: SHOWN }),
    model.story({ agentId, limit: SHOWN }),
    model.cases({ agentId }),
    model.orders({ agentId }),
    model.alerts({ agentId }),
    model.breakers({ agentId }),
    model.tickets({ agentId, limit: SHOWN }),
  ]);
  const read = await Promise.all(cases.slice(0, SHOWN_CASES).map(({ caseId }) => model.case(caseId)));
  const stories = read.filter((found) => found !== null);
  const ofTask = taskId === null ? NO_TASK : await aboutTask(model, taskId);
  return {
    agent,
    transitions,
    story,
    cases: stories,
    orders: orders.filter(({ caseId }) => caseId === null),
    ...ofTask,
    alerts: [...alerts, ...ofTask.alerts.filter(({ alertId }) => !alerts.some((one) => one.alertId === alertId))].slice(
      0,
      SHOWN,
    ),
    breakers,
    tickets,
    signals: judged?.signals ?? null,
    notes: judged?.notes ?? null,
    facts: judged?.facts ?? null,
    options: recoveryOptions(agent, {
      openCase: stories.find(({ caseId }) => caseId === agent.caseId) ?? null,
      upcoming: judged?.upcoming ?? null,
      suspendedBy: judged?.suspendedBy ?? null,
      checkpoints: ofTask.checkpoints,
    }),
  };
};

/** What can be done next for an agent; null: it is healthy, or has ended. */
export const optionsOf = async (
  model: ReadModel,
  agent: AgentRow,
  signalsOf: SignalsOf,
): Promise<RecoveryOptions | null> => {
  if (!hasOptions(agent)) return null;
  const [openCase, judged, checkpoints] = await Promise.all([
    agent.caseId === null ? null : model.case(agent.caseId),
    signalsOf(agent.agentId),
    agent.taskId === null ? [] : model.checkpoints(agent.taskId),
  ]);
  const { upcoming = null, suspendedBy = null } = judged ?? {};
  return recoveryOptions(agent, { openCase, upcoming, suspendedBy, checkpoints });
};

const NO_TASK = { task: null, checkpoints: [], recoveries: [], alerts: [] };

const aboutTask = async (model: ReadModel, taskId: string) => {
  const [task, checkpoints, recoveries, alerts] = await Promise.all([
    model.task(taskId),
    model.checkpoints(taskId),
    model.recoveries({ taskId }),
    model.alerts({ taskId }),
  ]);
  return { task, checkpoints, recoveries, alerts };
};

/**
 * A hanging transaction: readers of committed records stop at `stableEnd`, before a transaction that will not end by
 * itself.
 */
export type HangingTransaction = {
  readonly topic: string;
  readonly partition: number;
  readonly stableEnd: number;
  readonly end: number;
  readonly forMs: number;
};

/** A service, a broker, the registry or the database. `since`: from when on it has not answered well, epoch milliseconds; null: it does, or that is not known. */
export type PartFound = {
  readonly service: string;
  readonly ready: boolean;
  readonly detail: string;
  readonly since: number | null;
};

/** The health of Vigil itself. Unknown ages and lags are null, never estimated. */
export type Doctor = {
  readonly services: readonly PartFound[];
  readonly time: readonly ProcessorTime[];
  /**
   * `atMost`: an upper bound of the unread records of each group, because ticks alone do not move a position for a while.
   * `behindMs`: the age of the time up to which its rows are complete; null: nothing is projected yet
   */
  readonly lag: readonly { readonly group: string; readonly atMost: number | null; readonly behindMs: number | null }[];
  readonly duplicates: readonly {
    readonly agentId: string;
    readonly instanceId: string | null;
    readonly otherInstanceId: string;
    readonly count: number | null;
    readonly at: number | null;
  }[];
  /** transactions that will not end by themselves and stop readers of committed records */
  readonly hanging: readonly HangingTransaction[];
  /** the oldest observation that all partitions still have, epoch milliseconds */
  readonly replayFrom: number | null;
  /** null: unknown */
  readonly fleet: FleetRow | null;
  /** gascity's stuck sweep under each policy in force that has it; a policy of a newer version is left out */
  readonly sweeps: readonly StuckSweep[];
  readonly unknown: readonly Unknown[];
};

/**
 * What could not be found out, because its source failed or did not answer in time. `parts`: the servers that do not answer and
 * have the answer. `since`: when the first of them went away, epoch milliseconds; null: not known.
 */
export type Unknown = {
  readonly what: string;
  readonly why: string;
  readonly parts: readonly string[];
  readonly since: number | null;
};

/** `patterns`: of its regex axis; null: it has no such axis. `misconfigured`: enabled, and no axis can find anything. */
export type StuckSweep = {
  readonly policy: string;
  readonly state: 'disabled' | 'misconfigured' | 'enabled';
  readonly thresholdMs: number;
  readonly label: string;
  readonly patterns: number | null;
  readonly progressMismatch: boolean;
};

/**
 * `ageMs`: how long ago the time of the slowest written partition last moved; null: over 15 s.
 * `aheadMs`: how far the fastest is ahead of this host's clock.
 */
export type ProcessorTime = { readonly processor: string; readonly ageMs: number | null; readonly aheadMs: number };
