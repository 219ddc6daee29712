import type { Mark as AnyMark, Checkpoint, Heartbeat, ToolCall, TurnReport, WorkItem } from '@vigil/events';

export type Mark = Exclude<AnyMark, 'UNKNOWN'>;

/** For each kind of mark, the sequence of the heartbeat that carries (or will carry) the newest. */
export type Marks = Readonly<Partial<Record<Mark, number>>>;

/**
 * What an agent has done, as far as orders need it. Every component that may refuse an order folds the agent's
 * reports.
 */
export type Progress = {
  readonly marks: Marks;
  /** calls in flight by id, with the sequence that carries their start */
  readonly openCalls: Readonly<Record<string, number>>;
  readonly checkpoint: Checkpoint | null;
  /** stamps of the work item and of its claim, as last reported */
  readonly work: { readonly touched: string; readonly claimed: string } | null;
  readonly tokens: number;
  readonly steps: number | null;
  /** as the agent's client reported it last; null: it has reported none */
  readonly turn: TurnReport | null;
  /** the last successful mutations: tool, arguments and result of each. The same one again changes nothing */
  readonly changes: readonly string[];
};

export const noProgress: Progress = {
  marks: {},
  openCalls: {},
  checkpoint: null,
  work: null,
  tokens: 0,
  steps: null,
  turn: null,
  changes: [],
};

/** As many results as the evaluator compares (packages/health/src/history/calls/heartbeat-delta.ts). */
const MOST_CHANGES = 32;

/** What an agent reports about itself: any fields of a heartbeat. */
type ReportedFields = { readonly [K in keyof Heartbeat]?: Heartbeat[K] | undefined };

/** More calls than any agent has in flight: beyond it, the end of the oldest got lost. */
const MOST_CALLS = 100;

export const marked = <P extends { readonly marks: Marks }>(
  progress: P,
  marks: readonly Mark[],
  sequence: number,
): P =>
  marks.length === 0
    ? progress
    : { ...progress, marks: { ...progress.marks, ...Object.fromEntries(marks.map((mark) => [mark, sequence])) } };

const openAfter = (open: Progress['openCalls'], { call_id, outcome }: ToolCall, from: number) => {
  const { [call_id]: began = from, ...others } = open;
  if (outcome !== 'running') return others;
  return Object.fromEntries([...Object.entries(others).slice(1 - MOST_CALLS), [call_id, began]]);
};

const marksOf = ({ outcome }: ToolCall): readonly Mark[] => {
  if (outcome === 'running' || outcome === 'refused' || outcome === 'abandoned') return ['call'];
  return outcome === 'ok' ? ['call', 'answer', 'success'] : ['call', 'answer'];
};

/** A successful mutation is a change, unless the same one has given the same result before. */
const changed = (before: Progress, call: ToolCall, sequence: number): Progress => {
  if (!call.mutating || call.outcome !== 'ok') return before;
  if (call.args_hash === null || call.result_hash === null) return marked(before, ['change'], sequence);
  const change = `${call.tool} ${call.args_hash} ${call.result_hash}`;
  if (before.changes.includes(change)) return before;
  const changes = [...before.changes.slice(1 - MOST_CHANGES), change];
  return marked({ ...before, changes }, ['change'], sequence);
};

const called = (before: Progress, call: ToolCall, sequence: number): Progress => {
  const openCalls = openAfter(before.openCalls, call, sequence);
  return changed(marked({ ...before, openCalls }, marksOf(call), sequence), call, sequence);
};

const stampsOf = ({ id, updated_at, comment_count, claim_refreshed_at }: WorkItem) => ({
  touched: `${id} ${updated_at} ${comment_count}`,
  claimed: `${id} ${claim_refreshed_at}`,
});

/**
 * Marks a change of the work item, whichever source reports it. The first sighting and a repetition are not changes.
 */
