import type { AgentRow } from './queries/agents.ts';
import type { CaseStory, OrderRow } from './queries/cases.ts';
import type { BreakerRow, TicketRow } from './queries/findings.ts';
import type { AlertRow, FleetRow } from './queries/fleet.ts';
import type { Entry, TransitionRow } from './queries/journal.ts';
import type { CheckpointRow, RecoveryRow, TaskRow } from './queries/tasks.ts';
import type { ReadModel } from './read-model.ts';

/**
 * The figure of one signal of an agent, as packages/health explains the evaluator's newest state. Moments in epoch
 * milliseconds.
 */
export type SignalFigure = {
  readonly signal: string;
  readonly axis: string;
  readonly words: string;
  readonly value: number | null;
  readonly limit: number | null;
  readonly fires: boolean;
  /** when it fires or would fire; null: none is expected */
  readonly firesFrom: number | null;
  /** what keeps it from counting now */
  readonly suspendedBy: readonly string[];
};

/** All reasons for the present state of an agent. Page, CLI and MCP show this. */
export type Explanation = {
  readonly agent: AgentRow;
  readonly transitions: readonly TransitionRow[];
  readonly story: readonly Entry[];
  readonly cases: readonly CaseStory[];
  /** those that belong to no case: by hand, or of recovery */
  readonly orders: readonly OrderRow[];
  readonly task: TaskRow | null;
  readonly checkpoints: readonly CheckpointRow[];
  readonly recoveries: readonly RecoveryRow[];
  readonly alerts: readonly AlertRow[];
  readonly breakers: readonly BreakerRow[];
  readonly tickets: readonly TicketRow[];
  /** null: the evaluator's state was not to be had */
  readonly signals: readonly SignalFigure[] | null;
  /** what else people should know of it, in words, such as that its cost is not known; null as above */
  readonly notes: readonly string[] | null;
};

const SHOWN = 30;
const SHOWN_CASES = 5;

/** What it takes besides the read model: see `Explanation`. null: the evaluator's state was not to be had. */
export type SignalsOf = (
  agentId: string,
) => Promise<{ readonly signals: readonly SignalFigure[]; readonly notes: readonly string[] } | null>;

/** Reads all of it from the read model. null: no such agent. */
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
  const stories = await Promise.all(cases.slice(0, SHOWN_CASES).map(({ caseId }) => model.case(caseId)));
  const ofTask = taskId === null ? NO_TASK : await aboutTask(model, taskId);
  return {
    agent,
    transitions,
    story,
    cases: stories.filter((found) => found !== null),
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
  };
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

/** Readers of committed records stand at `stableEnd`, before a transaction that will not end by itself. */
export type HangingTransaction = {
  readonly topic: string;
  readonly partition: number;
  readonly stableEnd: number;
  readonly end: number;
  readonly forMs: number;
};

/** The health of Vigil itself. Unknown ages and lags are null, never estimated. */
export type Doctor = {
  readonly services: readonly { readonly service: string; readonly ready: boolean; readonly detail: string }[];
  readonly time: readonly ProcessorTime[];
  /** records that a group may not have read yet: ticks alone move no position for a while */
  readonly lag: readonly { readonly group: string; readonly atMost: number | null }[];
  readonly duplicates: readonly {
    readonly agentId: string;
    readonly instanceId: string | null;
    readonly otherInstanceId: string;
    readonly count: number | null;
    readonly at: number | null;
  }[];
  /** transactions that will not end by themselves: readers of committed records stand before them */
  readonly hanging: readonly HangingTransaction[];
  /** the oldest observation that all partitions still have, epoch milliseconds */
  readonly replayFrom: number | null;
  readonly fleet: FleetRow;
};

/**
 * `ageMs`: how long ago the time of the slowest written partition last moved; null: over 15 s.
 * `aheadMs`: how far the fastest is ahead of this host's clock.
 */
export type ProcessorTime = { readonly processor: string; readonly ageMs: number | null; readonly aheadMs: number };
