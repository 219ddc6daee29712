import type { Entry } from '@vigil/read-model';
import { describeEvent, subject } from '../describe/describe.ts';
import { clockTime, cut, type View } from './view.ts';

/** `14:03:10  worker-1  HEALTHY → STUCK: no call for 21 s`, cut to the line where `width` is finite. */
export function storyLine(view: View, { at, type, payload }: Pick<Entry, 'at' | 'type' | 'payload'>): string {
  const time = clockTime(view, at);
  const whom = subject(payload);
  const text = cut(describeEvent(type, payload), Math.max(20, view.width - time.length - whom.length - 4));
  return `${view.paint.dim(time)}  ${view.paint.bold(whom)}  ${text}`;
}

/** A trail, where everything is about one case: without its subject. */
export function trailLine(view: View, { at, type, payload }: Pick<Entry, 'at' | 'type' | 'payload'>): string {
  return `  ${view.paint.dim(clockTime(view, at))}  ${describeEvent(type, payload)}`;
}
