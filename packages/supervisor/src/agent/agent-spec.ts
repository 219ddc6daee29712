import { join } from 'node:path';
import type { Checkpoint, CheckpointRef, WorkItem } from '@vigil/events';
import type { Log, MachineClock } from '../clock.ts';
import type { StateFiles } from '../exit/state-files.ts';
import type { Gateway } from '../gateway/gateway-client.ts';
import type { Outbox } from '../gateway/outbox.ts';
import type { Reach } from '../gateway/reach.ts';
import type { Identity } from '../heartbeat/heartbeat.ts';
import type { NudgeFile } from '../messages/nudge-file.ts';
import type { ClientControl } from '../orders/client-control.ts';
import type { OrderEnvelope } from '../orders/order.ts';
import type { PatternSources } from '../output/patterns.ts';
import type { PolicyWatches } from '../output/policy-patterns.ts';
import type { Chore } from '../process/command-runner.ts';
import type { Pid } from '../process/proc.ts';
import type { ScreenAdapter } from '../screen/client.ts';
import type { StreamAdapter } from '../sessions/event-stream.ts';
import type { Journal } from '../state/journal.ts';
import type { Command } from '../terminal/terminal.ts';
import type { LimitSettings } from './limits.ts';

/** How a text reaches the agent; auto: down the socket where somebody listens, else with a hook that asks or typed, whichever can be first. */
export type NudgeBy = 'auto' | 'socket' | 'hook' | 'terminal' | 'file';

/** One life of one agent. */
export type AgentSpec = Identity &
  Command & {
    readonly patterns: PatternSources;
    readonly nudge: NudgeBy;
    /** where `nudge: file` writes */
    readonly nudgeFile: NudgeFile | null;
    /** exit 0 counts as finished only after the completion signal */
    readonly mustSignalCompletion: boolean;
    readonly checkpointRoots: readonly string[];
    /** prints what it released, one a line */
    readonly release: Chore | null;
    readonly cleanup: Chore | null;
    /** how it is held and set going again; null: SIGSTOP and SIGCONT to its group */
    readonly pause: Chore | null;
    readonly resume: Chore | null;
    /** seed 004's tool_logs.jsonl of this agent */
    readonly stepLog: string | null;
    readonly limits: LimitSettings;
    /** what is written of one that ends unfinished; nothing named here: as its policy says */
    readonly files: StateFiles;
    /** null: as the gateway asks */
    readonly intervalMs: number | null;
    /** what it continues from, and what it is told: paths */
    readonly checkpoint: string | null;
    readonly handover: string | null;
    /** the spawn order behind it */
    readonly orderId: string | null;
  };

/** What a supervisor needs of the machine and the network. */
export type World = {
  /** state that outlives the supervisor: locks, journal, outbox, archives */
  readonly dir: string;
  readonly socketDir: string;
  readonly self: Pid;
  readonly gateway: Gateway;
  readonly watches: PolicyWatches;
  readonly outbox: Outbox;
  readonly journal: Journal;
  readonly clock: MachineClock;
  /** from SIGTERM to SIGKILL, milliseconds */
  readonly killAfterMs: number;
  /** the clients whose screens and output streams are understood, and whose turns and sessions orders may interrupt and resume */
  readonly clients: readonly (ClientControl & ScreenAdapter & StreamAdapter)[];
  readonly log: Log;
  /** an agent's heartbeats are taken from now on, or are not */
  readonly onReach: (agentId: string, reach: Reach) => void;
  readonly newId: () => string;
  /** what the host's tracker says of a task; null: nothing */
  readonly workOf: (taskId: string | null) => WorkItem | null;
  /** orders that came with a heartbeat's answer */
  readonly onOrders: (orders: readonly OrderEnvelope[]) => void;
};

/** Where the hooks of an agent's sessions append their records. */
export const spoolOf = (dir: string, instanceId: string): string => join(dir, 'spool', instanceId);

/** What the agent's process finds in its environment beside its own. `dir`: of the supervisor's state. */
export const environmentOf = (spec: AgentSpec, dir: string, socket: string): Readonly<Record<string, string>> => ({
  ...spec.env,
  VIGIL_SOCKET: socket,
  VIGIL_SPOOL: spoolOf(dir, spec.instanceId),
  VIGIL_AGENT_ID: spec.agentId,
  VIGIL_INSTANCE_ID: spec.instanceId,
  VIGIL_ATTEMPT: String(spec.attempt),
  ...(spec.taskId === null ? {} : { VIGIL_TASK_ID: spec.taskId }),
  ...(spec.checkpoint === null ? {} : { VIGIL_CHECKPOINT: spec.checkpoint }),
  ...(spec.handover === null ? {} : { VIGIL_HANDOVER: spec.handover }),
  ...(spec.nudgeFile === null ? {} : { VIGIL_NUDGE_FILE: spec.nudgeFile.path }),
});

/** The same checkpoint in the spelling of our own events. */
export const refOf = (checkpoint: Checkpoint): CheckpointRef => ({
  checkpointId: checkpoint.checkpoint_id,
  parentId: checkpoint.parent_id,
  uri: checkpoint.uri,
  sha256: checkpoint.sha256,
  valid: checkpoint.valid,
  invalidReason: checkpoint.invalid_reason,
  createdAt: checkpoint.created_at,
  completedWork: checkpoint.completed_work,
  remainingWork: checkpoint.remaining_work,
});
