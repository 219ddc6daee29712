import { onThread, ThreadFailed } from '@vigil/health/replay';
import type { Config } from '../config.ts';
import type { ReplayResult, ReplaySpec } from './fold.ts';
import { ReplayFailed, type RunReplay } from './replays.ts';

/** The heap of the thread. A pod of the dashboard has 512 MiB by default. */
const MEMORY_MB = 256;

const failureOf = (error: unknown): unknown => {
  if (error instanceof ThreadFailed) return new ReplayFailed(error.message);
  if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return new ReplayFailed(
      `the replay needs more than ${MEMORY_MB} MiB: give a shorter span or one agent, or use \`vigil replay\` on the command line`,
    );
  return error;
};

/** Runs a replay on a thread of its own with a log of its own, so that it blocks no request and its memory has a limit. */
export const threadFor =
  (config: Config): RunReplay =>
  async (spec: ReplaySpec, onProgress, signal) => {
    const thread = { file: new URL('./fold-worker.ts', import.meta.url), data: { config, spec }, memoryMb: MEMORY_MB };
    try {
      return await onThread<ReplayResult>(thread, onProgress, signal);
    } catch (error) {
      throw failureOf(error);
    }
  };
