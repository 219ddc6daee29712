import type { Outcome } from '@vigil/read-model';
import { describeEvent } from './describe.ts';

/** What became of a command, in a line. `later`: the command that shows it when it is decided. */
export const outcomeLine = ({ outcome, reason, events }: Outcome, later: string): string => {
  const newest = events.at(-1);
  switch (outcome) {
    case 'applied':
      return `Done: ${sentence(reason ?? (newest === undefined ? 'it is applied' : describeEvent(newest.type, newest.payload)))}`;
    case 'refused':
      return `Refused: ${sentence(reason ?? 'no reason is reported')}`;
    case 'pending':
      return `Not decided yet${reason === null ? '' : ` (${reason})`}. What becomes of it: ${later}`;
  }
};

const sentence = (text: string): string => (text.endsWith('.') ? text : `${text}.`);
