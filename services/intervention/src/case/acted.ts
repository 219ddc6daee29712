import type { Open } from './open.ts';
import { actsAt, type Ruling } from './ruling.ts';
import { type CaseDraft, type CaseState, inCase, unknownLife } from './state.ts';
import { pausedUntil } from './steps/pause.ts';
import { receiptDue } from './steps/terminate.ts';

type Said<K extends CaseDraft['type']> = Extract<CaseDraft, { readonly type: K }>;
type AnyOrder = Said<
  | 'NUDGE_AGENT'
  | 'TERMINATE_AGENT'
  | 'PROBE_AGENT'
  | 'HANDOFF_AGENT'
  | 'PAUSE_AGENT'
  | 'RESUME_AGENT'
  | 'INTERRUPT_AGENT'
  | 'RESUME_SESSION'
>;

export const ordered = (state: CaseState, { type, payload }: AnyOrder, ruling: Ruling | null): CaseState => {
  const { instanceId, number, orderId } = payload;
  const unknown = { ...unknownLife, instanceId, runtimeId: payload.runtimeId || null };
  const numbered = { ...state, life: { ...(state.life ?? unknown), number } };
  const acted = inCase(numbered, (open) => {
    const acting = { ...open, dryRun: false };
    switch (type) {
      case 'TERMINATE_AGENT':
        return underWay(acting, orderId, ruling);
      case 'PROBE_AGENT':
        return nudged(acting, orderId, ruling);
      case 'INTERRUPT_AGENT':
      case 'RESUME_SESSION':
        return once(acting, orderId, ruling);
      case 'NUDGE_AGENT':
      case 'HANDOFF_AGENT':
      case 'PAUSE_AGENT':
      case 'RESUME_AGENT':
        return acting;
    }
  });
  return type === 'RESUME_SESSION' ? sessionResumed(acted) : acted;
};

const once = (open: Open, orderId: string, ruling: Ruling | null): Open => {
  const { attempt, ...acted } = attempted(open, ruling);
  const order = { orderId, isUndone: false, resumedBefore: open.resumedAt };
  return { ...acted, attempt: { ...attempt, order } };
};

/** The instance lives on, so a later case of it knows of the resume. */
const sessionResumed = (state: CaseState): CaseState => {
  const { life, situation } = state;
  if (life === null || situation.at !== 'open') return state;
  const resumedAt = situation.open.attempt.lastAt;
  return { ...inCase(state, (open) => ({ ...open, resumedAt })), life: { ...life, resumedAt } };
};

/** A pause is a back-off of this life, so the next one knows of it; the step's own waits run from its end. */
export const paused = (state: CaseState, until: number, ruling: Ruling | null): CaseState => {
  const { life, situation } = state;
  if (situation.at !== 'open' || life === null) return state;
  const { open } = situation;
  const step = open.matter.steps[open.index];
  const at = actsAt(open.work, ruling) ?? 0;
  const pauses = step?.step === 'pause' ? pausedUntil(life, open, step.backoffMs, at) : life.pauses;
  const attempt = { ...open.attempt, sent: open.attempt.sent + 1, lastAt: until };
  const held: Open = { ...open, work: { at: 'turn' }, attempt, paused: { until } };
  return { ...state, life: { ...life, pauses }, situation: { at: 'open', open: held } };
};

const underWay = (open: Open, orderId: string, ruling: Ruling | null): Open => {
  const step = open.matter.steps[open.index];
  const at = actsAt(open.work, ruling);
  if (step?.step !== 'terminate' || at === null) return open;
  const until = receiptDue(step, at);
  return { ...open, work: { at: 'terminating', orderId, until, receipt: null, ended: null } };
};

/** The current step has acted once more; its waits run from then. */
export const attempted = (open: Open, ruling: Ruling | null): Open => ({
  ...open,
  work: { at: 'turn' },
  attempt: {
    ...open.attempt,
    sent: open.attempt.sent + 1,
    lastAt: actsAt(open.work, ruling) ?? open.attempt.lastAt,
  },
});

/** How long after its time to live a busy runtime may still report what became of a text, milliseconds. */
const RECEIPT_MS = 120_000;

/** How long the order of the current step's next text lasts, milliseconds. */
const ttlOf = ({ matter, index, attempt }: Open): number => {
  const step = matter.steps[index];
  if (step?.step === 'nudge') return step.intervalMs;
  return step?.step === 'interrogate' ? (step.waitsMs[attempt.sent] ?? 0) : 0;
};

/** One more text is out. */
export const nudged = (open: Open, orderId: string, ruling: Ruling | null): Open => {
  const acted = attempted(open, ruling);
  const receiptUntil = acted.attempt.lastAt + ttlOf(open) + RECEIPT_MS;
  return { ...acted, nudges: [...open.nudges, { orderId, outcome: 'open', receiptUntil }] };
};
