import type { Outcome } from '@vigil/read-model';
import type { Followed, PartAway } from '../follow.ts';
import { describeEvent } from './describe.ts';
import { clockTime, type View } from './view.ts';

const partText = (view: View, { part, since }: PartAway): string =>
  since === null ? `the ${part} does not answer` : `${part} has not answered since ${clockTime(view, since)}`;

const partsText = (view: View, away: readonly PartAway[]): string =>
  away.map((one) => partText(view, one)).join(', and ');

/** Why the outcome of a command is not known yet. `shown`: the command that shows it. */
export const outageLines = (view: View, away: readonly PartAway[], shown: string): readonly string[] => [
  `The outcome is not known yet: ${partsText(view, away)}. The command may be in force already.`,
  `Start what is away (vigil doctor). Waiting until the outcome is known; Ctrl-C ends the wait only. Later: ${shown}`,
];

/** What became of a command, in a line. `later`: the commands that show it when it is known. */
export const outcomeLine = (view: View, { became, away }: Followed, later: readonly string[]): string => {
  const { outcome, reason, events } = became;
  const newest = events.at(-1);
  switch (outcome) {
    case 'applied':
      return `Done: ${sentence(reason ?? (newest === undefined ? 'it is applied' : describeEvent(newest.type, newest.payload)))}`;
    case 'refused':
      return `Refused: ${sentence(reason ?? 'no reason is reported')}`;
    case 'pending':
      return `${pendingText(view, reason, away)} What becomes of it: ${later.join(', or ')}`;
  }
};

/** The same of a command that may not exist: `vigil command show` gets any id. */
export const shownLine = (view: View, followed: Followed, later: readonly string[]): string => {
  const { outcome, reason, events } = followed.became;
  const isKnown = outcome !== 'pending' || reason !== null || events.length > 0 || followed.away.length > 0;
  if (isKnown) return outcomeLine(view, followed, later);
  return `Nothing is known of it: it is not decided yet, or no command has this id. Later: ${later.join(', or ')}`;
};

const pendingText = (view: View, reason: Outcome['reason'], away: readonly PartAway[]): string => {
  if (away.length > 0)
    return `Not known: ${partsText(view, away)}, so the command may be in force already. Start what is away (vigil doctor).`;
  return `Not decided yet${reason === null ? '' : ` (${reason})`}.`;
};

const sentence = (text: string): string => (text.endsWith('.') ? text : `${text}.`);
