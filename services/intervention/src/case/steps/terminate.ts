import type { ActiveCase } from '../active-case.ts';
import { order } from '../drafts.ts';
import { act, type RulesOf, type StepDecision, type StepOf, unreachable } from './step.ts';

type Terminate = StepOf<'terminate'>;

/** How long a terminate may reach its runtime, milliseconds. */
const TTL_MS = 60_000;
/**
 * What a runtime takes at most beside grace and clean-up, rounded up. It takes 5 s from SIGTERM to SIGKILL and 5 s after that.
 * It takes 15 s more for what the agent left running, 3 s for its last heartbeats and its policy, and 30 s for what it releases.
 */
const ENDING_MS = 60_000;

/** Until when a receipt is due for a terminate ordered at `at`. */
export const receiptDue = (step: Terminate, at: number): number =>
  at + TTL_MS + step.graceMs + ENDING_MS + step.cleanupMs;

/** The number of pieces of evidence with one of these confidences. */
const confident = ({ confidences = [] }: ActiveCase['caseContext'], wanted: readonly string[]): number =>
  confidences.filter((confidence) => wanted.includes(confidence)).length;

const met: Readonly<Record<Terminate['requires'][number], (activeCase: ActiveCase) => boolean>> = {
  hard: ({ caseContext }) => caseContext.hard,
  high: ({ caseContext }) => confident(caseContext, ['high']) >= 1,
  two_medium: ({ caseContext }) => confident(caseContext, ['high', 'medium']) >= 2,
  two_axes: ({ caseContext }) => new Set(caseContext.axes).size >= 2,
  unanswered: ({ nudges, escalated, answered }) =>
    !answered && (nudges.length > 0 || escalated) && nudges.every(({ outcome }) => outcome !== 'open'),
};

/** Until when a missing receipt may still show that a text was not answered; null: no receipt can change that. */
const receiptsUntil = ({ nudges, answered }: ActiveCase): number | null => {
  const out = nudges.filter(({ outcome }) => outcome === 'open');
  return answered || out.length === 0 ? null : Math.min(...out.map(({ receiptUntil }) => receiptUntil ?? 0));
};

const decideStep = (step: Terminate, activeCase: ActiveCase, now: number): StepDecision => {
  if (activeCase.death)
    return { kind: 'skip', why: 'no_instance', detail: 'the instance has ended already', leads: 'next' };
  const barred = unreachable(activeCase.caseContext);
  if (barred) return { kind: 'skip', ...barred, leads: 'people' };
  if (step.requires.length === 0 || step.requires.some((name) => met[name](activeCase))) return act;
  const until = step.requires.includes('unanswered') ? receiptsUntil(activeCase) : null;
  if (until !== null && now < until) return { kind: 'wait', until };
  const detail = `the policy ends an agent only where one of these holds: ${step.requires.join(', ')}; none does`;
  return { kind: 'skip', why: 'requires', detail, leads: 'people' };
};

/** The only step that cannot be taken back. After its order only its receipt moves the case. */
export const terminate: RulesOf<'terminate'> = {
  ruling: 'destructive',
  decideStep,
  act: ({ graceMs, cleanupMs, leave, release }, { caseContext }, { number }) => {
    const how = { graceMs, cleanupMs, leave, release, restart: caseContext.restarts === true };
    const payload = { ttlMs: TTL_MS, reason: caseContext.reason, ...how };
    return [order(caseContext, number, 'TERMINATE_AGENT', payload)];
  },
};
