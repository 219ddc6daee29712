import {
  CorrectTheFile,
  fileSource,
  logSource,
  NoRules,
  type ReplaySource,
  type Span,
  UnknownRules,
} from '@vigil/health/replay';
import { directSettings } from '../config.ts';
import { CannotProceed } from '../errors.ts';
import { DamagedGzip } from '../evaluate/gzip.ts';
import { linesOf } from '../evaluate/lines.ts';
import { withLog } from '../kafka.ts';
import { untilStopped } from '../terminal.ts';

export type SpanOptions = {
  /** epoch milliseconds */
  readonly from?: number;
  readonly to?: number;
  readonly agent?: string;
  readonly json?: boolean;
};
/** `file`: an exported span instead of the log. */
export type SourceOptions = SpanOptions & { readonly file?: string };

/** Throws CannotProceed. */
const spanOf = ({ from, to, agent }: SpanOptions): Span => {
  if (from !== undefined && to !== undefined && from > to)
    throw new CannotProceed('the span ends (--to) before it begins (--from): exchange them');
  return { from: from ?? null, to: to ?? null, agent: agent ?? null };
};

/** Shows how much is read, on a terminal. `of` null: unknown. */
const progressOn = (
  out: NodeJS.WriteStream,
): { readonly step: (done: number, of: number | null) => void; readonly end: () => void } => {
  if (!out.isTTY) return { step: () => {}, end: () => {} };
  const begun = performance.now();
  return {
    step: (done, of) => {
      const share = of === null ? '' : ` of ${of} (${of === 0 ? 100 : Math.floor((100 * done) / of)} %)`;
      const aSecond = Math.round(done / Math.max(0.001, (performance.now() - begun) / 1000));
      out.write(`\r${done}${share} records, ${aSecond} a second\u001b[K`);
    },
    end: () => void out.write('\r\u001b[K'),
  };
};

async function* textsOf(file: string): AsyncGenerator<string> {
  for await (const { text } of linesOf(file)) yield text;
}

/** What a person can correct becomes CannotProceed. */
const orCannot = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    const isOfTheSystem = error instanceof Error && 'code' in error && error.code !== undefined;
    const isKnown = [CorrectTheFile, DamagedGzip, NoRules, UnknownRules].some((kind) => error instanceof kind);
    if (isKnown || isOfTheSystem) throw new CannotProceed((error as Error).message, { cause: error });
    throw error;
  }
};

/** `of` null: unknown. */
type Step = (done: number, of: number | null) => void;

/** Replays a span and shows its progress. Ctrl-C stops it. Throws CannotProceed where the span ends before it begins. */
export const replaying = async <T>(
  options: SpanOptions,
  replay: (span: Span, onProgress: Step, signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const span = spanOf(options);
  const progress = progressOn(process.stderr);
  try {
    return await replay(span, progress.step, untilStopped());
  } finally {
    progress.end();
  }
};

/** Uses the observations of a span, of an exported one or of the log. Throws CannotProceed. */
export const withSource = <T>(
  { file, ...options }: SourceOptions,
  use: (source: ReplaySource, signal: AbortSignal) => Promise<T>,
): Promise<T> =>
  replaying(options, async (span, onProgress, signal) => {
    if (file === undefined)
      return withLog(directSettings(process.env), async (log) => use(await logSource(log, span, onProgress), signal));
    return orCannot(async () =>
      use(await fileSource(textsOf(file), file, span, (done) => onProgress(done, null)), signal),
    );
  });
