import type { Away, Knowledge } from '@vigil/read-model';
import { ageText, clockTime, type View } from './view.ts';

/** Of the parts that do not answer, so many have a line. */
const MOST_AWAY = 6;

export const isCurrent = ({ blindSince }: Knowledge): boolean => blindSince === null;

export const blindLine = (view: View, since: number): string =>
  view.paint.red(`BLIND since ${clockTime(view, since)} (${ageText(view, since)}): states are as they were then.`);

/** The same in at most one line, for a list. */
export const blindLines = (view: View, { blindSince }: Knowledge): readonly string[] =>
  blindSince === null ? [] : [blindLine(view, blindSince)];

export const awayLine = (view: View, { part, since, detail }: Away): string =>
  view.paint.yellow(`AWAY  ${part} since ${clockTime(view, since)}${detail === '' ? '' : `: ${detail}`}`);

/** Why the answers are not current, or not complete; nothing where they are. */
export const knowledgeLines = (view: View, knowledge: Knowledge): string[] => {
  const { away } = knowledge;
  const more = away.length - MOST_AWAY;
  return [
    ...blindLines(view, knowledge),
    ...away.slice(0, MOST_AWAY).map((one) => awayLine(view, one)),
    ...(more > 0 ? [view.paint.yellow(`AWAY  ${more} more: vigil doctor`)] : []),
  ];
};

/** A state that may have changed since is not shown as the present one. */
export const stateText = (state: string, isNow: boolean): string => (isNow ? state : `was ${state}`);
