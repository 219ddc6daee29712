import { adapterNamed } from '@vigil/adapters';
import type { HookPayload, ScreenMeaning } from '@vigil/adapters/adapter';
import { T0 } from '@vigil/health/fixture';
import { linesOf } from './session-files.ts';
import type { Situation } from './situations.ts';
import { type Pace, type Random, type TrueEvent, timelineOf } from './timeline.ts';
import { looksAfter, type Step } from './watched.ts';

/** The delivery of hooks. Each share is between 0 and 1. */
export type Way = {
  readonly lost: number;
  readonly doubled: number;
  /** arrive up to a second late, in another order */
  readonly disordered: number;
  /** arrive up to half a minute late */
  readonly late: number;
  /** null for the client's screen; else the screen of a version that the adapter does not support */
  readonly screen: ScreenMeaning | null;
};

export type Session = {
  readonly steps: readonly Step[];
  readonly endMs: number;
  /** events without their hook */
  readonly lost: readonly string[];
};

const READ_TRANSCRIPTS_EVERY_MS = 2000;

/**
 * Gemini CLI writes a call into the file of its session when it has ended, and its screen looks the same while a call
 * runs and while the model answers. So only the hook shows the start of a call. Without it, a call that lasts longer
 * than the limit of a model looks like a hung model. never.test.ts bounds the effect.
 */
const isOnlySource = (client: string, { name }: TrueEvent): boolean => client === 'gemini-cli' && name === 'BeforeTool';

type Sent = { readonly steps: readonly Step[]; readonly isLost: boolean };

const sent = (client: string, event: TrueEvent, way: Way, random: Random): Sent => {
  const { ms } = event;
  const payload: HookPayload = event.payload;
  const safe = isOnlySource(client, event);
  const hook = (delay: number): Step => ({ ms: ms + Math.round(delay), kind: 'hook', at: ms, payload });
  if (!safe && random() < way.lost) return { steps: [], isLost: true };
  const arrives = 10 + random() * 40;
  const isLate = !safe && random() < way.late;
  const delay = isLate ? random() * 30_000 : random() < way.disordered ? random() * 1000 : 0;
  const steps = [hook(arrives + delay)];
  return { steps: random() < way.doubled ? [...steps, hook(arrives + delay + random() * 3000)] : steps, isLost: false };
};

/** A session in that situation, as a supervisor sees it. */
export const sessionOf = (situation: Situation, pace: Pace, way: Way, random: Random): Session => {
  const { client } = situation;
  const { events, screens, endMs } = timelineOf(situation, pace, random);
  const asked = adapterNamed(client)?.hooks.events ?? [];
  const hooks = events
    .filter(({ name }) => asked.includes(name))
    .map((event) => ({ event, ...sent(client, event, way, random) }));
  const lines = linesOf(client, events, (ms) => new Date(T0 + ms).toISOString()).flatMap((line): Step[] => [
    { ...line, kind: 'line' },
    { ms: line.ms + Math.round(random() * READ_TRANSCRIPTS_EVERY_MS), kind: 'read' },
  ]);
  const drawn = screens.flatMap(({ ms, meaning }): Step[] => [
    { ms, kind: 'screen', meaning: way.screen ?? meaning },
    { ms: ms + looksAfter, kind: 'look' },
  ]);
  const exit: readonly Step[] = situation.ending === 'exits' ? [{ ms: endMs, kind: 'exit' }] : [];
  const steps = [...hooks.flatMap((one) => one.steps), ...lines, ...drawn, ...exit].filter(({ ms }) => ms <= endMs);
  return {
    steps: steps.sort((one, other) => one.ms - other.ms),
    endMs,
    lost: hooks.filter(({ isLost }) => isLost).map(({ event }) => event.name),
  };
};
