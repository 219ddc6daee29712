import type { Recovery } from './state.ts';

const idleMs = 7 * 24 * 60 * 60_000;

/** When nothing of a task is worth keeping, its count of attempts included: nobody holds it, nothing is to be done, and a week has gone by without a word of it. */
export const forgetAt = ({ situation, holders, heardAt }: Recovery): number => {
  const rests = situation.is === 'idle' || situation.is === 'stable';
  return rests && holders.length === 0 && heardAt !== undefined ? heardAt + idleMs : Number.POSITIVE_INFINITY;
};
