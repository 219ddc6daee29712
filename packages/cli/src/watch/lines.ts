import { setTimeout as after } from 'node:timers/promises';
import type { Client } from '../client.ts';
import { storyLine } from '../render/describe.ts';
import { awayLine, blindLine, isCurrent } from '../render/knowledge.ts';
import { clockTime } from '../render/view.ts';
import { print, untilStopped, view } from '../terminal.ts';
import { EVERY_MS, notShownYet, readSeen, type Seen, type Selection, troubleOf } from './seen.ts';

/** A line for each event, where the output cannot be redrawn. */
export const watchLines = async (client: Client, selection: Selection): Promise<void> => {
  const signal = untilStopped();
  const add = addLines();
  let seenAt = Date.now();
  while (!signal.aborted) {
    const seen = await readSeen(client, selection).catch(troubleOf);
    if (typeof seen !== 'string') seenAt = Date.now();
    add(seen, seenAt);
    await after(EVERY_MS, undefined, { signal }).catch(() => {});
  }
};

/** `seenAt`: when the last answer arrived, epoch milliseconds. */
const addLines = (): ((seen: Seen | string, seenAt: number) => void) => {
  let known: ReadonlySet<string> = new Set();
  let trouble = '';
  let away: readonly string[] = [];
  return (seen, seenAt) => {
    const isBlind = typeof seen === 'string' || !isCurrent(seen.knowledge);
    if (isBlind && trouble === '')
      print([blindLine(view(), typeof seen === 'string' ? seenAt : (seen.knowledge.blindSince ?? seenAt))]);
    if (!isBlind && trouble !== '') print([`current again at ${clockTime(view(), seenAt)}`]);
    if (typeof seen === 'string') {
      if (seen !== trouble) print([seen]);
      trouble = seen;
      return;
    }
    trouble = isBlind ? 'blind' : '';
    print(seen.knowledge.away.filter(({ part }) => !away.includes(part)).map((one) => awayLine(view(), one)));
    const parts = seen.knowledge.away.map(({ part }) => part);
    print(away.filter((part) => !parts.includes(part)).map((part) => `${part} answers again`));
    away = parts;
    print(notShownYet(known, seen.story).map((entry) => storyLine(view(), entry)));
    known = new Set(seen.story.map(({ eventId }) => eventId));
  };
};
