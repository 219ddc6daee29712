import type { DeadLetterRow } from '@vigil/read-model';
import { clockTime, orDash, table, type View } from '../view.ts';

/** `topic/partition @ offset`: the place of the record. */
const placeOf = ({ originalTopic, originalPartition, originalOffset }: DeadLetterRow): string =>
  `${originalTopic}/${originalPartition} @ ${originalOffset}`;

const timeOf = (view: View, { failedAt }: DeadLetterRow): string =>
  failedAt === null ? '-' : clockTime(view, failedAt);

export const lettersTable = (view: View, letters: readonly DeadLetterRow[]): string[] =>
  table<DeadLetterRow>(
    view,
    [
      { title: 'LETTER', of: ({ eventId }) => eventId },
      { title: 'TIME', of: (letter) => timeOf(view, letter) },
      { title: 'SERVICE', of: ({ service }) => service },
      { title: 'RECORD', of: placeOf },
      { title: 'WHY', of: ({ reason }) => reason, rest: true },
    ],
    letters,
    'No dead letters.',
  );

export const letterLines = (view: View, letter: DeadLetterRow): string[] => {
  const { eventId, service, originalKey, reason, errorType, preview, truncated, leftOut } = letter;
  return [
    `${view.paint.bold(eventId)} of ${service}`,
    `  record     ${placeOf(letter)}, key ${orDash(originalKey)}`,
    `  time       ${timeOf(view, letter)}`,
    `  why        ${reason} (${errorType})`,
    ...(leftOut > 0 ? [`  more       ${leftOut} others of the same minute have no dead letter`] : []),
    `  begins     ${orDash(preview)}${truncated ? ' …' : ''}`,
  ];
};
