import type { Heartbeat } from '@vigil/events';
import { connectIn, type Settings } from './connect.ts';
import type { SystemDeps } from './system.ts';
import { type Answer, noAnswer, type Transport, type TransportDeps } from './transport/transport.ts';
import type { Vigil } from './vigil.ts';

/** Turns of the event loop, so that every pending callback has run. */
export const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A system whose time stands still until a test moves it. */
export type TestSystem = SystemDeps & {
  /** Moves time forward, step by step from one due pause to the next. */
  readonly pass: (ms: number) => Promise<void>;
  readonly waiting: () => number;
};

export const testSystem = (startsAt = 1_795_305_600_000): TestSystem => {
  let [time, ids] = [startsAt, 0];
  const pauses = new Set<{ readonly at: number; readonly over: () => void }>();
  const pause = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const over = () => {
        pauses.delete(one);
        resolve();
      };
      const one = { at: time + ms, over };
      pauses.add(one);
      signal.addEventListener('abort', over, { once: true });
    });
  const pass = async (ms: number): Promise<void> => {
    const until = time + ms;
    await settled();
    for (;;) {
      const next = [...pauses].sort((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > until) break;
      time = Math.max(time, next.at);
      next.over();
      await settled();
    }
    time = until;
  };
  const newId = () => `run-${++ids}`;
  return {
    now: () => time,
    monotonic: () => time,
    random: () => 1,
    newId,
    host: 'here',
    pause,
    pass,
    waiting: () => pauses.size,
  };
};

/** How the other side handles a heartbeat. */
export type Reply = 'takes' | 'is away' | 'does not answer' | Error;

/** A transport that records what it was sent, and replies as a test sets. */
export type TestWay = {
  /** what arrived */
  readonly arrived: Heartbeat[];
  /** every attempt */
  readonly tried: Heartbeat[];
  reply: Reply;
  answer: Answer;
  document: unknown;
  deps: TransportDeps | null;
  closed: boolean;
  local: boolean;
};

const sending = async (way: TestWay, heartbeat: Heartbeat, signal: AbortSignal): Promise<Answer> => {
  way.tried.push(heartbeat);
  if (way.reply === 'does not answer')
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('no answer'))));
  if (way.reply === 'is away') throw new Error('connection refused');
  if (way.reply instanceof Error) throw way.reply;
  way.arrived.push(heartbeat);
  return way.answer;
};

export const testWay = (): TestWay => ({
  arrived: [],
  tried: [],
  reply: 'takes',
  answer: noAnswer,
  document: null,
  deps: null,
  closed: false,
  local: false,
});

const over =
  (way: TestWay) =>
  (deps: TransportDeps): Transport => {
    way.deps = deps;
    return {
      local: way.local,
      send: (heartbeat, signal) => sending(way, heartbeat, signal),
      policy: async () => way.document,
      close: async () => {
        way.closed = true;
      },
    };
  };

export type Connected = {
  readonly vigil: Vigil;
  readonly way: TestWay;
  readonly system: TestSystem;
  readonly problems: string[];
  /** the heartbeat that arrived last */
  readonly last: () => Heartbeat;
};

/** An agent that has sent its first heartbeat. */
export const connected = async (settings: Partial<Settings> = {}, way = testWay()): Promise<Connected> => {
  const system = testSystem();
  const problems: string[] = [];
  const onProblem = (problem: string): void => void problems.push(problem);
  const vigil = connectIn(system, { agentId: 'worker-1', over: over(way), onProblem, ...settings });
  await settled();
  return { vigil, way, system, problems, last: () => way.arrived.at(-1) as Heartbeat };
};
