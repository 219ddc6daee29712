import { duration, patternInAnyCase, spell } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { z } from 'zod';
import { begunAt, type History, hasEnded } from '../history/history.ts';
import { type Judging, unexcused } from '../history/moment.ts';
import { isQuestion } from '../history/presence/wait.ts';
import { WAIT } from '../history/presence/waits.ts';
import { after, silent } from './absence.ts';
import { type AnySignal, absentFor, absentFrom, signal, spelled } from './signal.ts';

const noCheckpointLimits = z.strictObject({ after: duration, assume_checkpoints: z.boolean().default(false) });

/** The age of the last checkpoint, or of an agent that writes checkpoints and has not written one. */
export const noCheckpoint: AnySignal = signal(noCheckpointLimits, {
  axis: 'absence',
  awaits: ['checkpoint'],
  firesFrom: (h, limits, at) => absentFrom(checkpointMark(h, limits), limits.after, at),
  evidence: (h, limits, at) => silent('no new checkpoint', absentFor(checkpointMark(h, limits), at), limits.after),
  /** The whole time, also the waits that do not count. */
  finding: (h, limits, at) =>
    `You have written no checkpoint for ${spelled(absentFor(checkpointMark(h, limits), unexcused(at)))}.`,
  advice: 'Write a checkpoint with the work done and the work left, then continue.',
});

const checkpointMark = (h: History, { assume_checkpoints }: z.output<typeof noCheckpointLimits>): number | null => {
  const { mark, reports } = h.checkpoint;
  if (mark !== null || reports) return mark ?? h.started.watched;
  return assume_checkpoints ? begunAt(h) : null;
};

/** The work item had no update and no comment. */
export const noWorkUpdate: AnySignal = signal(after, {
  axis: 'absence',
  awaits: ['work'],
  by: 'work',
  firesFrom: ({ work }, limits, at) => absentFrom(work?.touched ?? null, limits.after, at),
  evidence: ({ work }, limits, at) =>
    silent(
      `${work ? `work item ${work.id}` : 'its work item'} untouched`,
      absentFor(work?.touched ?? null, at),
      limits.after,
    ),
  finding: ({ work }, _, at) =>
    `Your work item ${work?.id ?? ''} has had no update for ${spelled(absentFor(work?.touched ?? null, at))}.`,
  advice: 'Update the work item, or report why it does not move.',
});

/** A claim is held and not refreshed. */
export const noClaimRefresh: AnySignal = signal(after, {
  axis: 'absence',
  awaits: ['claim'],
  by: 'work',
  firesFrom: ({ work }, limits, at) => absentFrom(work?.claim ?? null, limits.after, at),
  evidence: ({ work }, limits, at) => silent('claim not refreshed', absentFor(work?.claim ?? null, at), limits.after),
  finding: ({ work }, _, at) =>
    `Your claim of ${work?.id ?? 'your work item'} was last refreshed ${spelled(absentFor(work?.claim ?? null, at))} ago.`,
  advice: 'Refresh the claim if you still work on it; otherwise release it.',
});

/** The agent was last active before the work item's update, and that update is old. */
export const progressMismatch: AnySignal = signal(after, {
  axis: 'absence',
  awaits: ['activity'],
  by: 'work',
  firesFrom: (h, limits, at) => (mismatched(h) ? absentFrom(h.activity.own, limits.after, at) : NEVER),
  evidence: (h, limits, at) => {
    if (!mismatched(h))
      return { value: null, limit: limits.after, words: 'no work update later than its last activity', hard: false };
    const what = `work item ${h.work?.id ?? ''} updated after its last activity, inactive`;
    return silent(what, absentFor(h.activity.own, at), limits.after);
  },
  finding: ({ activity, work }, _, at) =>
    `Your work item ${work?.id ?? ''} was updated after your last activity, ${spelled(absentFor(activity.own, at))} ago.`,
  advice: 'Continue with the next step of your task. If you wait for something, name it.',
});

