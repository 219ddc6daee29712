export { apply, CHANGES, notify, type Sql } from './apply.ts';
export { type Change, type Changes, followChanges } from './changes.ts';
export {
  addressOf,
  CorrectDatabaseVariables,
  type Database,
  DatabaseUnreachable,
  databaseUrlFrom,
  isAway,
  isDataError,
  OtherCluster,
  openDatabase,
} from './database.ts';
export {
  createDays,
  deleteHealthyMinutes,
  keepDays,
  keptRows,
  prepareDays,
} from './days.ts';
export type { RecoveryOptions, UpcomingPlan } from './deciding/options.ts';
export { ANSWERS, type Outcome, outcomeOf, type WrittenCommand } from './deciding/outcome.ts';
export {
  type Doctor,
  type Explanation,
  explain,
  type HangingTransaction,
  optionsOf,
  type PartFound,
  type ProcessorTime,
  type SignalFigure,
  type SignalsOf,
  type StuckSweep,
  type Unknown,
} from './explain.ts';
export { tables } from './generated/tables.ts';
export { type InboxItem, inbox, inboxPlace } from './inbox.ts';
export type { Away, Knowledge } from './knowledge.ts';
export { migrate } from './migrate.ts';
export { claimCluster, type Position, positions, projectedUpTo, savePosition, saveProjected } from './positions.ts';
export type { AgentRow, CellRow } from './queries/agents.ts';
export { CASE_ORDER, type CaseRow, type CaseStory, type OrderRow, type Withheld } from './queries/cases.ts';
export { type ContextRow, contexts } from './queries/contexts.ts';
export { type Figures, figures } from './queries/figures.ts';
export { BREAKER_ORDER, type BreakerRow, TICKET_ORDER, type TicketRow } from './queries/findings.ts';
export { ALERT_ORDER, type AlertRow, type DeadLetterRow, type FleetRow, LETTER_ORDER } from './queries/fleet.ts';
export { HISTORY_ORDER, type HistoryRow } from './queries/history.ts';
export { type Entry, STORY_ORDER } from './queries/journal.ts';
export type { PolicyRefusalRow, PolicyRow } from './queries/policies.ts';
export type { RequestRow } from './queries/requests.ts';
export { type Order, type Paged, type Place, placeOf } from './queries/select.ts';
export type { SilenceRow } from './queries/silences.ts';
export type { Speed, Speeds, Targets } from './queries/targets.ts';
export {
  type CheckpointRow,
  RECOVERY_ORDER,
  type RecoveryRow,
  TASK_ORDER,
  type TaskRow,
} from './queries/tasks.ts';
export { type ReadModel, readModel } from './read-model.ts';
export type {
  FiguresResult,
  Replay,
  ReplayComparison,
  ReplayDifference,
  ReplayedAgent,
  ReplayedEvent,
  ReplayedSignal,
  ReplayOutcome,
  ReplayResult,
  ReplayRow,
  ReplaySide,
  VerifyResult,
  WhatIfResult,
} from './replays.ts';
export { BEFORE, copyFirstDay, dropSchema, hasTables, REBUILT, switchSchemas, urlOfSchema } from './schemas.ts';
export { fact, instant, orderOf, register, type Statement } from './statement.ts';
