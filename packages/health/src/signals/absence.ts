import { duration, spell } from '@vigil/policy';
import { z } from 'zod';
import type { History } from '../history/history.ts';
import { type AnySignal, absentFor, absentFrom, type Figure, signal, spelled } from './signal.ts';

export const after: z.ZodObject<{ after: typeof duration }> = z.strictObject({ after: duration });

/** The heartbeat timeout. */
export const noHeartbeat: AnySignal = signal(after, {
  axis: 'absence',
  awaits: ['heartbeat'],
  firesFrom: (h, limits, at) => absentFrom(h.lastReceipt.watched, limits.after, at),
  evidence: (h, limits, at) => silent('nothing received', absentFor(h.lastReceipt.watched, at), limits.after),
  finding: (h, _, at) => `Nothing was received from you for ${spelled(absentFor(h.lastReceipt.watched, at))}.`,
  advice: 'Report what you do, or write a checkpoint.',
});

/** No call, no output and no heartbeat of the agent's own. */
export const noActivity: AnySignal = signal(after, {
  axis: 'absence',
  awaits: ['activity'],
  resetOnCallEnd: true,
  firesFrom: (h, limits, at) => absentFrom(h.activity.own, limits.after, at),
  evidence: (h, limits, at) =>
    silent('no call, no output, no heartbeat of its own', absentFor(h.activity.own, at), limits.after),
  finding: (h, _, at) =>
    `You have shown no sign of work for ${spelled(absentFor(h.activity.own, at))}${sinceOf(h, h.activity.own)}.`,
  advice: 'Continue with the next step of your task. If you wait for something, name it.',
});

/** No output on the terminal. */
export const noOutput: AnySignal = signal(after, {
  axis: 'absence',
  awaits: ['output'],
  by: 'output',
  resetOnCallEnd: true,
  firesFrom: ({ output }, limits, at) => absentFrom(output.last, limits.after, at),
  evidence: ({ output }, limits, at) => silent('no output', absentFor(output.last, at), limits.after),
  finding: ({ output }, _, at) => `Nothing has appeared on your terminal for ${spelled(absentFor(output.last, at))}.`,
  advice: 'Continue with the next step of your task. If you wait for something, name it.',
});

const noTokensLimits = z.strictObject({
  after: duration,
  /** whether a reported count of 0 that never moves counts as a lack of use; otherwise it is unknown */
  from_zero: z.boolean().default(false),
});
type NoTokensLimits = z.output<typeof noTokensLimits>;

/** No use of tokens while the agent works. */
export const noTokens: AnySignal = signal(noTokensLimits, {
  axis: 'absence',
  awaits: ['tokens'],
  resetOnCallEnd: true,
  firesFrom: (h, limits, at) => absentFrom(usedWorking(h, limits), limits.after, at),
  evidence: (h, limits, at) =>
    silent('no token used', absentFor(usedWorking(h, limits), at), limits.after, '', unmeasuredTokens(h)),
  finding: (h, limits, at) => `You have used no tokens for ${spelled(absentFor(usedWorking(h, limits), at))}.`,
  advice: 'Continue with the next step of your task. If you wait for something, name it.',
});

/**
 * The mark of the last use while the agent works: since it reported the activity working or, without reported
 * activities, while it has a task.
 */
const usedWorking = (
  { activity: { value, since, lag }, identity, lastReceipt, tokens, started }: History,
  { from_zero }: NoTokensLimits,
): number | null => {
  const isZero = tokens.count <= 0;
  if (!tokens.known || (isZero && !(from_zero && tokens.counted))) return null;
  const last = isZero ? started.watched : (tokens.unusedSince ?? lastReceipt.watched);
  if (value === null) return identity.taskId === null ? null : last;
  return value === 'working' ? Math.max(last, since - lag) : null;
};

const unmeasuredTokens = ({ activity, tokens }: History): string => {
  if (tokens.count <= 0 || !tokens.known) return 'no use of tokens reported, so not measured';
  return activity.value === null ? 'measured only while it has a task' : 'measured only while it works';
};

const noStepLimits = z.strictObject({
  after: duration,
  /** whether it fires when the limit is reached (a stall of an escalation ticket), not only beyond it */
  inclusive: z.boolean().default(false),
});

/** The count of steps does not change. */
export const noStep: AnySignal = signal(noStepLimits, {
  axis: 'absence',
  awaits: ['step'],
  by: 'steps',
  resetOnCallEnd: true,
  firesFrom: ({ steps }, limits, at) => absentFrom(steps.changed, limits.after - (limits.inclusive ? 1 : 0), at),
  evidence: ({ steps }, limits, at) => silent('no step', absentFor(steps.changed, at), limits.after),
  finding: ({ steps }, _, at) => `You have completed no step for ${spelled(absentFor(steps.changed, at))}.`,
  advice: 'Complete the next step, or report what prevents it.',
});

/** Names the call before a silence, if a call was the last sign. */
export const sinceOf = ({ calls }: History, mark: number | null): string =>
  mark !== null && calls.last === mark && calls.lastTool !== null ? `, since your call of ${calls.lastTool}` : '';

/** `unknown`: why it is not measured if `value` is null. */
export const silent = (
  what: string,
  value: number | null,
  limit: number,
  more = '',
  unknown = 'never reported, so not measured',
): Figure => {
  if (value === null) return { value, limit, words: `${what}: ${unknown}`, hard: false };
  return {
    value,
    limit,
    isDuration: true,
    words: `${what} for ${spell(value)}${more}; limit ${spell(limit)}`,
    hard: false,
  };
};
