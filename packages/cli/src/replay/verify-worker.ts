import { partSource, reportToParent, type Span, verify } from '@vigil/health/replay';
import type { DirectSettings } from '../config.ts';
import { withLog } from '../kafka.ts';

/** `part`: partitions. It is sent to a process, so it is plain data. */
export type Share = { readonly settings: DirectSettings; readonly span: Span; readonly part: readonly number[] };

/** The process of verify-log.ts: opens the log for reading, and verifies its share. */
reportToParent(async ({ settings, span, part }: Share, onProgress) => {
  try {
    return await withLog(settings, async (log) =>
      // The main process ends this one itself.
      verify(await partSource(log, span, part, onProgress), new AbortController().signal),
    );
  } catch (error) {
    const { cause } = error as Error;
    // The main process adds what the failure prevents.
    throw cause instanceof Error ? cause : error;
  }
});
