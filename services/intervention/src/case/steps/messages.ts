import { contentHash } from '@vigil/policy';
import type { ActiveCase } from '../active-case.ts';
import { caseEvent, fill, findingAt, order, orderId } from '../drafts.ts';
import { act, type RulesOf, type StepOf, textTtl, unreachable, waitForText } from './step.ts';

/** An answer ends the nudging. The first of an episode starts all waits of the step again; after another one, the rest of them continues. */
const waitsUntil = (step: StepOf<'nudge'>, { attempt, answered, answers: { restartedAt } }: ActiveCase): number => {
  if (!answered) return attempt.lastAt + step.intervalMs;
  return restartedAt !== null && restartedAt >= attempt.lastAt
    ? restartedAt + step.intervalMs * step.attempts
    : attempt.lastAt + step.intervalMs * (step.attempts - attempt.sent + 1);
};

/** One order and one NUDGE_SENT an attempt; the waits run from it. */
export const nudge: RulesOf<'nudge'> = {
  ruling: 'soft',
  decideStep: (step, activeCase, now) => {
    const { attempt, answered } = activeCase;
    if (attempt.sent === 0) return answered ? { kind: 'next' } : act;
    const until = waitsUntil(step, activeCase);
    if (answered || attempt.sent >= step.attempts) return waitForText(activeCase, until, now);
    return now < until ? { kind: 'wait', until } : act;
  },
  act: ({ attempts: of, intervalMs, message: template }, { caseContext, attempt: { sent } }, { at, number }) => {
    const attempt = sent + 1;
    const message = fill(template, findingAt(caseContext, at), attempt, of);
    return [
      order(caseContext, number, 'NUDGE_AGENT', { ttlMs: textTtl(caseContext, intervalMs), attempt, message }),
      caseEvent(caseContext, 'NUDGE_SENT', { attempt, of, message, orderId: orderId(caseContext, number) }),
    ];
  },
};

/** Derived from the probe's order, so that the case can check the answer. */
export const nonceOf = (orderId: string): string => contentHash(orderId).slice(0, 8);

/** Whether a reply carries the nonce of one of the case's probes. */
export const answersProbe = ({ nudges }: ActiveCase, reply: string): boolean =>
  nudges.some(({ orderId }) => reply.includes(nonceOf(orderId)));

/** Gas Town's shutdown dance: a probe with a nonce, and a longer wait after each. A reply pardons (see observe.ts); silence moves on. */
export const interrogate: RulesOf<'interrogate'> = {
  ruling: 'soft',
  decideStep: ({ waitsMs }, { attempt }, now) => {
    if (attempt.sent === 0) return act;
    const until = attempt.lastAt + (waitsMs[attempt.sent - 1] ?? 0);
    if (now < until) return { kind: 'wait', until };
    return attempt.sent < waitsMs.length ? act : { kind: 'next' };
  },
  act: ({ waitsMs, message }, { caseContext, attempt }, { at, number }) => {
    const nonce = nonceOf(orderId(caseContext, number));
    const waitMs = waitsMs[attempt.sent] ?? 0;
    const asked = fill(message, findingAt(caseContext, at), attempt.sent + 1, waitsMs.length).replaceAll(
      '{nonce}',
      nonce,
    );
    const text = asked.replaceAll('{timeout}', String(waitMs / 1000));
    return [order(caseContext, number, 'PROBE_AGENT', { ttlMs: waitMs, message: text, nonce, waitMs })];
  },
};

/** The agent is asked to write a checkpoint and to stop by itself. Its end within the plan is a death that the plan continues from. */
export const handoff: RulesOf<'handoff'> = {
  ruling: 'soft',
  decideStep: ({ deadlineMs }, activeCase, now) => {
    const { caseContext, attempt, death } = activeCase;
    if (death) return { kind: 'next' };
    const barred = unreachable(caseContext);
    if (barred) return { kind: 'skip', ...barred, leads: 'next' };
    if (attempt.sent === 0) return act;
    return waitForText(activeCase, attempt.lastAt + deadlineMs, now);
  },
  act: ({ deadlineMs, message }, { caseContext, answers, handoffAsked }, { at, number }) => {
    const text = fill(message, findingAt(caseContext, at));
    const asked = handoffAsked === null ? null : answers.handoff;
    const requested = { deadlineAt: at + deadlineMs, orderId: orderId(caseContext, number), asked };
    // No activity recalls what the agent has asked for.
    const whom = handoffAsked === null ? caseContext : { ...caseContext, awaits: null, foldedSequence: null };
    const ttlMs = textTtl(caseContext, deadlineMs);
    return [
      order(whom, number, 'HANDOFF_AGENT', { ttlMs, message: text, deadlineMs }),
      caseEvent(caseContext, 'HANDOFF_REQUESTED', requested),
    ];
  },
};
