import { NEVER } from '@vigil/stream';
import type { CaseState } from './state.ts';

/** An hour longer than the evaluator remembers whoever has ended: what it finds of it lapses before. */
const rememberedMs = 25 * 60 * 60_000;

/** When nothing of the agent is worth keeping: its life has ended, and no case is open, asked for or waits. */
export const forgetAt = ({ situation, next, life, endedAt }: CaseState): number =>
  situation.at === 'quiet' && next === null && life?.ended && endedAt != null ? endedAt + rememberedMs : NEVER;

/** `now`: when it was heard that the life has ended. */
export const dated = (state: CaseState, now: number): CaseState => {
  const endedAt = state.life?.ended ? (state.endedAt ?? now) : null;
  return endedAt === (state.endedAt ?? null) ? state : { ...state, endedAt };
};