export const workSeen = <P extends Pick<Progress, 'marks' | 'work'>>(
  before: P,
  work: WorkItem,
  sequence: number,
): P => {
  const stamps = stampsOf(work);
  const known = before.work ?? stamps;
  if (known === before.work && known.touched === stamps.touched && known.claimed === stamps.claimed) return before;
  const marks: readonly Mark[] = [
    ...(stamps.touched === known.touched ? [] : (['work', 'change'] as const)),
    ...(stamps.claimed === known.claimed ? [] : (['claim'] as const)),
  ];
  return marked({ ...before, work: stamps }, marks, sequence);
};

const aboutSteps = (before: Progress, { total_steps, verdicts }: NonNullable<Heartbeat['steps']>, sequence: number) =>
  marked(
    { ...before, steps: total_steps },
    [
      ...(total_steps === before.steps ? [] : (['step'] as const)),
      ...(verdicts.includes('ACCEPT') ? (['accept', 'change'] as const) : []),
    ],
    sequence,
  );

const aboutCheckpoint = (before: Progress, checkpoint: Checkpoint, sequence: number): Progress => {
  const isNew = checkpoint.checkpoint_id !== before.checkpoint?.checkpoint_id;
  const marks: readonly Mark[] = checkpoint.valid === false ? ['checkpoint'] : ['checkpoint', 'change'];
  return marked({ ...before, checkpoint }, isNew ? marks : [], sequence);
};

const aboutTokens = (before: Progress, tokens: number, sequence: number): Progress =>
  marked({ ...before, tokens }, tokens > before.tokens ? ['tokens'] : [], sequence);

/** A turn opened or closed, or its client reported another event in it. */
const aboutTurn = (before: Progress, turn: TurnReport, sequence: number): Progress => {
  const known = before.turn;
  const isSame = known?.open === turn.open && (turn.last_event_at ?? 0) <= (known.last_event_at ?? 0);
  return isSame ? before : marked({ ...before, turn }, ['turn'], sequence);
};

/** Folds an agent's report, which the heartbeat of this sequence will carry. */
export const applyReport = (before: Progress, report: ReportedFields, sequence: number): Progress => {
  const { checkpoint, work, steps, turn, token_count: tokens, tool_calls: calls = [] } = report;
  let so = marked(before, ['activity'], sequence);
  for (const call of calls) so = called(so, call, sequence);
  if (tokens !== undefined && tokens !== null) so = aboutTokens(so, tokens, sequence);
  if (turn) so = aboutTurn(so, turn, sequence);
  if (checkpoint) so = aboutCheckpoint(so, checkpoint, sequence);
  if (work) so = workSeen(so, work, sequence);
  return steps ? aboutSteps(so, steps, sequence) : so;
};

/** A finding as an order carries it: what ends it, newer than the heartbeat that it had folded. */
export type Finding = {
  readonly axes?: readonly string[] | undefined;
  readonly awaits?: readonly (readonly AnyMark[])[] | null | undefined;
  readonly foldedSequence?: number | null | undefined;
};

/**
 * A finding that names nothing to await: any newer activity ends silence, nothing that a runtime observes ends a
 * fact, a change ends all else.
 */
const byAxis = (axis: string): readonly Mark[] => {
  if (axis === 'absence') return ['activity'];
  return axis === 'fact' ? [] : ['change'];
};

/** Each call that was in flight at the finding has to end, not any call. */
const newest = ({ marks, openCalls }: Pick<Progress, 'marks' | 'openCalls'>, mark: AnyMark): number => {
  const seen = mark === 'UNKNOWN' ? undefined : marks[mark];
  if (seen === undefined) return Number.NEGATIVE_INFINITY;
  return mark === 'answer' ? Math.min(seen, ...Object.values(openCalls)) : seen;
};

export const isMidCall = ({ openCalls }: Progress): boolean => Object.keys(openCalls).length > 0;

/**
 * Whether the awaited signals have arrived since. One mark of each group is enough; an unknown mark has not arrived.
 */
export const overtaken = (
  progress: Pick<Progress, 'marks' | 'openCalls'>,
  { axes = [], awaits, foldedSequence = null }: Finding,
): boolean => {
  const groups = awaits ?? axes.map(byAxis);
  if (foldedSequence === null || groups.length === 0) return false;
  return groups.every((group) => group.some((mark) => newest(progress, mark) > foldedSequence));
};
