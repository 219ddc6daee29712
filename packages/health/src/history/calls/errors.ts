import type { ToolCall } from '@vigil/events';
import { hash32 } from '../hash.ts';
import { type Heartbeat, instant, type Receipt } from '../moment.ts';
import { rateLimited } from './calls.ts';
import type { HeartbeatDelta } from './heartbeat-delta.ts';

/** The highest count of one error, and the number of errors of any kind that are stored for it. */
export const MOST_TIMES = 20;
export const CLASSES = 4;
const NAME_CHARACTERS = 40;
/**
 * For an agent that reports only weak signs of progress, an error that has not recurred for this long is over.
 * Milliseconds.
 */
const QUIET_MS = 600_000;

/** An error: a hash of its class and content, its time on `now`'s axis, and its count in one report. */
export type Occurrence = readonly [sign: number, at: number, count: number];
/** A reported class of errors; `name` is a hash. */
export type ErrorClass = { readonly sign: number; readonly at: number };

/** The errors since the last progress, because progress ends a repetition. */
export type Errors = {
  /** the newest last */
  readonly recent: readonly Occurrence[];
  /** at [n − 2]: the shortest time in which the same error has occurred n times */
  readonly spans: readonly number[];
  /** when a span was last added or shortened, on `now`'s axis, and the class of that error */
  readonly at: number;
  readonly name: string | null;
  readonly classes: readonly ErrorClass[];
  /** the terminal's own count, as sent; compared only with its own later values */
  readonly counted: { readonly sign: number; readonly count: number } | null;
};

export const NO_ERRORS: Errors = { recent: [], spans: [], at: 0, name: null, classes: [], counted: null };

type Report = {
  readonly sign: number;
  readonly at: number;
  readonly count: number;
  readonly name: string;
  readonly errorClass: string | null;
};

/** `hasProgressed`: whether this heartbeat reports progress, including weak signs. */
export const errorsAfter = (
  before: Errors,
  delta: HeartbeatDelta,
  hasProgressed: boolean,
  heartbeat: Heartbeat,
  receipt: Receipt,
): Errors => {
  if (before.recent.length + before.classes.length === 0 && !reportsFailure(heartbeat)) return before;
  const counted = countedBy(before, heartbeat, receipt);
  const began = delta.declared || (hasProgressed && quiet(before, receipt)) ? cleared(before) : before;
  const { reports, cleared: again } = reportsOf(heartbeat, delta, receipt);
  const base = again ? cleared(began) : began;
  const all = counted === null ? reports : [...reports, ...counted.reports];
  if (all.length === 0) return counted === null ? base : { ...base, counted: counted.counted };
  const after = all.sort((a, b) => a.at - b.at).reduce(noted, base);
  return counted === null ? after : { ...after, counted: counted.counted };
};

const reportsFailure = ({ tool_calls: calls, errors, output }: Heartbeat): boolean =>
  errors.length > 0 || calls.some(({ outcome }) => outcome === 'error') || output?.repeated_error != null;

const cleared = (errors: Errors): Errors =>
  errors.recent.length === 0 && errors.classes.length === 0 ? errors : { ...NO_ERRORS, counted: errors.counted };

const quiet = ({ recent, classes }: Errors, { now }: Receipt): boolean => {
  const last = Math.max(recent.at(-1)?.[1] ?? 0, classes.at(-1)?.at ?? 0);
  return last > 0 && now - last > QUIET_MS;
};

/**
 * Drops errors before the last progress in this heartbeat. A failure that is reported both as call and as error counts
 * once.
 */
const reportsOf = (
  heartbeat: Heartbeat,
  delta: HeartbeatDelta,
  receipt: Receipt,
): { reports: Report[]; cleared: boolean } => {
  let reports: Report[] = [];
  let over = -1;
  for (const [i, call] of heartbeat.tool_calls.entries()) {
    if (delta.calls[i]?.succeeds) {
      reports = [];
      over = instant(receipt, call.ended_at).now;
    } else if (call.outcome === 'error' && !rateLimited(call)) reports.push(ofCall(call, receipt));
  }
  const known = new Set(reports.map(({ sign }) => sign));
  for (const error of heartbeat.errors) {
    const report = ofError(error, receipt);
    if (report.at > over && !known.has(report.sign) && error.error_class !== 'rate_limit') reports.push(report);
  }
  return { reports, cleared: over >= 0 };
};

const ofCall = ({ error_class: errorClass, result_hash: hash, ended_at }: ToolCall, receipt: Receipt): Report => ({
  ...signed(errorClass, hash),
  at: instant(receipt, ended_at).now,
  count: 1,
});

const ofError = (
  { error_class: errorClass, hash, message, at, count }: Heartbeat['errors'][number],
  receipt: Receipt,
): Report => ({ ...signed(errorClass, hash ?? message), at: instant(receipt, at).now, count });

/** 0 if the content is unknown, so that the error equals no other. */
const signed = (errorClass: string | null, content: string | null) => {
  const name = (errorClass ?? 'unnamed').slice(0, NAME_CHARACTERS);
  return { sign: content === null ? 0 : hash32(errorClass ?? '', content), name, errorClass };
};

/**
 * The terminal counts lines itself. The growth of its count is dated now. Lines counted before its first report are
 * dated as early as possible.
 */
const countedBy = (before: Errors, heartbeat: Heartbeat, receipt: Receipt) => {
  const sent = heartbeat.output?.repeated_error ?? null;
  if (sent === null) return null;
  const sign = hash32('output', sent.hash, String(sent.first_at));
  const known = before.counted?.sign === sign ? before.counted.count : 0;
  if (sent.count <= known) return null;
  const what = { sign: hash32('output', sent.hash), name: 'output', errorClass: null };
  const first = known > 0 ? receipt.now : Math.max(0, receipt.now - Math.max(0, receipt.stamp - sent.first_at));
  const reports: Report[] = [{ ...what, at: receipt.now, count: known > 0 ? sent.count - known : 1 }];
  if (known === 0 && sent.count > 1) reports.unshift({ ...what, at: first, count: sent.count - 1 });
  return { reports, counted: { sign, count: sent.count } };
};

const noted = (errors: Errors, { sign, at, count, name, errorClass }: Report): Errors => {
  const classes = errorClass === null ? errors.classes : classesAfter(errors.classes, hash32(errorClass), at);
  if (sign === 0) return { ...errors, classes };
  const seen: Occurrence = [sign, at, Math.min(count, MOST_TIMES)];
  const recent = [...errors.recent.slice(1 - MOST_TIMES), seen];
  const spans = spansAfter(errors.spans, momentsOf(recent, sign));
  return spans === errors.spans ? { ...errors, recent, classes } : { ...errors, recent, spans, at, name, classes };
};

const classesAfter = (classes: readonly ErrorClass[], sign: number, at: number): readonly ErrorClass[] => [
  ...classes.filter((known) => known.sign !== sign).slice(1 - CLASSES),
  { sign, at },
];

/** The newest first. */
const momentsOf = (recent: readonly Occurrence[], sign: number): readonly number[] => {
  const moments = recent.flatMap(([of, at, count]) => (of === sign ? Array.from({ length: count }, () => at) : []));
  return moments.sort((a, b) => b - a).slice(0, MOST_TIMES);
};

const spansAfter = (spans: readonly number[], [newest = 0, ...earlier]: readonly number[]): readonly number[] => {
  let after: number[] | null = null;
  for (const [i, moment] of earlier.entries()) {
    const known = spans[i];
    if (known !== undefined && known <= newest - moment) continue;
    after ??= [...spans];
    after[i] = newest - moment;
  }
  return after ?? spans;
};
