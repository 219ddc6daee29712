import type { Heartbeat } from '@vigil/events';
import { connectIn, type Settings } from './connect.ts';
import { type Answer, type Line, noAnswer, type Transport } from './transport/transport.ts';
import type { Vigil } from './vigil.ts';
import type { World } from './world.ts';

/** Turns of the event loop, so that everything that can go on has gone on. */
export const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A machine whose time stands still until it is moved. */
export type TestWorld = World & {
  /** Moves time on, step by step from one due pause to the next. */
  readonly pass: (ms: number) => Promise<void>;
  readonly waiting: () => number;
};

export const testWorld = (startsAt = 1_795_305_600_000): TestWorld => {
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
  const newId = () => `life-${++ids}`;
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

/** What the other side does with a heartbeat. */
export type Reply = 'takes' | 'is away' | 'says nothing' | Error;

/** A transport that keeps what it was sent, and does as it is told. */
export type TestWay = {
  /** what arrived */
  readonly arrived: Heartbeat[];
  /** every attempt */
  readonly tried: Heartbeat[];
  reply: Reply;
  answer: Answer;
  document: unknown;
  line: Line | null;
  closed: boolean;
  local: boolean;
};

const sending = async (way: TestWay, heartbeat: Heartbeat, signal: AbortSignal): Promise<Answer> => {
  way.tried.push(heartbeat);
  if (way.reply === 'says nothing')
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
  line: null,
  closed: false,
  local: false,
});

const over =
  (way: TestWay) =>
  (line: Line): Transport => {
    way.line = line;
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
  readonly world: TestWorld;
  readonly problems: string[];
  /** the heartbeat that arrived last */
  readonly last: () => Heartbeat;
};

/** An agent that has sent its first heartbeat. */
export const connected = async (settings: Partial<Settings> = {}, way = testWay()): Promise<Connected> => {
  const world = testWorld();
  const problems: string[] = [];
  const onProblem = (problem: string): void => void problems.push(problem);
  const vigil = connectIn(world, { agentId: 'worker-1', over: over(way), onProblem, ...settings });
  await settled();
  return { vigil, way, world, problems, last: () => way.arrived.at(-1) as Heartbeat };
};
