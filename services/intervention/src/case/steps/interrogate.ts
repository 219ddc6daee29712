import { contentHash, type Step } from '@vigil/policy';
import { fill, order, orderHead, orderId } from '../drafts.ts';
import type { Open } from '../open.ts';
import { act, type StepRules, type Turn } from './step.ts';

type Interrogate = Extract<Step, { readonly step: 'interrogate' }>;

/** Derived from the probe's order, so that whoever knows the case knows the answer that counts. */
export const nonceOf = (orderId: string): string => contentHash(orderId).slice(0, 8);

/** Whether a reply carries the nonce of one of the case's probes. */
export const answersProbe = ({ nudges }: Open, reply: string): boolean =>
  nudges.some(({ orderId }) => reply.includes(nonceOf(orderId)));

const turn = ({ waitsMs }: Interrogate, { attempt }: Open, now: number): Turn => {
  if (attempt.sent === 0) return act;
  const until = attempt.lastAt + (waitsMs[attempt.sent - 1] ?? 0);
  if (now < until) return { want: 'wait', until };
  return attempt.sent < waitsMs.length ? act : { want: 'next' };
};

/** Gas Town's shutdown dance: a probe with a nonce, and a longer wait after each. A reply pardons (see observe.ts); silence moves on. */
export const interrogate: StepRules<Interrogate> = {
  ruling: 'soft',
  turn,
  act: ({ waitsMs, message }, { matter, attempt }, { number }) => {
    const nonce = nonceOf(orderId(matter, number));
    const waitMs = waitsMs[attempt.sent] ?? 0;
    const asked = fill(message, matter, attempt.sent + 1, waitsMs.length).replaceAll('{nonce}', nonce);
    const text = asked.replaceAll('{timeout}', String(waitMs / 1000));
    return [
      order(matter, {
        type: 'PROBE_AGENT',
        payload: { ...orderHead(matter, number), ttlMs: waitMs, message: text, nonce, waitMs },
      }),
    ];
  },
};
