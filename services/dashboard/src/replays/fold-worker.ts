import { openLog } from '@vigil/chassis';
import { reportToParent } from '@vigil/health/replay';
import { silentLogger } from '@vigil/stream';
import type { Config } from '../config.ts';
import { foldAgain, type ReplaySpec } from './fold.ts';

/** A log that does not answer within this time is not waited for, milliseconds. */
const OPEN_LIMIT_MS = 15_000;

/** The process of child.ts: opens the log for reading, and folds the span. */
reportToParent(async ({ config, spec }: { readonly config: Config; readonly spec: ReplaySpec }, onProgress) => {
  await using log = await openLog(config, {
    ...{ clientId: 'vigil-replay', writes: [], logger: silentLogger, now: Date.now },
    signal: AbortSignal.timeout(OPEN_LIMIT_MS),
  });
  // The dashboard ends the process itself.
  return await foldAgain(log, spec, onProgress, new AbortController().signal);
});
