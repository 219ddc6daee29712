import { once } from 'node:events';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import type { Span } from '@vigil/health/replay';
import { Problem } from '../problem.ts';
import { ReplayFailed } from './replays.ts';

/** Writes a span into `output`, and does not end it. Rejects as RunReplay does. */
export type RunExport = (span: Span, output: Writable, signal: AbortSignal) => Promise<unknown>;

export type ExportsDeps = {
  readonly run: RunExport;
  readonly limitMs: number;
  /** ends the running export */
  readonly signal: AbortSignal;
};

export type Exports = {
  /**
   * The file of a span, once its first part is written. A failure after that destroys it, so that a download breaks off.
   * Throws Problem 429 where another export runs, and 422 with the reason of a failure before that.
   */
  readonly open: (span: Span) => Promise<Readable>;
};

const MINUTE_MS = 60_000;

/** The exports of this dashboard: one runs at a time, and none waits. No more of a file is kept than its reader has not taken. */
export const openExports = ({ run, limitMs, signal }: ExportsDeps): Exports => {
  let isRunning = false;

  const runOne = async (span: Span, file: PassThrough): Promise<void> => {
    const gone = new AbortController();
    file.once('close', () => gone.abort(new ReplayFailed('its reader has gone')));
    const limit = AbortSignal.timeout(limitMs);
    try {
      await run(span, file, AbortSignal.any([gone.signal, limit, signal]));
      file.end();
    } catch (error) {
      if (!limit.aborted) throw error;
      throw new ReplayFailed(
        `an export may run for ${limitMs / MINUTE_MS} min: use \`vigil replay export\` on the command line for this span`,
      );
    }
  };

  return {
    open: async (span) => {
      if (isRunning)
        throw new Problem(
          429,
          'too_many_replays',
          'Another export runs: try again later, or use `vigil replay export` on the command line.',
        );
      isRunning = true;
      const file = new PassThrough();
      void runOne(span, file)
        .catch((error: Error) => void file.destroy(error))
        .finally(() => {
          isRunning = false;
        });
      try {
        await once(file, 'readable');
      } catch (error) {
        if (error instanceof ReplayFailed) throw new Problem(422, 'export_failed', error.message);
        throw error;
      }
      return file;
    },
  };
};
