import { openLog } from '@vigil/chassis';
import { exportSpan, GzipLines, logSource, reportToParent } from '@vigil/health/replay';
import { silentLogger } from '@vigil/stream';
import manifest from '../../../../package.json' with { type: 'json' };
import type { Config } from '../config.ts';
import { type ExportSpec, foldAgain, type ReplaySpec } from './fold.ts';

/** A log that does not answer within this time is not waited for, milliseconds. */
const OPEN_LIMIT_MS = 15_000;

const STDOUT = 1;

type Work = { readonly config: Config; readonly spec: ReplaySpec | ExportSpec };

/** The process of child.ts: opens the log for reading, and folds the span, or writes it to the standard output. */
reportToParent(async ({ config, spec }: Work, onProgress) => {
  await using log = await openLog(config, {
    ...{ clientId: 'vigil-replay', writes: [], logger: silentLogger, now: Date.now },
    signal: AbortSignal.timeout(OPEN_LIMIT_MS),
  });
  // The dashboard ends the process itself.
  const { signal } = new AbortController();
  if (spec.kind !== 'export') return await foldAgain(log, spec, onProgress, signal);
  const lines = new GzipLines(STDOUT);
  const about = { version: manifest.version, exportedAt: Date.now() };
  const exported = await exportSpan(await logSource(log, spec.span, onProgress), about, lines.write, signal);
  lines.flush();
  return exported;
});
