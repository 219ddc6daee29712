import type { Draft, Topic } from '@vigil/events';
import type { ActiveCase } from '../active-case.ts';
import { actsAt, type Ruling } from '../ruling.ts';
import { type CaseState, inCase, unknownInstance } from '../state.ts';
import { pausedUntil } from './pause.ts';
import { receiptDue } from './terminate.ts';

/** An order that a step gives. */
type StepOrder = Exclude<Draft<typeof Topic.agentOrder>, { readonly type: 'SPAWN_AGENT' | 'RESET_BREAKER' }>;

export const ordered = (state: CaseState, { type, payload }: StepOrder, ruling: Ruling | null): CaseState => {
  const { instanceId, number, orderId } = payload;
  const unknown = { ...unknownInstance, instanceId, runtimeId: payload.runtimeId || null };
  const numbered = { ...state, instance: { ...(state.instance ?? unknown), number } };
  const acted = inCase(numbered, (activeCase) => {
    const acting = { ...activeCase, dryRun: false };
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

const once = (activeCase: ActiveCase, orderId: string, ruling: Ruling | null): ActiveCase => {
  const { attempt, ...acted } = attempted(activeCase, ruling);
  const order = { orderId, isUndone: false, resumedBefore: activeCase.resumedAt };
  return { ...acted, attempt: { ...attempt, order } };
};

/** The instance continues, so a later case of it reads when it was resumed. */
const sessionResumed = (state: CaseState): CaseState => {
  const { instance, situation } = state;
  if (instance === null || situation.kind !== 'open') return state;
  const resumedAt = situation.activeCase.attempt.lastAt;
  return { ...inCase(state, (activeCase) => ({ ...activeCase, resumedAt })), instance: { ...instance, resumedAt } };
};

/** A pause is a back-off of this instance, so the next one is longer; the step's own waits run from its end. */
export const paused = (state: CaseState, until: number, ruling: Ruling | null): CaseState => {
  const { instance, situation } = state;
  if (situation.kind !== 'open' || instance === null) return state;
  const { activeCase } = situation;
  const step = activeCase.caseContext.steps[activeCase.index];
  const at = actsAt(activeCase.stepState, ruling) ?? 0;
  const pauses = step?.step === 'pause' ? pausedUntil(instance, activeCase, step.backoffMs, at) : instance.pauses;
  const attempt = { ...activeCase.attempt, sent: activeCase.attempt.sent + 1, lastAt: until };
  const held: ActiveCase = { ...activeCase, stepState: { kind: 'turn' }, attempt, paused: { until } };
  return { ...state, instance: { ...instance, pauses }, situation: { kind: 'open', activeCase: held } };
};

/** A terminate is out: from now on only its receipt moves the case. */
const underWay = (activeCase: ActiveCase, orderId: string, ruling: Ruling | null): ActiveCase => {
  const step = activeCase.caseContext.steps[activeCase.index];
  const at = actsAt(activeCase.stepState, ruling);
  if (step?.step !== 'terminate' || at === null) return activeCase;
  const until = receiptDue(step, at);
  return { ...activeCase, stepState: { kind: 'terminating', orderId, until, receipt: null, ended: null } };
};

/** The current step has acted once more; its waits run from then. */
export const attempted = (activeCase: ActiveCase, ruling: Ruling | null): ActiveCase => ({
  ...activeCase,
  stepState: { kind: 'turn' },
  attempt: {
    ...activeCase.attempt,
    sent: activeCase.attempt.sent + 1,
    lastAt: actsAt(activeCase.stepState, ruling) ?? activeCase.attempt.lastAt,
  },
});

/** How long after its time to live a busy runtime may still report what became of a text, milliseconds. */
const RECEIPT_MS = 120_000;

/** How long the order of the current step's next text lasts, milliseconds. */
const ttlOf = ({ caseContext, index, attempt }: ActiveCase): number => {
  const step = caseContext.steps[index];
  if (step?.step === 'nudge') return step.intervalMs;
  return step?.step === 'interrogate' ? (step.waitsMs[attempt.sent] ?? 0) : 0;
};

/** One more text is out. */
export const nudged = (activeCase: ActiveCase, orderId: string, ruling: Ruling | null): ActiveCase => {
  const acted = attempted(activeCase, ruling);
  const receiptUntil = acted.attempt.lastAt + ttlOf(activeCase) + RECEIPT_MS;
  return { ...acted, nudges: [...activeCase.nudges, { orderId, outcome: 'open', receiptUntil }] };
};
