import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type CheckpointRef, checkpointRef, type ExitReason } from '@vigil/events';
import type { AgentMonitor } from '../agent/agent-monitor.ts';
import { type AgentSpec, environmentOf, sharedDir } from '../agent/agent-spec.ts';
import type { HostDeps } from '../deps.ts';
import { safeOutput } from '../live-terminal/line-filter.ts';
import type { Terminate } from '../orders/order.ts';
import { runForLines } from '../process/command-runner.ts';
import type { Exit } from '../terminal/terminal.ts';
import { type ExitArtifactDeps, saveBeforeEnd, writeExitArtifacts } from './exit-artifacts.ts';
import { describeExit, type EndRequest, reasonOf } from './exit-reason.ts';
import { isOnLastAttempt, judgedSpec } from './judged-spec.ts';
import { stateFilesOf } from './state-files.ts';

type ExitDeps = ExitArtifactDeps & Pick<HostDeps, 'dir' | 'socketDir'>;

/** How an instance ended. */
export type InstanceEnd = {
  readonly exit: Exit;
  readonly endRequest: EndRequest | null;
  /** what was saved of it before an ordered end; null: nothing */
  readonly saved: CheckpointRef | null;
  /** ends the processes that it left running and describes the result; null: none were left */
  readonly endLeftovers: () => Promise<string | null>;
};

/** The facts about an instance that has ended. */
export type ExitSummary = {
  readonly exit: Exit;
  readonly reason: ExitReason;
  readonly details: string;
  readonly checkpoint: CheckpointRef | null;
  readonly lastOutput: readonly string[];
  readonly claimsReleased: readonly string[];
  /** address of the archive: last output, exit, checkpoint */
  readonly forensics: string | null;
};

const COMMAND_MS = 30_000;

const detailsOf = (exit: Exit, endRequest: EndRequest | null, more: string | null): string =>
  [describeExit(exit), endRequest?.by, more].filter((words) => words != null).join('; ');

const archive = (deps: ExitDeps, spec: AgentSpec, facts: object): string | null => {
  const path = join(deps.dir, 'archive', `${spec.instanceId}.json`);
  try {
    mkdirSync(join(deps.dir, 'archive'), { recursive: true, mode: 0o700 });
    const { agentId, instanceId, taskId, attempt, command, args } = spec;
    writeFileSync(path, JSON.stringify({ agentId, instanceId, taskId, attempt, command, args, ...facts }, null, 2));
    return pathToFileURL(path).href;
  } catch (error) {
    deps.logger('the archive could not be written', { path, error: String(error) });
    return null;
  }
};

const ownCheckpoint = ({ progress }: AgentMonitor): CheckpointRef | null =>
  progress.checkpoint ? checkpointRef(progress.checkpoint) : null;

/** One that is finished, or was stopped with its host, leaves its own checkpoint and nothing else. */
const exitArtifactsOf = async (
  deps: ExitDeps,
  spec: AgentSpec,
  monitor: AgentMonitor,
  { reason, details }: Pick<ExitSummary, 'reason' | 'details'>,
  { endRequest, saved }: Pick<InstanceEnd, 'endRequest' | 'saved'>,
): Promise<CheckpointRef | null> => {
  const own = ownCheckpoint(monitor);
  const continues = reason !== 'finished' && (reason !== 'explicit' || endRequest?.orderId != null);
  if (!continues) return own;
  const judged = judgedSpec(spec, monitor);
  return writeExitArtifacts(deps, judged, await stateFilesOf(deps, judged), {
    order: endRequest?.order ?? null,
    details,
    checkpoint: own,
    saved,
    known: monitor.known,
    isLast: isOnLastAttempt(deps, judged, monitor),
  });
};

/** Saves what is known of an agent that an order ends. Returns the file's reference. */
export const beforeOrderedEnd = async (
  deps: ExitDeps,
  spec: AgentSpec,
  monitor: AgentMonitor,
  order: Terminate,
): Promise<CheckpointRef | null> => {
  const judged = judgedSpec(spec, monitor);
  const files = await stateFilesOf(deps, judged);
  const { reason, axes } = order.payload;
  return saveBeforeEnd(deps, judged, files, {
    reason,
    axes,
    checkpoint: ownCheckpoint(monitor),
    known: monitor.known,
  });
};

/**
 * Ends remaining processes (a finished agent may leave some), cleans up, and archives the agent's artifacts. Its claims are
 * released where the order requests it; a finished agent has released them itself.
 */
export const handleExit = async (
  deps: ExitDeps,
  spec: AgentSpec,
  monitor: AgentMonitor,
  { exit, endRequest, saved, endLeftovers }: InstanceEnd,
): Promise<ExitSummary> => {
  const reason = reasonOf(exit, endRequest, monitor.hasCompleted || !spec.mustSignalCompletion);
  const left = reason === 'finished' ? null : await endLeftovers();
  const order = endRequest?.order?.payload;
  const { user } = spec;
  const env = {
    ...environmentOf(spec, sharedDir(spec, deps), ''),
    VIGIL_END_REASON: reason,
    VIGIL_TASK_LEFT: order?.leave ?? 'in_progress',
    VIGIL_RELEASE: order?.release.join(',') ?? '',
  };
  if (spec.cleanup)
    await runForLines(spec.cleanup, { env, user, withinMs: order?.cleanupMs ?? COMMAND_MS }, deps.logger);
  const isReleased = reason !== 'finished' && order !== undefined && order.release.length > 0;
  const claimsReleased =
    isReleased && spec.release ? await runForLines(spec.release, { env, user, withinMs: COMMAND_MS }, deps.logger) : [];
  const unreleased = isReleased && spec.release === null ? notReleased(order.release) : null;
  const details = detailsOf(exit, endRequest, [left, unreleased].filter((words) => words !== null).join('; ') || null);
  const checkpoint = await exitArtifactsOf(deps, spec, monitor, { reason, details }, { endRequest, saved }).catch(
    (error: unknown) => {
      deps.logger('what the agent left could not be written', { agentId: spec.agentId, error: String(error) });
      return null;
    },
  );
  const facts = {
    exit,
    reason,
    details: withSaved(details, saved, checkpoint),
    checkpoint,
    lastOutput: safeOutput(monitor.lastOutput),
    claimsReleased,
  };
  return { ...facts, forensics: archive(deps, spec, { ...facts, output: monitor.screen.tail }) };
};

/** The file with the state of the agent is named where it is not what a replacement continues from. */
const withSaved = (details: string, saved: CheckpointRef | null, checkpoint: CheckpointRef | null): string =>
  saved?.uri == null || saved.uri === checkpoint?.uri
    ? details
    : `${details}; its last calls, output and open work are in ${fileURLToPath(saved.uri)}`;

const notReleased = (claims: readonly string[]): string =>
  `its ${claims.join(' and ')} are not released: its runtime has no \`release\` command for it`;

/** What the end is known by where it could not be concluded. */
export const minimalExitSummary = (
  exit: Exit,
  endRequest: EndRequest | null,
  hasCompleted: boolean,
  why: string,
): ExitSummary => ({
  exit,
  reason: reasonOf(exit, endRequest, hasCompleted),
  details: detailsOf(exit, endRequest, `what else there is to know of it is not: ${why}`),
  checkpoint: null,
  lastOutput: [],
  claimsReleased: [],
  forensics: null,
});
