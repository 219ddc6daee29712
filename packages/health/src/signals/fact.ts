import { duration, patternInAnyCase, spell } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { z } from 'zod';
import { AGENT_BREAKERS, type Breakers, trippedAt } from '../history/calls/breakers.ts';
import { limitedUntil } from '../history/calls/rate-limits.ts';
import type { End, Exit, History } from '../history/history.ts';
import { contradictionsIn } from '../history/progress/proof.ts';
import { RATE_LIMIT_PATTERNS } from './patterns.ts';
import { type AnySignal, fact, signal, spelled } from './signal.ts';

const rateLimitLimits = z.strictObject({
  for: duration.default(60_000),
  patterns: z.array(patternInAnyCase).prefault(RATE_LIMIT_PATTERNS.map(({ source }) => source)),
});

/** The agent reports a rate limit, or its reports contain the text of one. Ends when the limit is over. */
export const rateLimitedSignal: AnySignal = signal(rateLimitLimits, {
  axis: 'fact',
  awaits: [],
  by: 'rateLimit',
  patterns: ({ patterns }) => patterns,
  endsAt: ({ rateLimit }, limits) => (rateLimit ? limitedUntil(rateLimit, limits.for) : NEVER),
  firesFrom: ({ rateLimit }, limits, { now }) =>
    rateLimit && limitedUntil(rateLimit, limits.for) > now ? rateLimit.at : NEVER,
  evidence: ({ rateLimit }, limits, { now }) => {
    const left = rateLimit ? limitedUntil(rateLimit, limits.for) - now : 0;
    return left > 0 ? fact(`rate-limited for another ${spell(left)}`, true) : fact('no rate limit reported', false);
  },
  finding: ({ rateLimit }, limits, { now }) =>
    `A rate limit holds for another ${spelled(rateLimit && limitedUntil(rateLimit, limits.for) - now)}.`,
  advice: 'Wait until it is over, then continue with your task.',
});

export const selfReportedStuck: AnySignal = signal(z.strictObject({}), {
  axis: 'fact',
  awaits: [],
  firesFrom: ({ activity }) => (activity.value === 'stuck' ? activity.since : NEVER),
  evidence: ({ activity }) =>
    activity.value === 'stuck'
      ? fact('it reports that it is stuck', true)
      : fact('it does not report that it is stuck', false),
  finding: () => 'You have reported that you are stuck.',
  advice: 'State what you need. Write a checkpoint, or ask for a handoff.',
});

/** The agent or its client reports that it cannot continue because of an error that does not pass by itself. */
export const blocked: AnySignal = signal(z.strictObject({}), {
  axis: 'fact',
  awaits: [],
  by: 'blocked',
  firesFrom: ({ blocked: b }) => b?.at ?? NEVER,
  evidence: ({ blocked: b }) => {
    if (b === null) return fact('it does not report that it is blocked', false);
    const error = b.errorClass === null ? '' : ` by the error ${b.errorClass}`;
    return fact(
      b.byClient ? `its last turn failed, blocked${error}` : `it reports that it is blocked${error}`,
      b.byClient,
    );
  },
  finding: ({ blocked: b }) =>
    `Your last request failed with the error ${b?.errorClass ?? 'unknown'}, which does not pass by itself.`,
  advice: 'Change what makes the request fail, or report what blocks you.',
});

/**
 * A breaker is open, by the caller's report or else by the outcomes of its calls. A half-open breaker is in trial, and
 * not open.
 */
export const breakerOpen: AnySignal = signal(z.strictObject({}), {
  axis: 'fact',
  awaits: [],
  by: 'breakers',
  firesFrom: ({ breakers }, _, { now }) =>
    openOnes(breakers, now).reduce((first, { at }) => Math.min(first, at), NEVER),
  evidence: ({ breakers }, _, { now }) => {
    const open = openOnes(breakers, now);
    const next = (at: number | null) => (at === null ? '' : `, next attempt in ${spell(Math.max(0, at - now))}`);
    const words = open.map(
      ({ name, failures, nextAttemptAt }) =>
        `breaker ${name} is open after ${failures} failures in a row${next(nextAttemptAt)}`,
    );
    const failures = open[0]?.failures ?? null;
    return { ...fact(words.length > 0 ? words.join('; ') : 'no breaker is open', words.length > 0), value: failures };
  },
  finding: ({ breakers }, _, { now }) => {
    const names = openOnes(breakers, now).map(({ name }) => name);
    return `Calls have failed so often that a breaker is open (${names.join(', ')}).`;
  },
  advice: 'Wait for its next trial, or try another way.',
});

const openOnes = (breakers: Breakers, now: number) =>
  AGENT_BREAKERS.flatMap((name) => {
    const tripped = trippedAt(breakers, name, now);
    return tripped?.state === 'OPEN' ? [{ name, ...tripped }] : [];
  });

