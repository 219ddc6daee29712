import type { Supervised } from '../agent/agent-instance.ts';
import type { AgentSpec } from '../agent/agent-spec.ts';
import { specAgain, supervise, superviseHosted } from '../agent/supervise.ts';
import type { AgentDeps, RuntimeDeps } from '../deps.ts';
import { WrongSettings } from '../errors.ts';
import { takeStopMarker } from '../exit/exit-reason.ts';
import type { TerminalLease } from '../live-terminal/leases.ts';
import { TerminalPublisher } from '../live-terminal/publisher.ts';
import { dispatch, pollOrders } from '../orders/dispatch.ts';
import type { SpawnOrder } from '../orders/order.ts';
import { answerSpawn } from '../orders/receipts.ts';
import { checkFree } from '../state/lock.ts';
import { attach, type ForegroundStreams } from '../terminal/foreground.ts';
import { exitStatus, type Size } from '../terminal/terminal.ts';
import { recoverFromCrash } from './crash-recovery.ts';

/** How long a finished command waits for the gateway to take the report of its end, milliseconds. */
const FAREWELL_MS = 1500;

/** Dependencies of one agent. */
const soloDeps = (
  deps: Omit<AgentDeps, 'onOrders'>,
  runtimeId: string,
  instances: readonly Supervised[],
): AgentDeps => {
  const refuseSpawn = (order: SpawnOrder) =>
    answerSpawn(whole, order, 'failed', { why: 'this runtime runs one command only' });
  const whole: AgentDeps = {
    ...deps,
    onOrders: (orders) =>
      dispatch(
        whole,
        {
          runtimeId,
          instances: () => instances,
          isLeftAlone: () => false,
          spawn: refuseSpawn,
          recallSpawn: refuseSpawn,
        },
        orders,
      ),
  };
  return whole;
};

/** Polls orders until the agent has ended and its end is on its way. */
const untilSettled = async (deps: AgentDeps, agent: Supervised): Promise<void> => {
  const polling = new AbortController();
  const terminals = new TerminalPublisher(deps, agent.spec.runtimeId, () => [agent]);
  const publishing = terminals.run(polling.signal);
  const on = { away: agent.heartbeatSoon, terminals: (leases: readonly TerminalLease[]) => terminals.observe(leases) };
  const polled = pollOrders(deps, agent.spec.runtimeId, polling.signal, on);
  await agent.settled;
  polling.abort();
  await Promise.all([polled, publishing]);
  await deps.outbox.settled(FAREWELL_MS);
};

/** `status`: the exit status that a shell would have given. `endedFromElsewhere`: as of `Supervised`. */
export type RunEnd = { readonly status: number; readonly endedFromElsewhere: string | null };

/**
 * One command under supervision, in the foreground, as if Vigil were not there. A report that the gateway has not taken by then is sent by the next supervisor on this host.
 * @throws AlreadySupervised, WrongSettings
 */
export const run = async (
  spec: AgentSpec,
  deps: Omit<AgentDeps, 'onOrders'>,
  streams: ForegroundStreams,
): Promise<RunEnd> => {
  const instances: Supervised[] = [];
  const whole = soloDeps(deps, spec.runtimeId, instances);
  checkFree(deps.dir, spec.agentId);
  await recoverFromCrash(whole, spec.runtimeId, () => {});
  const { size, isPiped, output, follow } = attach(
    streams,
    () => takeStopMarker(deps.dir, spec.instanceId),
    deps.logger,
  );
  const agent = await supervise(spec, whole, { size, isPiped, output });
  instances.push(agent);
  const detach = follow(agent);
  const settled = untilSettled(whole, agent);
  const exit = await agent.terminal.exited;
  detach();
  await settled;
  return { status: exitStatus(exit), endedFromElsewhere: agent.endedFromElsewhere() };
};

/** What runs in the background: a new command, or a name whose supervisor has died and whose process is still there. */
export type Detached = {
  readonly runtimeId: string;
  readonly agentId: string;
  readonly spec: AgentSpec | null;
  readonly size: Size;
  readonly onStarted: (agent: Supervised) => void;
  /** resolves with the person who requests its end */
  readonly stopped: Promise<string>;
  /** how long it then has to leave by itself, milliseconds */
  readonly graceMs: number;
};

const found = async (
  deps: AgentDeps,
  { runtimeId, agentId }: Detached,
  instances: Supervised[],
): Promise<Supervised> => {
  await recoverFromCrash(deps, runtimeId, (instance) => instances.push(instance));
  const [instance] = instances;
  if (instance) return instance;
  throw new WrongSettings(`nothing of ${agentId} is left to supervise: write what to run after --`);
};

/**
 * One command under supervision on a terminal that outlives its supervisor, until it has ended.
 * @throws AlreadySupervised, WrongSettings
 */
export const runDetached = async (detached: Detached, deps: Omit<RuntimeDeps, 'onOrders'>): Promise<void> => {
  const { runtimeId, agentId, spec, size, onStarted, stopped, graceMs } = detached;
  const instances: Supervised[] = [];
  const whole = soloDeps(deps, runtimeId, instances);
  if (spec !== null) {
    checkFree(deps.dir, agentId);
    await recoverFromCrash(whole, runtimeId, () => {});
    instances.push(await superviseHosted(spec, whole, size));
  }
  let agent = instances[0] ?? (await found(whole, detached, instances));
  let stop: string | null = null;
  void stopped.then((by) => {
    stop = by;
    return agent.end(by, graceMs);
  });
  onStarted(agent);
  await untilSettled(whole, agent);
  while (agent.isRestarted() && stop === null) {
    agent = await superviseHosted(specAgain(agent.spec, deps.newId()), whole, size);
    instances.splice(0, instances.length, agent);
    await untilSettled(whole, agent);
  }
};
