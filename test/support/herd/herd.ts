import { setTimeout as sleep } from 'node:timers/promises';
import { Topic } from '@vigil/events';
import type { TestSystem } from '../system.ts';
import { type HerdAgent, nextBeat } from './agent.ts';
import { gatewayChannel, kafkaChannel } from './channel.ts';
import { doorsOf } from './doors.ts';
import { type Hands, type Spawn, startHands } from './hands.ts';
import { agent, type Doomed, type HerdPlan, membersOf, runtimeOf } from './members.ts';

/** What an agent of the herd lives through. `at`: epoch milliseconds */
export type Note = { readonly what: 'began' | 'heard nudge'; readonly agent: HerdAgent; readonly at: number };

export type Herd = {
  readonly agents: readonly HerdAgent[];
  /** those of the plan whose fate has befallen them by now */
  readonly fateful: () => readonly HerdAgent[];
  readonly hands: Hands;
  /** all that agents have lived through, in order */
  readonly notes: readonly Note[];
  /** a fate befalls these now */
  readonly befall: (agents: readonly HerdAgent[], fate: Doomed) => void;
  /** false: nothing that anybody beats gets through any more */
  readonly connected: (is: boolean) => void;
  /** it takes nobody any more; all that live say that they have finished, and are gone */
  readonly finish: () => Promise<void>;
  /** how many heartbeats were acknowledged */
  readonly beats: () => number;
  readonly stop: () => Promise<void>;
};

const STEP_MS = 100;
const INTERVAL_MS = 1000;

const crash = async (agent: HerdAgent, hands: Hands): Promise<void> => {
  agent.gone = true;
  await hands.reportExit(agent, 'crashed', null);
};

/** Whether an agent's moment of the second lies between two looks. */
const isDue = (place: number, at: number, previous: number): boolean => {
  const phase = (place * 37) % INTERVAL_MS;
  return Math.floor((at - phase) / INTERVAL_MS) > Math.floor((previous - phase) / INTERVAL_MS);
};

/** Each beats once a second; what cannot be delivered is lost, as an agent's heartbeat would be. */
class Beating {
  readonly #agents: readonly HerdAgent[];
  readonly #hands: Hands;
  readonly #doors: ReturnType<typeof doorsOf>;
  readonly #begun = performance.now();
  acknowledged = 0;
  connected = true;

  constructor(agents: readonly HerdAgent[], hands: Hands, doors: ReturnType<typeof doorsOf>) {
    this.#agents = agents;
    this.#hands = hands;
    this.#doors = doors;
  }

  clock = (): number => performance.now() - this.#begun;

  async run(signal: AbortSignal): Promise<void> {
    for (let previous = this.clock(); !signal.aborted; await sleep(STEP_MS)) {
      const at = this.clock();
      this.#step(at, previous);
      previous = at;
    }
  }

  #step(at: number, previous: number): void {
    for (const one of this.#agents)
      if (one.fate === 'crashes' && !one.gone && at >= one.fatefulAt) void crash(one, this.#hands);
    const due = this.connected ? this.#agents.filter((_, place) => isDue(place, at, previous)) : [];
    for (const door of ['kafka', 'http'] as const) {
      const beats = due.filter((one) => one.door === door).flatMap((one) => nextBeat(one, at, Date.now()) ?? []);
      const count = (): number => (this.acknowledged += beats.length);
      if (beats.length > 0) void this.#doors[door](beats).then(count, () => {});
    }
  }
}

const heirOf = ({ payload }: Spawn, door: HerdAgent['door']): HerdAgent => {
  const { agentId, runtimeId, taskId, attempt } = payload;
  return agent(agentId, runtimeId, { door, taskId: taskId ?? agentId, attempt });
};

/** Agents that beat, and their runtime, in this process. */
export const startHerd = async (on: TestSystem, plan: HerdPlan): Promise<Herd> => {
  const notes: Note[] = [];
  const note = (what: Note['what'], agent: HerdAgent): void => void notes.push({ what, agent, at: Date.now() });
  const agents = membersOf(plan);
  for (const one of agents) note('began', one);
  const isByHttp = plan.hands === 'gateway';
  const take = (order: Spawn): void => {
    const heir = heirOf(order, isByHttp ? 'http' : 'kafka');
    agents.push(heir);
    note('began', heir);
  };
  const stopping = new AbortController();
  const channel = isByHttp ? gatewayChannel(on, runtimeOf(plan)) : kafkaChannel(on, runtimeOf(plan));
  const told = (one: HerdAgent): void => note('heard nudge', one);
  const hands = await startHands(channel, { runtimeId: runtimeOf(plan), agents, take, told }, stopping.signal);
  const beating = new Beating(agents, hands, doorsOf(on, await on.log.partitionCount(Topic.heartbeat)));
  const running = beating.run(stopping.signal);
  return {
    agents,
    fateful: () => agents.filter(({ fate, fatefulAt }) => fate !== 'works' && beating.clock() >= fatefulAt),
    hands,
    notes,
    befall: (whom, fate) => {
      for (const one of whom) Object.assign(one, { fate, fatefulAt: beating.clock() });
    },
    connected: (is) => {
      beating.connected = is;
    },
    finish: async () => {
      await hands.close();
      const living = agents.filter(({ gone }) => !gone);
      for (const one of living) one.gone = true;
      await Promise.all(living.map((one) => hands.reportExit(one, 'finished', null)));
    },
    beats: () => beating.acknowledged,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};
