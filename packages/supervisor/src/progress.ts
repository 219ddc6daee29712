import type { Checkpoint, ToolCall, WorkItem } from '@vigil/events';
import type { Said } from './said.ts';

/**
 * What an agent has done, as far as orders have to know. A mark is the sequence of the heartbeat that carries (or will
 * carry) the newest of its sort: it compares with the sequence that a finding had folded.
 */
export type Progress = {
  /** a call, output, or a word of the agent's own */
  readonly activity: number | null;
  /** a changed result, a successful mutation, a checkpoint, an ACCEPT, a touched work item */
  readonly change: number | null;
  readonly openCalls: Readonly<Record<string, ToolCall>>;
  /** the last 16 result hashes by tool and arguments; the 200 pairs used last */
  readonly results: Readonly<Record<string, readonly string[]>>;
  readonly checkpoint: Checkpoint | null;
  readonly workStamp: string | null;
  /** the same of what the host's tracker says */
  readonly trackedStamp: string | null;
};

export const noProgress: Progress = {
  activity: null,
  change: null,
  openCalls: {},
  results: {},
  checkpoint: null,
  workStamp: null,
  trackedStamp: null,
};

const pairOf = (call: ToolCall): string => `${call.tool} ${call.args_hash ?? ''}`;

const isChange = (progress: Progress, call: ToolCall): boolean => {
  if (call.outcome === 'ok' && call.mutating) return true;
  return call.result_hash !== null && !(progress.results[pairOf(call)] ?? []).includes(call.result_hash);
};

const remember = (results: Progress['results'], call: ToolCall): Progress['results'] => {
  if (call.result_hash === null) return results;
  const { [pairOf(call)]: known = [], ...others } = results;
  const hashes = [...known.filter((hash) => hash !== call.result_hash), call.result_hash].slice(-16);
  return Object.fromEntries([...Object.entries(others).slice(-199), [pairOf(call), hashes]]);
};

const call = (progress: Progress, one: ToolCall, sequence: number): Progress => {
  const { [one.call_id]: _, ...others } = progress.openCalls;
  return {
    ...progress,
    change: isChange(progress, one) ? sequence : progress.change,
    openCalls: one.outcome === 'running' ? { ...others, [one.call_id]: one } : others,
    results: remember(progress.results, one),
  };
};

const stampOf = (work: WorkItem): string => `${work.id} ${work.updated_at} ${work.comment_count}`;

/** What the host's tracker says of its work now: touched, it has changed; seen for the first time, it has not. */
export const workSeen = (progress: Progress, work: WorkItem | null, sequence: number): Progress => {
  if (work === null || stampOf(work) === progress.trackedStamp) return progress;
  const change = progress.trackedStamp === null ? progress.change : sequence;
  return { ...progress, change, trackedStamp: stampOf(work) };
};

/** The agent said something, which the heartbeat of this sequence will carry. */
export const agentSaid = (before: Progress, said: Said, sequence: number): Progress => {
  const progress = (said.tool_calls ?? []).reduce((so, one) => call(so, one, sequence), before);
  const workStamp = said.work ? stampOf(said.work) : before.workStamp;
  const changed =
    (said.checkpoint && said.checkpoint.checkpoint_id !== before.checkpoint?.checkpoint_id) ||
    workStamp !== before.workStamp ||
    said.steps?.verdicts.includes('ACCEPT');
  return {
    ...progress,
    activity: sequence,
    change: changed ? sequence : progress.change,
    checkpoint: said.checkpoint ?? before.checkpoint,
    workStamp,
  };
};

/** New output of the agent, our own text excluded. */
export const outputSeen = (progress: Progress, sequence: number): Progress => ({ ...progress, activity: sequence });

export const isMidCall = (progress: Progress): boolean => Object.keys(progress.openCalls).length > 0;

const overtakes = (mark: number | null, folded: number): boolean => mark !== null && mark > folded;

/**
 * Has the finding behind an order been overtaken? Absence ends by anything newer; repetition, rate and cost by a change
 * only; a fact is not for the hands to withdraw. A finding on several axes is overtaken when each of them is.
 */
export const overtaken = (progress: Progress, axes: readonly string[], folded: number | null): boolean => {
  if (folded === null || axes.length === 0) return false;
  return axes.every((axis) => {
    if (axis === 'absence') return overtakes(progress.activity, folded);
    return axis !== 'fact' && overtakes(progress.change, folded);
  });
};
