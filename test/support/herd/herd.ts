import { setTimeout as sleep } from 'node:timers/promises';
import { Topic } from '@vigil/events';
import type { TestSystem } from '../system.ts';
import { type HerdAgent, isFailing, nextHeartbeat } from './agent.ts';
import { gatewayChannel, kafkaChannel } from './channel.ts';
import { type Executor, type Spawn, startExecutor } from './executor.ts';
import { ingressesOf } from './ingresses.ts';
import { agent, type Failure, type HerdPlan, membersOf, runtimeOf } from './members.ts';

/** An event of an agent of the herd. `at`: epoch milliseconds */
export type Note = { readonly what: 'began' | 'received nudge'; readonly agent: HerdAgent; readonly at: number };

export type Herd = {
  readonly agents: readonly HerdAgent[];
  /** the agents whose behaviour has begun by now */
  readonly failed: () => readonly HerdAgent[];
  readonly executor: Executor;
  /** all events of agents, in order */
  readonly notes: readonly Note[];
  /** begins a behaviour of these now */
  readonly inject: (agents: readonly HerdAgent[], behaviour: Failure) => void;
  /** false: heartbeats no longer get through */
  readonly connected: (is: boolean) => void;
  /** it accepts no more agents; all running ones report that they have finished, and end */
  readonly finish: () => Promise<void>;
  /** how many heartbeats were acknowledged */
  readonly heartbeats: () => number;
  readonly stop: () => Promise<void>;
};

const STEP_MS = 100;
const INTERVAL_MS = 1000;

const crash = async (agent: HerdAgent, executor: Executor): Promise<void> => {
  agent.gone = true;
  await executor.reportExit(agent, 'crashed', null);
};

/** Whether an agent's time within the second is between two checks. */
const isDue = (place: number, at: number, previous: number): boolean => {
  const phase = (place * 37) % INTERVAL_MS;
  return Math.floor((at - phase) / INTERVAL_MS) > Math.floor((previous - phase) / INTERVAL_MS);
};

/** Sends a heartbeat for each agent once a second. An undelivered one is lost, like that of a real agent. */
class Beating {
  readonly #agents: readonly HerdAgent[];
  readonly #executor: Executor;
  readonly #ingresses: ReturnType<typeof ingressesOf>;
  readonly #begun = performance.now();
  acknowledged = 0;
  connected = true;

  constructor(agents: readonly HerdAgent[], executor: Executor, ingresses: ReturnType<typeof ingressesOf>) {
    this.#agents = agents;
    this.#executor = executor;
    this.#ingresses = ingresses;
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
      if (one.behaviour === 'crashes' && !one.gone && at >= one.failsAt) void crash(one, this.#executor);
    const due = this.connected ? this.#agents.filter((_, place) => isDue(place, at, previous)) : [];
    for (const ingress of ['kafka', 'http'] as const) {
      const sent = due
        .filter((one) => one.ingress === ingress)
        .flatMap((agent) => {
          const heartbeat = nextHeartbeat(agent, at, Date.now());
          return heartbeat === null ? [] : [{ agent, heartbeat }];
        });
      const acknowledge = (): void => {
        this.acknowledged += sent.length;
        for (const { agent } of sent) agent.known = true;
      };
      const heartbeats = sent.map(({ heartbeat }) => heartbeat);
      if (sent.length > 0) void this.#ingresses[ingress](heartbeats).then(acknowledge, () => {});
    }
  }
}

const replacementOf = ({ payload }: Spawn, ingress: HerdAgent['ingress']): HerdAgent => {
  const { agentId, runtimeId, taskId, attempt } = payload;
  return agent(agentId, runtimeId, { ingress, taskId: taskId ?? agentId, attempt });
};

/** Agents that send heartbeats, and their runtime, in this process. */
export const startHerd = async (on: TestSystem, plan: HerdPlan): Promise<Herd> => {
  const notes: Note[] = [];
  const note = (what: Note['what'], agent: HerdAgent): void => void notes.push({ what, agent, at: Date.now() });
  const agents = membersOf(plan);
  for (const one of agents) note('began', one);
  const isByHttp = plan.executor === 'gateway';
  const take = (order: Spawn): void => {
    const replacement = replacementOf(order, isByHttp ? 'http' : 'kafka');
    agents.push(replacement);
    note('began', replacement);
  };
  const stopping = new AbortController();
  const channel = isByHttp ? gatewayChannel(on, runtimeOf(plan)) : kafkaChannel(on, runtimeOf(plan));
  const onNudge = (one: HerdAgent): void => note('received nudge', one);
  const executor = await startExecutor(channel, { runtimeId: runtimeOf(plan), agents, take, onNudge }, stopping.signal);
  const beating = new Beating(agents, executor, ingressesOf(on, await on.log.partitionCount(Topic.heartbeat)));
  const running = beating.run(stopping.signal);
  return {
    agents,
    failed: () => agents.filter((one) => one.behaviour !== 'works' && isFailing(one, beating.clock())),
    executor,
    notes,
    inject: (whom, behaviour) => {
      for (const one of whom) Object.assign(one, { behaviour, failsAt: beating.clock() });
    },
    connected: (is) => {
      beating.connected = is;
    },
    finish: async () => {
      await executor.close();
      const living = agents.filter(({ gone }) => !gone);
      for (const one of living) one.gone = true;
      await Promise.all(living.map((one) => executor.reportExit(one, 'finished', null)));
    },
    heartbeats: () => beating.acknowledged,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};
