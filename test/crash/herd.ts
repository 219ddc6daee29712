import { setTimeout as sleep } from 'node:timers/promises';
import { type Heartbeat, Topic } from '@vigil/events';
import { partitionOf, writer } from '@vigil/stream';
import type { TestSystem } from '../support/system.ts';
import { type Fate, type HerdAgent, nextBeat } from './herd-agent.ts';
import { type Hands, startHands } from './herd-hands.ts';

export type HerdPlan = {
  /** agents that work on, straight to Kafka and through the gateway */
  readonly straight: number;
  readonly throughHttp: number;
  /** of each fate, how many; they meet it evenly spread over `overMs` from `fromMs` on */
  readonly fates: Readonly<Record<Exclude<Fate, 'works'>, number>>;
  readonly fromMs: number;
  readonly overMs: number;
};

export type Herd = {
  readonly agents: readonly HerdAgent[];
  /** those of the plan whose fate has befallen them by now */
  readonly fateful: () => readonly HerdAgent[];
  readonly hands: Hands;
  /** how many heartbeats were acknowledged */
  readonly beats: () => number;
  readonly stop: () => Promise<void>;
};

const STEP_MS = 100;
const INTERVAL_MS = 1000;

const agent = (name: string, more: Partial<HerdAgent> = {}): HerdAgent => ({
  agentId: name,
  instanceId: `${name}.i1`,
  taskId: `task-${name}`,
  door: 'kafka',
  fate: 'works',
  fatefulAt: Number.POSITIVE_INFINITY,
  attempt: null,
  sequence: 0,
  gone: false,
  ...more,
});

const named = (count: number, name: string, more: (place: number) => Partial<HerdAgent> = () => ({})) =>
  Array.from({ length: count }, (_, place) => agent(`${name}-${place}`, more(place)));

/** Every other one of the silent and of those that loop comes through the gateway. */
const membersOf = ({ straight, throughHttp, fates, fromMs, overMs }: HerdPlan): HerdAgent[] => {
  const doomed = (Object.keys(fates) as Exclude<Fate, 'works'>[]).flatMap((fate) =>
    named(fates[fate], fate, (place) => ({
      fate,
      fatefulAt: fromMs + (place * overMs) / fates[fate],
      door: place % 2 === 1 ? 'http' : 'kafka',
    })),
  );
  const working = [...named(straight, 'steady'), ...named(throughHttp, 'web', () => ({ door: 'http' }))];
  return [...working, ...doomed];
};

/** The ways in for heartbeats. */
const doorsOf = (on: TestSystem, partitions: number) => ({
  kafka: (beats: readonly Heartbeat[]): Promise<void> =>
    on.log.write(
      beats.map((beat) => ({
        topic: Topic.heartbeat,
        partition: partitionOf(beat.agent_id, partitions),
        key: beat.agent_id,
        value: Buffer.from(JSON.stringify(beat)),
      })),
    ),
  http: async (beats: readonly Heartbeat[]): Promise<void> => {
    const answer = await fetch(new URL('/v1/heartbeats', on.system.env.VIGIL_GATEWAY_URL), {
      method: 'POST',
      headers: { authorization: `Bearer ${on.system.env.VIGIL_GATEWAY_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(beats),
      signal: AbortSignal.timeout(5000),
    });
    if (!answer.ok) throw new Error(`the gateway answers ${answer.status}`);
  },
});

const crash = async (agent: HerdAgent, hands: Hands): Promise<void> => {
  agent.gone = true;
  await hands.reportExit(agent, 'crashed', null);
};

/** Whether an agent's moment of the second lies between two looks. */
const isDue = (place: number, at: number, previous: number): boolean => {
  const phase = (place * 37) % INTERVAL_MS;
  return Math.floor((at - phase) / INTERVAL_MS) > Math.floor((previous - phase) / INTERVAL_MS);
};

/** Beats for all agents, each once a second; what cannot be delivered is lost, as an agent's heartbeat would be. */
export const startHerd = async (on: TestSystem, plan: HerdPlan): Promise<Herd> => {
  const agents = membersOf(plan);
  const doors = doorsOf(on, await on.log.partitionCount(Topic.heartbeat));
  const stopping = new AbortController();
  const begun = performance.now();
  const clock = (): number => performance.now() - begun;
  let acknowledged = 0;
  const write = writer(on.log);
  const hands = await startHands(on, agents, (said) => write.write([said]), stopping.signal);
  const step = (at: number, previous: number): void => {
    for (const one of agents) if (one.fate === 'crashes' && !one.gone && at >= one.fatefulAt) void crash(one, hands);
    const due = agents.filter((_, place) => isDue(place, at, previous));
    for (const door of ['kafka', 'http'] as const) {
      const beats = due.filter((one) => one.door === door).flatMap((one) => nextBeat(one, at, Date.now()) ?? []);
      if (beats.length === 0) continue;
      const count = (): number => (acknowledged += beats.length);
      void doors[door](beats).then(count, () => {});
    }
  };
  const beating = (async () => {
    for (let previous = clock(); !stopping.signal.aborted; await sleep(STEP_MS)) {
      const at = clock();
      step(at, previous);
      previous = at;
    }
  })();
  return {
    agents,
    fateful: () => agents.filter(({ fate, fatefulAt }) => fate !== 'works' && clock() >= fatefulAt),
    hands,
    beats: () => acknowledged,
    stop: async () => {
      stopping.abort();
      await beating;
    },
  };
};
