import type {
  AlertRow,
  BreakerRow,
  CaseRow,
  CaseStory,
  CheckpointRow,
  Explanation,
  FleetRow,
  HistoryRow,
  InboxItem,
  Knowledge,
  PolicyRefusalRow,
  PolicyRow,
  RecoveryRow,
  Replay,
  ReplayRow,
  SilenceRow,
  Targets,
  TaskRow,
  TicketRow,
} from '@vigil/read-model';
import { type CellsAnswer, cellsOf } from '../model/cells.ts';
import type { Me } from '../model/commands.ts';
import type { Cell } from '../model/fleet.ts';
import { KNOWLEDGE_MS } from '../model/knowledge.ts';
import type { Route } from './live.ts';

/** Between two questions, milliseconds. A change of a cell is to be seen within a second, and a large fleet takes longer by itself. */
const LEAST_PAUSE_MS = 500;
const CELLS_PAUSE_MS = 300;
/** It reads the calls of an agent. */
const HISTORY_PAUSE_MS = 1000;

const route = <Answer>(path: string, tables: readonly string[], everyMs: number | null = null): Route<Answer> => ({
  ...{ path, tables, everyMs, leastPauseMs: LEAST_PAUSE_MS, pagesOf: null, firstPages: 1 },
  read: (body) => body as Answer,
  isFinal: () => false,
});

/** A list whose rows are all shown. */
const wholeList = <Field extends string, Row>(
  path: string,
  pagesOf: Field,
  tables: readonly string[],
): Route<{ readonly [Name in Field]: readonly Row[] }> => ({
  ...{ ...route(path, tables), pagesOf, firstPages: Number.POSITIVE_INFINITY },
});

/** A list that begins with the open rows or with the newest. `next`: null if there are no older ones than its rows. */
const longList = <Field extends string, Row>(
  path: string,
  pagesOf: Field,
  tables: readonly string[],
): Route<{ readonly [Name in Field]: readonly Row[] } & { readonly next: string | null }> => ({
  ...{ ...route(path, tables), pagesOf },
});

export type Runtime = {
  readonly runtimeId: string;
  readonly host: string;
  readonly capacity: number;
  readonly agents: readonly string[];
};

export type FleetAnswer = {
  readonly fleet: FleetRow;
  readonly runtimes: readonly Runtime[];
  readonly knowledge: Knowledge;
};

/** `next`: where older rows begin; null: there are none. */
export type HistoryAnswer = { readonly history: readonly HistoryRow[]; readonly next: string | null };

const AGENT_TABLES = [
  'agents',
  'cases',
  'transitions',
  'case_steps',
  'orders',
  'receipts',
  'breakers',
  'tickets',
  'alerts',
];

const TASK_TABLES = ['tasks', 'task_assignees', 'checkpoints', 'recoveries', 'alerts'];

/** The live figures of the targets. */
const TARGETS_MS = 30_000;

/** A silence ends without a change. */
const SILENCES_MS = 10_000;

/** How far a replay is. */
const REPLAYS_MS = 1000;

export const replayAddress = (replayId: string): string => `/v1/replays/${encodeURIComponent(replayId)}`;

export const ROUTES = {
  me: route<Me>('/v1/me', []),
  fleet: route<FleetAnswer>('/v1/fleet', ['fleet', 'runtimes'], KNOWLEDGE_MS),
  cells: {
    ...route<readonly Cell[]>('/v1/fleet/cells', ['agents', 'cases']),
    leastPauseMs: CELLS_PAUSE_MS,
    read: (body: unknown) => cellsOf(body as CellsAnswer),
  },
  targets: route<Targets>('/v1/fleet/targets', [], TARGETS_MS),
  inbox: wholeList<'inbox', InboxItem>('/v1/inbox', 'inbox', [
    ...['agents', 'cases', 'case_steps', 'tasks', 'tickets', 'alerts', 'fleet', 'requests'],
  ]),
  agent: (agentId: string) =>
    route<Explanation>(`/v1/agents/${encodeURIComponent(agentId)}/explain`, AGENT_TABLES, 10_000),
  /** its newest entries of this kind: calls push out no states. A heartbeat that has a call changes the row of its agent, too. */
  history: (agentId: string, kind: HistoryRow['kind']) => ({
    ...route<HistoryAnswer>(`/v1/agents/${encodeURIComponent(agentId)}/history?kind=${kind}`, ['agents'], 10_000),
    leastPauseMs: HISTORY_PAUSE_MS,
  }),
  cases: longList<'cases', CaseRow>('/v1/cases', 'cases', ['cases', 'case_steps']),
  case: (caseId: string) =>
    route<CaseStory>(`/v1/cases/${encodeURIComponent(caseId)}`, ['cases', 'case_steps', 'orders', 'receipts']),
  task: (taskId: string) =>
    route<TaskRow & { readonly chain: readonly CheckpointRow[]; readonly recoveries: readonly RecoveryRow[] }>(
      `/v1/tasks/${encodeURIComponent(taskId)}`,
      TASK_TABLES,
    ),
  tasks: wholeList<'tasks', TaskRow>('/v1/tasks', 'tasks', TASK_TABLES),
  breakers: wholeList<'breakers', BreakerRow>('/v1/breakers', 'breakers', ['breakers']),
  alerts: longList<'alerts', AlertRow>('/v1/alerts', 'alerts', ['alerts', 'deliveries', 'tickets']),
  silences: route<{ readonly silences: readonly SilenceRow[] }>('/v1/silences', ['silences'], SILENCES_MS),
  tickets: route<{ readonly tickets: readonly TicketRow[] }>('/v1/tickets', ['tickets']),
  letters: longList<'deadLetters', DeadLetter>('/v1/dead-letters', 'deadLetters', ['dead_letters']),
  replays: route<{ readonly replays: readonly ReplayRow[] }>('/v1/replays', [], REPLAYS_MS),
  replay: (replayId: string) => ({
    ...route<Replay>(replayAddress(replayId), [], REPLAYS_MS),
    isFinal: ({ endedAt }: Replay) => endedAt !== null,
  }),
  policies: {
    ...route<{ readonly policies: readonly PolicyRow[]; readonly refusals: readonly PolicyRefusalRow[] }>(
      '/v1/policies',
      ['policies', 'policy_refusals', 'agents'],
    ),
    ...{ pagesOf: 'policies', firstPages: Number.POSITIVE_INFINITY },
  },
  policy: (name: string) =>
    route<PolicyRow & { readonly document: unknown }>(`/v1/policies/${encodeURIComponent(name)}`, [
      'policies',
      'agents',
    ]),
} as const;

export type DeadLetter = {
  readonly eventId: string;
  readonly service: string;
  readonly originalTopic: string;
  readonly originalPartition: number;
  readonly originalOffset: number;
  readonly originalKey: string | null;
  readonly preview: string | null;
  readonly reason: string;
  readonly errorType: string;
  readonly leftOut: number;
  readonly failedAt: number | null;
};
