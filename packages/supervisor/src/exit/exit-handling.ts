import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CheckpointRef, ExitReason } from '@vigil/events';
import type { Watch } from '../agent/agent-monitor.ts';
import { type AgentSpec, environmentOf } from '../agent/agent-spec.ts';
import { refOf } from '../checkpoint/validate.ts';
import type { HostDeps } from '../deps.ts';
import type { Report } from '../orders/order.ts';
import { runChore } from '../process/command-runner.ts';
import type { Exit } from '../terminal/terminal.ts';
import { type ExitArtifactDeps, leaveBehind } from './exit-artifacts.ts';
import { type Asked, describe, reasonOf } from './exit-reason.ts';
import { attemptsOf, stateFilesOf } from './state-files.ts';

type ExitDeps = ExitArtifactDeps & Pick<HostDeps, 'dir'>;

/** How a life was ended. */
export type Over = {
  readonly exit: Exit;
  readonly asked: Asked | null;
  /** ends what it left running, and says so in words; null: nothing was left */
  readonly endLeft: () => Promise<string | null>;
};

/** What is known of a life when it is over. */
export type Conclusion = {
  readonly exit: Exit;
  readonly reason: ExitReason;
  readonly details: string;
  readonly checkpoint: CheckpointRef | null;
  readonly lastOutput: readonly string[];
  readonly claimsReleased: readonly string[];
  /** address of the archive: last output, exit, checkpoint */
  readonly forensics: string | null;
};

const choreMs = 30_000;

const archive = (world: ExitDeps, spec: AgentSpec, facts: object): string | null => {
  const path = join(world.dir, 'archive', `${spec.instanceId}.json`);
  try {
    mkdirSync(join(world.dir, 'archive'), { recursive: true, mode: 0o700 });
    const { agentId, instanceId, taskId, attempt, command, args } = spec;
    writeFileSync(path, JSON.stringify({ agentId, instanceId, taskId, attempt, command, args, ...facts }, null, 2));
    return pathToFileURL(path).href;
  } catch (error) {
    world.log('the archive could not be written', { path, error: String(error) });
    return null;
  }
};

type Known = Pick<Conclusion, 'reason' | 'details'> & { readonly asked: Asked | null };

/** One that is finished, or was stopped with its host, leaves its own checkpoint and nothing else. */
const leftBehind = async (
  world: ExitDeps,
  spec: AgentSpec,
  watch: Watch,
  known: Known,
): Promise<CheckpointRef | null> => {
  const { reason, details, asked } = known;
  const own = watch.progress.checkpoint ? refOf(watch.progress.checkpoint) : null;
  const goesOn = reason !== 'finished' && (reason !== 'explicit' || asked?.orderId != null);
  if (!goesOn) return own;
  const files = await stateFilesOf(world, { ...spec, policy: watch.policy });
  // one that no order to spawn has put on its task has been told no number
  const maxAttempts = spec.maxAttempts ?? attemptsOf(watch.memory.known.looksFor?.document);
  return leaveBehind(world, { ...spec, maxAttempts }, files, {
    order: asked?.order ?? null,
    details,
    checkpoint: own,
    heardAt: watch.heardAt,
  });
};

/**
 * Ends what works on (a finished one may leave it), cleans up, releases what the agent held (a finished one has done so
 * itself), and archives what is left of it.
 */
export const conclude = async (
  world: ExitDeps,
  spec: AgentSpec,
  watch: Watch,
  { exit, asked, endLeft }: Over,
): Promise<Conclusion> => {
  const reason = reasonOf(exit, asked, watch.hasCompleted || !spec.mustSignalCompletion);
  const left = reason === 'finished' ? null : await endLeft();
  const order = asked?.order?.payload;
  const env = {
    ...environmentOf(spec, world.dir, ''),
    VIGIL_END_REASON: reason,
    VIGIL_TASK_LEFT: order?.leave ?? 'in_progress',
    VIGIL_RELEASE: order?.release.join(',') ?? '',
  };
  if (spec.cleanup) await runChore(spec.cleanup, env, order?.cleanupMs ?? choreMs, world.log);
  const release = reason === 'finished' ? null : spec.release;
  const claimsReleased = release ? await runChore(release, env, choreMs, world.log) : [];
  const details = [describe(exit), asked?.by, left].filter((words) => words != null).join('; ');
  const checkpoint = await leftBehind(world, spec, watch, { reason, details, asked }).catch((error: unknown) => {
    world.log('what the agent left could not be written', { agentId: spec.agentId, error: String(error) });
    return null;
  });
  const facts = { exit, reason, details, checkpoint, lastOutput: watch.lastOutput, claimsReleased };
  return { ...facts, forensics: archive(world, spec, { ...facts, output: watch.screen.tail }) };
};

/** What the end is known by where it could not be concluded. */
export const bareConclusion = (exit: Exit, asked: Asked | null, hasCompleted: boolean, why: string): Conclusion => ({
  exit,
  reason: reasonOf(exit, asked, hasCompleted),
  details: [describe(exit), asked?.by, `what else there is to know of it is not: ${why}`]
    .filter((words) => words != null)
    .join('; '),
  checkpoint: null,
  lastOutput: [],
  claimsReleased: [],
  forensics: null,
});

export const exitReport = (spec: AgentSpec, end: Conclusion, orderId: string | null, at: number): Report => ({
  type: 'AGENT_EXITED',
  payload: {
    agentId: spec.agentId,
    instanceId: spec.instanceId,
    taskId: spec.taskId,
    runtimeId: spec.runtimeId,
    code: end.exit.code,
    signal: end.exit.signal,
    reason: end.reason,
    at,
    orderId,
    details: end.details,
    checkpoint: end.checkpoint,
    lastOutput: end.lastOutput,
    forensics: end.forensics,
    policy: spec.policy,
    labels: spec.labels,
  },
});
