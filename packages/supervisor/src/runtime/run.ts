import type { Supervised } from '../agent/agent-instance.ts';
import type { AgentSpec } from '../agent/agent-spec.ts';
import { supervise } from '../agent/supervise.ts';
import { superviseHeld } from '../agent/supervise-hosted.ts';
import type { AgentDeps } from '../deps.ts';
import { WrongSettings } from '../errors.ts';
import { takeStopWord } from '../exit/stop-marker.ts';
import { dispatch, pollOrders } from '../orders/dispatch.ts';
import type { SpawnOrder } from '../orders/order.ts';
import { checkFree } from '../state/lock.ts';
import { attach, type Seat } from '../terminal/foreground.ts';
import { exitStatus, type Size } from '../terminal/terminal.ts';
import { answerSpawn, settleAftermath } from './crash-recovery.ts';

/** How long a finished command waits for the gateway to take the report of its end, milliseconds. */
const farewellMs = 1500;

/** A world with one agent in it. */
const soloWorld = (world: Omit<AgentDeps, 'onOrders'>, runtimeId: string, lives: readonly Supervised[]): AgentDeps => {
  const refuseSpawn = (order: SpawnOrder) =>
    answerSpawn(whole, order, 'failed', { why: 'this runtime runs one command only' });
  const whole: AgentDeps = {
    ...world,
    onOrders: (orders) =>
      dispatch(
        whole,
        {
          runtimeId,
          lives: () => lives,
          isLeftAlone: () => false,
          spawn: refuseSpawn,
          recallSpawn: refuseSpawn,
        },
        orders,
      ),
  };
  return whole;
};

/** Hears orders until the agent has ended and its end is on its way. */
const untilSettled = async (world: AgentDeps, agent: Supervised): Promise<void> => {
  const polling = new AbortController();
  const polled = pollOrders(world, agent.spec.runtimeId, polling.signal);
  await agent.settled;
  polling.abort();
  await polled;
  await world.outbox.settled(farewellMs);
};

/**
 * One command under supervision, in the foreground, as if Vigil were not there. Gives the exit status that a shell would
 * have given; a report that the gateway has not taken by then is sent by the next supervisor on this host.
 * @throws AlreadySupervised, WrongSettings
 */
export const run = async (spec: AgentSpec, world: Omit<AgentDeps, 'onOrders'>, seat: Seat): Promise<number> => {
  const lives: Supervised[] = [];
  const whole = soloWorld(world, spec.runtimeId, lives);
  checkFree(world.dir, spec.agentId);
  await settleAftermath(whole, spec.runtimeId, () => {});
  const { size, isPiped, output, follow } = attach(seat, () => takeStopWord(world.dir, spec.instanceId), world.log);
  const agent = await supervise(spec, whole, { size, isPiped, output });
  lives.push(agent);
  const detach = follow(agent);
  const settled = untilSettled(whole, agent);
  const exit = await agent.terminal.exited;
  detach();
  await settled;
  return exitStatus(exit);
};

/** What is run where nobody looks on: something new, or what is still there of a name whose supervisor has died. */
export type Detached = {
  readonly runtimeId: string;
  readonly agentId: string;
  readonly spec: AgentSpec | null;
  readonly size: Size;
  readonly onStarted: (agent: Supervised) => void;
  /** resolves with who wants it to end */
  readonly stopped: Promise<string>;
  /** how long it then has to leave by itself, milliseconds */
  readonly graceMs: number;
};

const found = async (world: AgentDeps, { runtimeId, agentId }: Detached, lives: Supervised[]): Promise<Supervised> => {
  await settleAftermath(world, runtimeId, (life) => lives.push(life));
  const [life] = lives;
  if (life) return life;
  throw new WrongSettings(`nothing of ${agentId} is left to supervise: write what to run after --`);
};

/**
 * One command under supervision on a terminal that outlives its supervisor, until it has ended.
 * @throws AlreadySupervised, WrongSettings
 */
export const runDetached = async (detached: Detached, world: Omit<AgentDeps, 'onOrders'>): Promise<void> => {
  const { runtimeId, agentId, spec, size, onStarted, stopped, graceMs } = detached;
  const lives: Supervised[] = [];
  const whole = soloWorld(world, runtimeId, lives);
  if (spec !== null) {
    checkFree(world.dir, agentId);
    await settleAftermath(whole, runtimeId, () => {});
    lives.push(await superviseHeld(spec, whole, size));
  }
  const agent = lives[0] ?? (await found(whole, detached, lives));
  onStarted(agent);
  void stopped.then((by) => agent.end(by, graceMs));
  await untilSettled(whole, agent);
};
