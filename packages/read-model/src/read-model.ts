import type { Sql } from './apply.ts';
import { type Position, positions } from './positions.ts';
import { type AgentFilter, agents } from './queries/agents.ts';
import { type CaseFilter, caseStory, cases, type OrderFilter, orders } from './queries/cases.ts';
import { type BreakerFilter, breakers, type TicketFilter, tickets } from './queries/findings.ts';
import { type AlertFilter, alerts, type DeadLetterFilter, deadLetters, fleet, runtimes } from './queries/fleet.ts';
import { type StoryFilter, story, type TransitionFilter, transitions } from './queries/journal.ts';
import { policies, policyDocument, policyRefusals } from './queries/policies.ts';
import { checkpoints, type RecoveryFilter, recoveries, type TaskFilter, tasks } from './queries/tasks.ts';
import type { BreakerRow, TicketRow } from './rows/finding-rows.ts';
import type {
  AlertRow,
  CheckpointRow,
  DeadLetterRow,
  FleetRow,
  OrderRow,
  PolicyRefusalRow,
  PolicyRow,
  RecoveryRow,
  RuntimeRow,
  TaskRow,
} from './rows/fleet-rows.ts';
import type { AgentRow, CaseRow, CaseStory, Entry, TransitionRow } from './rows/rows.ts';

/** All queries of readers. */
export type ReadModel = {
  readonly agents: (filter: AgentFilter) => Promise<readonly AgentRow[]>;
  readonly agent: (agentId: string) => Promise<AgentRow | null>;
  readonly cases: (filter: CaseFilter) => Promise<readonly CaseRow[]>;
  readonly case: (caseId: string) => Promise<CaseStory | null>;
  readonly orders: (filter: OrderFilter) => Promise<readonly OrderRow[]>;
  readonly tasks: (filter: TaskFilter) => Promise<readonly TaskRow[]>;
  readonly task: (taskId: string) => Promise<TaskRow | null>;
  readonly recoveries: (filter: RecoveryFilter) => Promise<readonly RecoveryRow[]>;
  readonly checkpoints: (taskId: string) => Promise<readonly CheckpointRow[]>;
  readonly transitions: (filter: TransitionFilter) => Promise<readonly TransitionRow[]>;
  readonly story: (filter: StoryFilter) => Promise<readonly Entry[]>;
  readonly alerts: (filter: AlertFilter) => Promise<readonly AlertRow[]>;
  readonly breakers: (filter: BreakerFilter) => Promise<readonly BreakerRow[]>;
  readonly tickets: (filter: TicketFilter) => Promise<readonly TicketRow[]>;
  readonly fleet: () => Promise<FleetRow>;
  readonly runtimes: () => Promise<readonly RuntimeRow[]>;
  readonly deadLetters: (filter: DeadLetterFilter) => Promise<readonly DeadLetterRow[]>;
  /** those in force */
  readonly policies: () => Promise<readonly PolicyRow[]>;
  readonly policyRefusals: () => Promise<readonly PolicyRefusalRow[]>;
  /** canonical JSON; null: never published */
  readonly policyDocument: (hash: string) => Promise<string | null>;
  readonly positions: () => Promise<readonly Position[]>;
};

const first = <T>(rows: readonly T[]): T | null => rows[0] ?? null;

export function readModel(sql: Sql): ReadModel {
  return {
    agents: (filter) => agents(sql, filter),
    agent: async (agentId) => first(await agents(sql, { agentId })),
    cases: (filter) => cases(sql, filter),
    case: (caseId) => caseStory(sql, caseId),
    orders: (filter) => orders(sql, filter),
    tasks: (filter) => tasks(sql, filter),
    task: async (taskId) => first(await tasks(sql, { taskId })),
    recoveries: (filter) => recoveries(sql, filter),
    checkpoints: (taskId) => checkpoints(sql, taskId),
    transitions: (filter) => transitions(sql, filter),
    story: (filter) => story(sql, filter),
    alerts: (filter) => alerts(sql, filter),
    breakers: (filter) => breakers(sql, filter),
    tickets: (filter) => tickets(sql, filter),
    fleet: () => fleet(sql),
    runtimes: () => runtimes(sql),
    deadLetters: (filter) => deadLetters(sql, filter),
    policies: () => policies(sql),
    policyRefusals: () => policyRefusals(sql),
    policyDocument: (hash) => policyDocument(sql, hash),
    positions: () => positions(sql),
  };
}
