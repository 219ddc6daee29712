import { join } from 'node:path';
import type { HostDeps } from '../deps.ts';
import type { StateFiles } from '../exit/state-files.ts';
import type { Identity } from '../heartbeat/heartbeat.ts';
import type { WorkSourceSettings } from '../heartbeat/work-source.ts';
import type { NudgeFile } from '../messages/nudge-file.ts';
import type { PatternSources } from '../output/patterns.ts';
import type { ConfiguredCommand } from '../process/command-runner.ts';
import type { HostUser } from '../process/host-user.ts';
import type { Command } from '../terminal/terminal.ts';
import type { LimitSettings } from './limits.ts';

/** How a text reaches the agent. auto: over the socket where a program listens; else by a hook or by typing, whichever is possible first. */
export type NudgeBy = 'auto' | 'socket' | 'hook' | 'terminal' | 'file';

/** One instance of one agent. */
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
    readonly release: ConfiguredCommand | null;
    readonly cleanup: ConfiguredCommand | null;
    /** how it is held and set going again; null: SIGSTOP and SIGCONT to its group */
    readonly pause: ConfiguredCommand | null;
    readonly resume: ConfiguredCommand | null;
    /** the tracker of its task that its command line names; null: it names none */
    readonly workSource: WorkSourceSettings | null;
    /** hive's tool_logs.jsonl of this agent */
    readonly stepLog: string | null;
    readonly limits: LimitSettings;
    /** files to write when it ends unfinished; where none is named, its policy decides */
    readonly files: StateFiles;
    /** null: the interval that the gateway requests */
    readonly intervalMs: number | null;
    /** paths of the checkpoint that it continues from and of its handover */
    readonly checkpoint: string | null;
    readonly handover: string | null;
    /** null: it runs as the user of its supervisor */
    readonly user: HostUser | null;
    /** the spawn order behind it */
    readonly orderId: string | null;
  };

/** The folder for what an agent and its supervisor share. No other user can enter that of the supervisor's state. */
export const sharedDir = (
  { user }: Pick<AgentSpec, 'user'>,
  { dir, socketDir }: Pick<HostDeps, 'dir' | 'socketDir'>,
): string => (user === null ? dir : socketDir);

/** The hand-over as an agent of another user can read it. */
export const handoverOf = (socketDir: string, instanceId: string): string =>
  join(socketDir, 'handover', `${instanceId}.md`);

/** Where the hooks of an agent's sessions append their records. */
export const spoolOf = (dir: string, instanceId: string): string => join(dir, 'spool', instanceId);

/** The variables that a supervisor sets for an agent and its commands, as docs/configuration.md describes them. */
export const AGENT_VARIABLES = {
  VIGIL_AGENT_ID: { description: 'The id of the agent.' },
  VIGIL_INSTANCE_ID: { description: 'The id of its instance.' },
  VIGIL_TASK_ID: { description: 'Its task, if it has one.' },
  VIGIL_ATTEMPT: { description: 'Which attempt at a recovery this is.' },
  VIGIL_CHECKPOINT: { description: 'The file of the checkpoint to continue from.' },
  VIGIL_HANDOVER: { description: 'The file with the work and the end of the previous agent.' },
  VIGIL_SOCKET: { description: 'A Unix socket, with one JSON object a line in both directions.' },
  VIGIL_SPOOL: { description: 'A folder to which the hooks of coding agents append their events.' },
  VIGIL_NUDGE_FILE: { description: 'The file to which nudges are written (`nudge: file`).' },
  VIGIL_PID: { description: 'The id of its process, for the commands `pause` and `resume`.' },
  VIGIL_END_REASON: {
    description: 'For `cleanup` and `release`: `finished`, `crashed`, `explicit` or `resource_limit`.',
  },
  VIGIL_TASK_LEFT: {
    description: 'For the same commands, the state of its task: `in_progress`, `released` or `blocked`.',
  },
  VIGIL_RELEASE: { description: 'For the same commands: what the order releases, with commas between.' },
} as const;

/** What the agent's process finds in its environment beside its own. `dir`: that it shares with its supervisor. */
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