const mismatched = ({ activity: { own }, work }: History): boolean =>
  own !== null && work !== null && work.dated !== null && own < work.dated;

const noCompletionLimits = z.strictObject({
  after: duration,
  /** its patterns in the output, which runtimes search and report */
  signal: patternInAnyCase.prefault('<promise>COMPLETE</promise>'),
});

/** A result was reported without a completion signal. Idling does not exempt it, because idling is the fault. */
export const noCompletion: AnySignal = signal(noCompletionLimits, {
  axis: 'absence',
  awaits: ['completion'],
  by: 'output',
  notSuspendedBy: () => ['idle'],
  firesFrom: ({ output }, limits, at) => absentFrom(output.uncompleted, limits.after, at),
  evidence: ({ output }, limits, at) => {
    const value = absentFor(output.uncompleted, at);
    if (value === null) return { value, limit: limits.after, words: 'no completion signal awaited', hard: false };
    return silent('result reported, no completion signal', value, limits.after);
  },
  finding: ({ output }, _, at) =>
    `You reported a result ${spelled(absentFor(output.uncompleted, at))} ago, and no completion signal has followed.`,
  advice: 'Give the completion signal if the task is complete; otherwise continue.',
});

const notStartedLimits = z.strictObject({
  after: duration,
  /** whether it counts at an idle prompt, too; a question that a person can answer always excuses */
  at_prompt: z.boolean().default(false),
  /** whether only a call, use of tokens, output, a step or a checkpoint is a start; otherwise a report of work is one, too */
  needs_evidence: z.boolean().default(false),
});
type NotStartedLimits = z.output<typeof notStartedLimits>;

/** The mark at which the agent got the task that it has not begun; null: it has begun, or holds none. */
const heldSince = (h: History, { needs_evidence }: NotStartedLimits): number | null =>
  h.notStarted === null || hasEnded(h) || (!needs_evidence && claimsStart(h, h.notStarted)) ? null : h.notStarted;

/** The time of a judgement that leaves out questions, too. */
const held = ({ at_prompt }: NotStartedLimits, at: Judging): Judging =>
  at_prompt ? { ...at, kinds: at.kinds | WAIT.question } : at;

const AT_WORK = ['working', 'handing_off', 'finished'] as const;

/** Whether the agent has reported since `mark` that it works, or a change of its phase or indicator. */
const claimsStart = ({ activity, progress, started }: History, mark: number): boolean => {
  if (AT_WORK.some((one) => activity.value === one || (activity.left[one] ?? -1) > mark)) return true;
  const changed = progress.at - progress.lag;
  return changed > mark || (changed === mark && mark > started.watched);
};

/** A task is held and not begun. Idling does not exempt it, because idling is the fault. */
export const notStarted: AnySignal = signal(notStartedLimits, {
  axis: 'absence',
  awaits: ['call', 'tokens', 'change'],
  by: 'notStarted',
  notSuspendedBy: ({ at_prompt }) => (at_prompt ? ['idle', 'awaiting_input'] : ['idle']),
  firesFrom: (h, limits, at) => {
    const isAsking = limits.at_prompt && h.wait !== null && isQuestion(h.wait);
    return isAsking ? NEVER : absentFrom(heldSince(h, limits), limits.after, held(limits, at));
  },
  evidence: (h, limits, at) => {
    const { identity } = h;
    const value = absentFor(heldSince(h, limits), held(limits, at));
    if (value === null) return { value, limit: limits.after, words: 'no task held that it has not begun', hard: false };
    const words = `task ${identity.taskId ?? ''} held and nothing begun for ${spell(value)}; limit ${spell(limits.after)}`;
    return { value, limit: limits.after, isDuration: true, words, hard: false };
  },
  finding: ({ notStarted, identity }, limits, at) =>
    `You hold the task ${identity.taskId ?? ''} and have begun nothing of it for ${spelled(absentFor(notStarted, held(limits, at)))}.`,
  advice: 'Begin with its first step, or report what prevents it.',
});
