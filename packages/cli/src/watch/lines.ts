import { setTimeout as after } from 'node:timers/promises';
import type { Client } from '../client.ts';
import { storyLine } from '../render/describe.ts';
import { awayLine, blindLines, isCurrent } from '../render/knowledge.ts';
import { clockTime, type View } from '../render/view.ts';
import { print, untilStopped, view } from '../terminal.ts';
import { EVERY_MS, type Look, lookAgain, NO_LOOK, notShownYet, type Selection } from './seen.ts';

/** A line for each event, where the output cannot be redrawn. */
export const watchLines = async (client: Client, selection: Selection): Promise<void> => {
  const signal = untilStopped();
  let look: Look = NO_LOOK;
  while (!signal.aborted) {
    const next = await lookAgain(client, selection, null, look);
    print(newLines(view(), look, next));
    look = next;
    await after(EVERY_MS, undefined, { signal }).catch(() => {});
  }
};

/** What a look shows that the one before it did not. */
export const newLines = (view: View, before: Look, { knowledge, seen, seenAt }: Look): readonly string[] => {
  const isBlind = !isCurrent(knowledge);
  const wasBlind = !isCurrent(before.knowledge);
  const partsOf = ({ away }: Look['knowledge']) => away.map(({ part }) => part);
  const [parts, earlierParts] = [partsOf(knowledge), partsOf(before.knowledge)];
  const known = new Set((before.seen?.story ?? []).map(({ eventId }) => eventId));
  return [
    ...(isBlind && !wasBlind ? blindLines(view, knowledge) : []),
    ...(!isBlind && wasBlind && seenAt !== null ? [`current again at ${clockTime(view, seenAt)}`] : []),
    ...knowledge.away.filter(({ part }) => !earlierParts.includes(part)).map((one) => awayLine(view, one)),
    ...earlierParts.filter((part) => !parts.includes(part)).map((part) => `${part} answers again`),
    ...notShownYet(known, seen?.story ?? []).map((entry) => storyLine(view, entry)),
  ];
};
