import { contentHash, type Step } from '@vigil/policy';
import { fill, order, orderHead, orderId } from '../drafts.ts';
import type { ActiveCase } from '../state.ts';
import { act, type StepDecision, type StepRules } from './step.ts';

type Interrogate = Extract<Step, { readonly step: 'interrogate' }>;

/** Derived from the probe's order, so that the case can check the answer. */
export const nonceOf = (orderId: string): string => contentHash(orderId).slice(0, 8);

/** Whether a reply carries the nonce of one of the case's probes. */
export const answersProbe = ({ nudges }: ActiveCase, reply: string): boolean =>
  nudges.some(({ orderId }) => reply.includes(nonceOf(orderId)));

const decideStep = ({ waitsMs }: Interrogate, { attempt }: ActiveCase, now: number): StepDecision => {
  if (attempt.sent === 0) return act;
  const until = attempt.lastAt + (waitsMs[attempt.sent - 1] ?? 0);
  if (now < until) return { kind: 'wait', until };
  return attempt.sent < waitsMs.length ? act : { kind: 'next' };
};

/** Gas Town's shutdown dance: a probe with a nonce, and a longer wait after each. A reply pardons (see observe.ts); silence moves on. */
export const interrogate: StepRules<Interrogate> = {
  ruling: 'soft',
  decideStep,
  act: ({ waitsMs, message }, { caseContext, attempt }, { number }) => {
    const nonce = nonceOf(orderId(caseContext, number));
    const waitMs = waitsMs[attempt.sent] ?? 0;
    const asked = fill(message, caseContext, attempt.sent + 1, waitsMs.length).replaceAll('{nonce}', nonce);
    const text = asked.replaceAll('{timeout}', String(waitMs / 1000));
    return [
      order(caseContext, {
        type: 'PROBE_AGENT',
        payload: { ...orderHead(caseContext, number), ttlMs: waitMs, message: text, nonce, waitMs },
      }),
    ];
  },
};
