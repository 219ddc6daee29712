import { beginsAgain, freshFrom } from './freshness.ts';
import { handoffByHand, terminateByHand } from './matter.ts';
import type { Open } from './open.ts';
import { givenTime, handingOff, terminating } from './replan.ts';
import { type CaseDraft, type CaseState, inCase } from './state.ts';

type Decided = Extract<CaseDraft, { readonly type: 'ESCALATION_DECIDED' }>;

/** What somebody has decided, followed. */
export const decided = (state: CaseState, { payload }: Decided, now: number): CaseState =>
  inCase(state, (open) => following(open, payload, now));

const following = (open: Open, payload: Decided['payload'], now: number): Open => {
  const { decision, by, why, forMs } = payload;
  switch (decision) {
    case 'pardon':
      return { ...open, ending: { ending: 'pardoned', why: `${by}: ${why}` } };
    case 'allow_more_time':
      return beginsAgain(givenTime(open, now + (forMs ?? 0)), now + (forMs ?? 0));
    case 'terminate_and_recover': {
      const step = open.matter.steps.find((planned) => planned.step === 'terminate') ?? terminateByHand;
      return { ...terminating(open, by, { ...step, requires: [] }), decision: freshFrom(decision, now) };
    }
    case 'force_handoff': {
      const step = open.matter.steps.find((planned) => planned.step === 'handoff') ?? handoffByHand;
      return { ...handingOff(open, by, step), decision: freshFrom(decision, now) };
    }
    case 'UNKNOWN':
      return open;
  }
};
