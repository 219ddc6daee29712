import { type Heartbeat, instant, type Receipt } from '../moment.ts';

/** The reports of the terminal, or of another source of results. */
export type Outputs = {
  /** mark of the last output, or of the start of watching if there was none; null if no terminal is watched */
  readonly last: number | null;
  /** as sent; compared only with their own later values */
  readonly sentOutput: number | null;
  readonly sentResult: number | null;
  readonly sentCompletion: number | null;
  /** mark of a result that lacks its completion signal; null if none is awaited */
  readonly uncompleted: number | null;
};

export const NO_OUTPUT: Outputs = {
  last: null,
  sentOutput: null,
  sentResult: null,
  sentCompletion: null,
  uncompleted: null,
};

type Report = NonNullable<Heartbeat['output']>;

export const outputsAfter = (before: Outputs, heartbeat: Heartbeat, receipt: Receipt): Outputs => {
  if (heartbeat.output === null) return before;
  const after = drawsScreen(heartbeat) ? { ...before, last: null } : seen(before, heartbeat.output, receipt);
  return worksAgain(completed(after, heartbeat.output, receipt), heartbeat);
};

/**
 * A runtime that counts no lines watches a program that draws a screen. Neither its output nor its silence has a
 * meaning.
 */
export const drawsScreen = ({ reporter, output }: Heartbeat): boolean =>
  reporter === 'runtime' && output !== null && output.lines === null && output.last_output_at === null;

/** A reporter that counts lines watches a terminal, even if there is no line yet. */
const seen = (before: Outputs, { last_output_at: sent, lines }: Report, receipt: Receipt): Outputs => {
  if (sent !== null && (before.sentOutput === null || sent > before.sentOutput))
    return { ...before, sentOutput: sent, last: instant(receipt, sent).watched };
  return before.last === null && lines !== null ? { ...before, last: receipt.watched } : before;
};

/**
 * A completion signal may arrive before its result. So a signal that is newer than the last result counts for the next
 * result.
 */
const completed = (before: Outputs, report: Report, receipt: Receipt): Outputs => {
  const completion = newer(completionOf(report), before.sentCompletion);
  const result = newer(report.result_at, before.sentResult);
  if (completion === before.sentCompletion && result === before.sentResult) return before;
  const fresh = completion !== null && (before.sentResult === null || completion > before.sentResult);
  const awaited = result === before.sentResult ? before.uncompleted : instant(receipt, result).watched;
  return { ...before, sentCompletion: completion, sentResult: result, uncompleted: fresh ? null : awaited };
};

/** A turn that began after the result: its completion signal is awaited after the next result. */
const worksAgain = (outputs: Outputs, { turn }: Heartbeat): Outputs => {
  const { sentResult, uncompleted } = outputs;
  if (uncompleted === null || sentResult === null || turn === null || !turn.open) return outputs;
  return turn.started_at !== null && turn.started_at > sentResult ? { ...outputs, uncompleted: null } : outputs;
};

const completionOf = ({ completion_signal_at: signalled, matched_patterns: matched }: Report): number | null => {
  let last = signalled;
  for (const { kind, at } of matched) if (kind === 'completion') last = newer(at, last);
  return last;
};

const newer = (sent: number | null, known: number | null): number | null =>
  sent === null || (known !== null && sent <= known) ? known : sent;
