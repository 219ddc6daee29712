import { adapterNamed } from '@vigil/adapters';
import { CorrectTheRun, type RecordedRun } from '@vigil/health';
import { isExportedSpan } from '@vigil/health/replay';
import { NarrowTheSpan, type Work, worksOfRuns, worksOfSessions, worksOfSpan } from '@vigil/health/tuning';
import { hashes } from '@vigil/sdk/hashes';
import { CannotProceed } from '../errors.ts';
import { DamagedGzip } from '../evaluate/gzip.ts';
import { linesOf } from '../evaluate/lines.ts';
import { entryOf, piecesOf } from '../evaluate/records.ts';
import { type SpanOptions, withSource } from '../replay/source.ts';

const GAP_MS = 5000;

/** The work in files, or in a span of the log if there are none. Throws CannotProceed. */
export const worksOf = async (files: readonly string[], span: SpanOptions): Promise<readonly Work[]> => {
  if (files.length === 0) return ofSource(span);
  const works: Work[] = [];
  for (const file of files)
    works.push(...((await isSpan(file)) ? await ofSource({ ...span, file }) : await ofRecords(file)));
  return works;
};

const ofSource = async (options: SpanOptions & { readonly file?: string }): Promise<readonly Work[]> => {
  try {
    return await withSource(options, worksOfSpan);
  } catch (error) {
    throw error instanceof NarrowTheSpan ? new CannotProceed(error.message) : error;
  }
};

const isSpan = async (file: string): Promise<boolean> => {
  try {
    for await (const { text } of linesOf(file)) return isExportedSpan(entryOf(text));
  } catch (error) {
    if (!(error instanceof CorrectTheRun)) throw cannot(file, error);
  }
  return false;
};

const ofRecords = async (file: string): Promise<readonly Work[]> => {
  const [runs, sessions] = [worksOfRuns(hashes, GAP_MS), worksOfSessions()];
  const works: Work[] = [];
  try {
    for await (const { read } of piecesOf(file, { format: null, gap: GAP_MS }))
      for (const record of read())
        works.push(...(record.kind === 'run' ? [runs(withDeadlines(record.run))] : sessions(record, () => [])));
  } catch (error) {
    throw cannot(file, error);
  }
  return works;
};

const cannot = (file: string, error: unknown): unknown => {
  const isOfTheSystem = error instanceof Error && 'code' in error;
  const isKnown = isOfTheSystem || error instanceof CorrectTheRun || error instanceof DamagedGzip;
  return isKnown ? new CannotProceed(`${file}: ${(error as Error).message}`, { cause: error }) : error;
};

/** The run with the deadlines that its client's adapter reads from arguments, where the record states none. */
const withDeadlines = (run: RecordedRun): RecordedRun => {
  const adapter = adapterNamed(run.agent?.split(' ')[0] ?? '') ?? adapterNamed(run.src ?? '');
  if (adapter === undefined) return run;
  const calls = run.calls.map((call) => {
    const { limitMs } = adapter.traitsOf(call.tool, call.args);
    if (call.deadline_at !== null || call.started_at === null || limitMs === null) return call;
    return { ...call, deadline_at: call.started_at + limitMs };
  });
  return { ...run, calls };
};
