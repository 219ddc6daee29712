import { spell } from '@vigil/policy';
import type { ActiveCase } from '../active-case.ts';
import type { CaseContext } from '../case-context.ts';
import { fill, order } from '../drafts.ts';
import { act, type RulesOf, type StepDecision, type StepOf, unreachable } from './step.ts';

/** These steps concern only agents whose client is known. */
const isUnconcerned = ({ caseContext: { client }, death }: ActiveCase): boolean => death !== null || client == null;

/** The step is over when its time is, or its runtime could not do it. */
const waited = ({ attempt }: ActiveCase, waitMs: number, now: number): StepDecision => {
  const until = attempt.lastAt + waitMs;
  return attempt.order?.isUndone || now >= until ? { kind: 'next' } : { kind: 'wait', until };
};

const barredBy = (caseContext: CaseContext): StepDecision | null => {
  const barred = unreachable(caseContext);
  return barred && { kind: 'skip', ...barred, leads: 'next' };
};

/** Ends the turn of a coding agent that hangs, without ending the agent. */
export const interrupt: RulesOf<'interrupt'> = {
  ruling: 'soft',
  decideStep: ({ waitMs }, activeCase, now) => {
    if (isUnconcerned(activeCase)) return { kind: 'next' };
    const barred = barredBy(activeCase.caseContext);
    if (barred) return barred;
    return activeCase.attempt.sent === 0 ? act : waited(activeCase, waitMs, now);
  },
  act: ({ waitMs, message }, { caseContext }, { number }) => [
    order(caseContext, number, 'INTERRUPT_AGENT', { ttlMs: waitMs, message: fill(message, caseContext) }),
  ],
};

/** How long the order to resume may reach its runtime, milliseconds. */
const TTL_MS = 60_000;

/** A session that hangs again soon after it was resumed is not resumed again: the plan continues and ends it. */
const skipped = (
  { againAfterMs }: StepOf<'resume'>,
  { caseContext, resumedAt, openedAt }: ActiveCase,
  now: number,
): StepDecision | null => {
  const barred = barredBy(caseContext);
  if (barred) return barred;
  if (caseContext.client?.session_id == null)
    return { kind: 'skip', why: 'no_session', detail: 'its client has not reported a session', leads: 'next' };
  if (resumedAt == null || now >= resumedAt + againAfterMs) return null;
  const ago = spell(Math.max(openedAt, now) - resumedAt);
  const detail = `its session was resumed ${ago} ago, and the policy waits ${spell(againAfterMs)} before it does so again`;
  return { kind: 'skip', why: 'requires', detail, leads: 'next' };
};

/** Ends the processes of a coding agent and starts the same session again. It ends a process, so it is ruled like a terminate. */
export const resume: RulesOf<'resume'> = {
  ruling: 'destructive',
  decideStep: (step, activeCase, now) => {
    if (isUnconcerned(activeCase)) return { kind: 'next' };
    if (activeCase.attempt.sent === 0) return skipped(step, activeCase, now) ?? act;
    return waited(activeCase, step.waitMs, now);
  },
  act: ({ graceMs, message }, { caseContext }, { number }) => [
    order(caseContext, number, 'RESUME_SESSION', { ttlMs: TTL_MS, graceMs, message: fill(message, caseContext) }),
  ],
};
