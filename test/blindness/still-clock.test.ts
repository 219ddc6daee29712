import { Topic } from '@vigil/events';

import type { Database, Knowledge } from '@vigil/read-model';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EVERY_MS, lookAgain, NO_LOOK } from '../../packages/cli/src/watch/seen.ts';
import { openLive, type Route } from '../../packages/page/src/live/live.ts';
import { KNOWLEDGE_MS } from '../../packages/page/src/model/knowledge.ts';
import { storeProjected } from '../../packages/projection/src/projected.ts';
import { lookOut } from '../../services/dashboard/src/own-health/look-out.ts';

const PROMISED_MS = 5000;
const TICK_MS = 1000;
/** The way of a tick from ingest to the projector, and that of an answer to a view, milliseconds. */
const WAY_MS = 200;

let stop: AbortController;
beforeEach(() => {
  stop = new AbortController();
  vi.useFakeTimers();
});
afterEach(() => {
  stop.abort();
  vi.useRealTimers();
});

const after = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

/** The way from the tick to the views, each part with its own limits, and with timers that begin apart by `phaseMs`. */
const opened = async (phaseMs: number) => {
  const tickTimes = { last: 0 };
  let upTo: number | null = null;
  const query = async (_: string, values: readonly unknown[] = []) => {
    upTo = values[1] as number;
    return { rows: [] };
  };
  const projector = storeProjected({ query } as unknown as Database, { warn: () => {} } as never);
  /** A tick that is written now. */
  const tick = (): void => {
    const at = Date.now();
    tickTimes.last = at;
    setTimeout(() => projector.onTime(Topic.agentHealth, 0, at), WAY_MS);
  };
  await vi.advanceTimersByTimeAsync(phaseMs);
  const began = Date.now();
  const knowledge = lookOut({
    ...{ model: { projectedUpTo: async () => upTo }, connect: async () => {}, probes: new Map(), signal: stop.signal },
    instant: () => ({ now: Date.now(), monotonic: Date.now() - began }),
  });
  await vi.advanceTimersByTimeAsync(phaseMs);
  const answer = async (): Promise<{ knowledge: Knowledge }> => {
    const now = { knowledge: knowledge() };
    await after(WAY_MS);
    return now;
  };
  const fleet: Route<{ knowledge: Knowledge }> = {
    ...{ path: '/v1/fleet', tables: ['fleet'], everyMs: KNOWLEDGE_MS, leastPauseMs: 500, pagesOf: null, firstPages: 1 },
    read: (body) => body as { knowledge: Knowledge },
    isFinal: () => false,
  };
  const page = openLive({
    get: answer,
    changes: () => () => {},
    later: (ms, work) => {
      const timer = setTimeout(work, ms);
      return () => clearTimeout(timer);
    },
    now: () => Date.now() - began,
  });
  page.watch(fleet, () => {});
  let watched = NO_LOOK;
  const client = {
    get: async (path: string) => (path === '/v1/fleet' ? await answer() : { agents: [], story: [] }),
  } as never;
  const watch = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      watched = await lookAgain(client, { query: {}, includes: () => true }, null, watched);
      await after(EVERY_MS);
    }
  };
  void watch();
  const end = (): void => {
    stop.abort();
    page.close();
    projector[Symbol.dispose]();
  };
  const isBlind = {
    page: () => page.answerOf(fleet).value?.knowledge.blindSince !== null,
    watch: () => watched.knowledge.blindSince !== null,
  };
  return { tick, tickTimes, isBlind, end };
};

/** Lets so much time pass, with a tick a second. */
const ticking = async (tick: () => void, seconds: number): Promise<void> => {
  for (let second = 0; second < seconds; second += 1) {
    tick();
    await vi.advanceTimersByTimeAsync(TICK_MS);
  }
};

const PHASES = [0, 40, 90, 130, 170, 210, 240, 333, 450];

test.each(PHASES)(
  'the clock of the log stands still: the page and the watch are blind within five seconds, with timers %i ms apart',
  async (phaseMs) => {
    const { tick, tickTimes, isBlind, end } = await opened(phaseMs);
    await ticking(tick, 10);
    expect([isBlind.page(), isBlind.watch()]).toEqual([false, false]);
    await vi.advanceTimersByTimeAsync(tickTimes.last + PROMISED_MS - Date.now());
    expect([isBlind.page(), isBlind.watch()]).toEqual([true, true]);
    end();
  },
);

test.each(PHASES)(
  'a tick that is lost, or late by one and a half seconds, makes no view blind, with timers %i ms apart',
  async (phaseMs) => {
    const { tick, isBlind, end } = await opened(phaseMs);
    await ticking(tick, 5);
    const seen: boolean[] = [];
    const look = setInterval(() => seen.push(isBlind.page(), isBlind.watch()), 50);
    for (const lateMs of [TICK_MS, 1500]) {
      await vi.advanceTimersByTimeAsync(lateMs);
      await ticking(tick, 4);
    }
    clearInterval(look);
    expect(seen.length).toBeGreaterThan(200);
    expect(seen).not.toContain(true);
    end();
  },
);
