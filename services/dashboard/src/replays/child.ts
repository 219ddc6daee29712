import { ChildEnded, ChildFailed, type Exported, inChild } from '@vigil/health/replay';
import type { ReplayResult } from '@vigil/read-model';
import type { Config } from '../config.ts';
import type { RunExport } from './export.ts';
import type { ExportSpec, ReplaySpec } from './fold.ts';
import { ReplayFailed, type RunReplay } from './replays.ts';

/** The heap of the process. A pod of the dashboard has 512 MiB by default. */
const MEMORY_MB = 256;

const failureOf = (error: unknown): unknown => {
  if (error instanceof ChildFailed) return new ReplayFailed(error.message);
  if (error instanceof ChildEnded)
    return new ReplayFailed(
      `${error.message}: it may need more than ${MEMORY_MB} MiB. Give a shorter span or one agent, or use \`vigil replay\` on the command line`,
    );
  return error;
};

const WORKER = new URL('./fold-worker.ts', import.meta.url);

/** Runs a replay in a process of its own with a log of its own: it blocks no request, its memory has a limit, and its crash ends nothing else. */
export const replayFor =
  (config: Config): RunReplay =>
  async (spec: ReplaySpec, onProgress, signal) => {
    const child = { file: WORKER, data: { config, spec }, memoryMb: MEMORY_MB, output: null };
    try {
      return await inChild<ReplayResult>(child, onProgress, signal);
    } catch (error) {
      throw failureOf(error);
    }
  };

/** Exports a span in such a process, which writes the file to its standard output. */
export const exportFor =
  (config: Config): RunExport =>
  async (span, output, signal) => {
    const spec: ExportSpec = { kind: 'export', span };
    try {
      return await inChild<Exported>(
        { file: WORKER, data: { config, spec }, memoryMb: MEMORY_MB, output },
        () => {},
        signal,
      );
    } catch (error) {
      throw failureOf(error);
    }
  };