/** Describes the end for people. */
export const describeEnd = ({ reason, orderId, exit }: End): string => {
  if (reason === 'explicit') return orderId !== null ? 'ended: as ordered' : 'ended: on request';
  const how = reason === 'crashed' && exit ? exitWords(exit) : '';
  return `ended: ${reason.replaceAll('_', ' ')}${how}${orderId !== null ? ', as ordered' : ''}`;
};

const exitWords = ({ code, signal }: Exit): string => {
  if (signal !== null) return ` by ${signal}`;
  return code === null ? '' : ` with exit code ${code}`;
};

const reasons = z.array(z.enum(['finished', 'explicit', 'crashed', 'resource_limit', 'lost'])).min(1);

/** The end was reported, with one of `reasons`. An end that Vigil ordered is explicit, with any exit code. */
export const exited: AnySignal = signal(z.strictObject({ reasons }), {
  axis: 'fact',
  awaits: [],
  by: 'end',
  appliesAfterExit: true,
  firesFrom: ({ end }, limits) => {
    if (!end) return NEVER;
    const reason = end.orderId !== null ? 'explicit' : end.reason;
    return limits.reasons.some((r) => r === reason) ? end.at : NEVER;
  },
  evidence: ({ end }) => (end ? fact(describeEnd(end), true) : fact('its end has not been reported', false)),
  finding: ({ end }) => `Your session has ${end ? describeEnd(end) : 'not ended'}.`,
  advice: 'Continue from the last checkpoint.',
});

const completionLimits = z.strictObject({
  /** whether a change without a later check that passes is a false completion too */
  needs_check: z.boolean().default(false),
  /** whether the hook that ends a turn asks the agent, once a turn, for what is missing */
  ask_at_stop: z.boolean().default(false),
});

/**
 * The agent is reported as finished, and its last checkpoint or its calls contradict it (docs/proof-of-done.md). Only
 * the checkpoint is hard evidence: which calls are checks and changes is an estimate.
 */
export const falseCompletion: AnySignal = signal(completionLimits, {
  axis: 'fact',
  awaits: [],
  reevaluateEveryHeartbeat: true,
  appliesAfterExit: true,
  firesFrom: (h, limits) => {
    const at = finishedAt(h);
    return at !== null && missing(h, limits).length > 0 ? at : NEVER;
  },
  evidence: (h, limits) => {
    const [hard, value] = [h.checkpoint.remaining > 0, h.checkpoint.remaining];
    const words = finishedAt(h) === null ? [] : missing(h, limits).map(({ evidence }) => evidence);
    if (words.length === 0) return { ...fact('it has not finished with work left', false), value };
    return { ...fact(`finished, and ${words.join('; ')}`, hard), value };
  },
  finding: (h, limits) => {
    const words = missing(h, limits).map(({ finding }) => finding);
    return `You have reported that you are finished, and ${words.join('; ')}.`;
  },
  advice: 'Finish what is left and check it, or write a checkpoint that no longer names it.',
});

type Missing = { readonly evidence: string; readonly finding: string };

/** What contradicts a completion, for people and for the agent. */
const missing = (
  { checkpoint, proof, calls, turn, identity }: History,
  { needs_check }: z.output<typeof completionLimits>,
): readonly Missing[] => {
  const left = checkpoint.remaining;
  const pieces = `${left} ${left === 1 ? 'piece' : 'pieces'} of work`;
  const all: Missing[] = [];
  if (left > 0)
    all.push({
      evidence: `its last checkpoint leaves ${pieces}`,
      finding: `your last checkpoint leaves work (${left})`,
    });
  for (const words of contradictionsIn(proof, { needsCheck: needs_check, hasOthers: left > 0 }))
    all.push({ evidence: words('its'), finding: words('your') });
  // Without reported turns, calls may be made that nothing reports.
  if (turn !== null && identity.taskId !== null && calls.last === null)
    all.push({ evidence: 'it made no call', finding: 'you have made no call' });
  return all;
};

const finishedAt = ({ activity, end }: History): number | null => {
  if (end) return end.reason === 'finished' && end.orderId === null ? end.at : null;
  return activity.value === 'finished' ? activity.since : null;
};

const figure = (n: number): string => String(Math.round(n * 100) / 100);

/** A limit is exceeded, and the agent is alive. Ends when the same limit is reported as kept. */
export const resourceLimit: AnySignal = signal(z.strictObject({}), {
  axis: 'fact',
  awaits: [],
  by: 'limits',
  firesFrom: ({ limits }) => limits.reduce((first, { at }) => Math.min(first, at), NEVER),
  evidence: ({ limits }) => {
    const [worst] = limits.toSorted((a, b) => b.used / b.max - a.used / a.max);
    if (!worst) return { value: null, limit: null, words: 'no exceeded limit reported', hard: false };
    const words = limits.map(({ name, used, max }) => `${name} ${figure(used)} of ${figure(max)}`).join(', ');
    return { value: worst.used, limit: worst.max, words: `limit exceeded: ${words}`, hard: true };
  },
  finding: ({ limits }) => `You have exceeded a limit (${limits.map(({ name }) => name).join(', ')}).`,
  advice: 'Free what you do not need, work in smaller steps, or ask for a handoff.',
});
