import type { Step } from '@vigil/policy';
import { about, fill, order, orderHead, orderId, say } from '../drafts.ts';
import type { Open } from '../open.ts';
import type { CaseDraft, Life } from '../state.ts';
import { act, handless, type StepRules, type Turn } from './step.ts';

type Pause = Extract<Step, { readonly step: 'pause' }>;

/** Stopping and starting reach a runtime within this, or not at all. */
const pauseTtlMs = 60_000;
/** A resume must not be lost: whatever was paused is set going again. */
const resumeTtlMs = 3_600_000;
/** Twice as long each time, up to so many times the first. */
const mostBackoffs = 16;

/** The next of several pauses in a row: another of the same case, however late it is ruled, or one that begins within its predecessor's length of its end. */
export const pausedUntil = ({ pauses }: Life, { attempt }: Open, backoffMs: number, at: number): Paused => {
  const inARow = pauses !== null && (attempt.sent > 0 || at <= pauses.until + lengthOf(backoffMs, pauses.times));
  const times = inARow ? pauses.times + 1 : 1;
  return { times, until: at + lengthOf(backoffMs, times) };
};

type Paused = { readonly times: number; readonly until: number };

const lengthOf = (backoffMs: number, times: number): number => backoffMs * Math.min(2 ** (times - 1), mostBackoffs);

/** Paused, it waits; resumed, it has as long as a first pause to show that it goes on; a last step then begins anew. */
const turn = ({ backoffMs }: Pause, { matter, attempt, paused, index }: Open, now: number): Turn => {
  if (paused) return { want: 'wait', until: paused.until };
  const barred = handless(matter);
  if (barred) return { want: 'skip', ...barred, leads: 'next' };
  if (attempt.sent === 0) return act;
  const until = attempt.lastAt + backoffMs;
  if (now < until) return { want: 'wait', until };
  return index + 1 < matter.steps.length ? { want: 'next' } : act;
};

/** Held between calls, and set going again after a growing back-off: neither a failure nor an attempt. */
export const pause: StepRules<Pause> = {
  ruling: 'soft',
  turn,
  act: ({ backoffMs }, open, { at, number, life }) => {
    const { matter } = open;
    const { until } = pausedUntil(life, open, backoffMs, at);
    return [
      order(matter, {
        type: 'PAUSE_AGENT',
        payload: { ...orderHead(matter, number), ttlMs: pauseTtlMs, forMs: until - at },
      }),
      say(matter, { type: 'AGENT_PAUSED', payload: { ...about(matter), until, orderId: orderId(matter, number) } }),
    ];
  },
};

/** Needs no ruling: it only takes back what was done. */
export const resumed = ({ matter }: Open, number: number): readonly CaseDraft[] => {
  const paused = matter.steps.find((step): step is Pause => step.step === 'pause');
  const message = paused ? fill(paused.message, matter) : null;
  return [
    order(matter, { type: 'RESUME_AGENT', payload: { ...orderHead(matter, number), ttlMs: resumeTtlMs, message } }),
    say(matter, { type: 'AGENT_RESUMED', payload: { ...about(matter), orderId: orderId(matter, number) } }),
  ];
};
