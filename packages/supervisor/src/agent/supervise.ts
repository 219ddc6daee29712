import type { AgentDeps } from '../deps.ts';
import { openSocket, socketPath } from '../messages/agent-socket.ts';
import { HookDesk } from '../messages/hook-responder.ts';
import type { Again } from '../orders/order.ts';
import { Hold } from '../orders/pause-control.ts';
import { holdRecordOf } from '../orders/pause-record.ts';
import { OutputFeed } from '../output/output-feed.ts';
import { endProcess } from '../process/end-process.ts';
import type { Pid } from '../process/proc.ts';
import type { OnHeld } from '../pty-host/hosted-terminal.ts';
import type { DeedOf } from '../pty-host/protocol.ts';
import { AgentScreen } from '../screen/agent-screen.ts';
import { screenClientOf } from '../screen/client.ts';
import { readInputMode } from '../screen/input-mode.ts';
import { printsStream } from '../sessions/event-stream.ts';
import { type Lock, takeName } from '../state/lock.ts';
import type { Attached } from '../terminal/foreground.ts';
import { openTerminal, type Size, type Terminal } from '../terminal/terminal.ts';
import { Life, type Supervised } from './agent-instance.ts';
import { Watch } from './agent-monitor.ts';
import { type AgentSpec, environmentOf } from './agent-spec.ts';
import { after, noMemory, type Past } from './memory.ts';
import { Meter } from './meter.ts';
import { attend } from './viewer-actions.ts';

/** A life to be begun, or taken over. */
export type Beginning = {
  readonly spec: AgentSpec;
  readonly world: AgentDeps;
  readonly lock: Lock;
  readonly past: Past;
  readonly size: Size;
  /** VIGIL_SOCKET */
  readonly socket: string;
  /** an order that another supervisor had begun, and that is carried through */
  readonly again: Again | null;
};

const holdOn = ({ spec, world, socket }: Beginning, terminal: Terminal, eyes: Watch): Hold => {
  const hold: Hold = new Hold({
    ...spec,
    signal: terminal.signal,
    get env() {
      return { ...environmentOf(spec, world.dir, socket), VIGIL_PID: String(terminal.pid.pid) };
    },
    onChange: () => {
      eyes.paused = hold.isPaused;
    },
    record: holdRecordOf(world.dir, spec.instanceId),
    clock: world.clock,
    log: world.log,
  });
  eyes.paused = hold.isPaused;
  return hold;
};

/** What was printed while nobody read it is gone, and counted; what was read before is not read again. */
const seenBy =
  (eyes: Watch): OnHeld['output'] =>
  (chunk) => {
    const { read } = eyes;
    if (chunk.from > read) eyes.missed(chunk.from - read);
    const fresh = after(chunk, eyes.read);
    if (fresh) eyes.output(fresh.data, fresh.at);
  };

/** The screen as it was, where another supervisor has watched it. */
const drawnScreen = ({ spec, world, past, size }: Beginning, leader: () => Pid | null): AgentScreen => {
  const readMode = () => {
    const pid = leader();
    return pid === null ? Promise.resolve(null) : readInputMode(pid);
  };
  const client = screenClientOf(world.clients, spec);
  const screen = new AgentScreen(client, size, past.memory.emulator, readMode, world.clock.monotonic());
  for (const { data } of past.seen) screen.write(data);
  return screen;
};

/** Puts a life together around the terminal that `open` gives. It does not beat yet. */
export const assemble = async (
  beginning: Beginning,
  open: (on: OnHeld) => Terminal | Promise<Terminal>,
): Promise<Supervised> => {
  const { spec, world, lock, past, again } = beginning;
  const { memory } = past;
  let life: Life | null = null;
  const meter = new Meter(spec.limits, world.clock, memory.startedAt, memory.read);
  const drawn = drawnScreen(beginning, () => life?.terminal.pid ?? null);
  const eyes = new Watch(spec, world, meter, past, drawn, () => life?.remember());
  const feed = new OutputFeed({ judge: seenBy(eyes), drawn: () => drawn.drawn }, world.clock.monotonic);
  const desk = new HookDesk(eyes, spec.nudge);
  const socket = await openSocket(beginning.socket, desk.ears);
  try {
    const early: DeedOf[] = [];
    const deed: OnHeld['deed'] = (one) => void (life === null ? early.push(one) : attend(life, world, one));
    const terminal = await open({ output: (chunk) => feed.push(chunk), deed });
    feed.from(terminal);
    meter.started(terminal.pid);
    lock.has({ child: terminal.pid });
    const hold = holdOn(beginning, terminal, eyes);
    const own = { spec, world, socket, address: beginning.socket, lock, clock: world.clock };
    const parts = { ...own, watch: eyes, desk, terminal, hold, meter, feed };
    life = new Life(parts, { memory, again });
    for (const one of early) attend(life, world, one);
    return life;
  } catch (error) {
    await eyes.finish(0);
    await socket.close();
    throw error;
  }
};

/** @throws AlreadySupervised where its name is taken on this host */
export const newLife = (spec: AgentSpec, world: AgentDeps, size: Size): Beginning => {
  const { agentId, instanceId, taskId, runtimeId, attempt, orderId } = spec;
  const who = { agentId, instanceId, taskId, runtimeId, attempt, orderId };
  const lock = takeName(world.dir, { ...who, supervisor: world.self, holder: null, child: null });
  const past = { memory: noMemory(world.clock.now()), seen: [] };
  return { spec, world, lock, past, size, socket: socketPath(world.socketDir, instanceId), again: null };
};

/** Opens the agent's terminal. `started`: a process leads what is started from now on, also where the terminal is never opened. */
export type Open = (on: OnHeld, started: (leader: Pid) => void) => Terminal | Promise<Terminal>;

/** Begun at once; where that fails, an agent that has started is ended, since nobody would know of it, and its name is free again. */
export const begun = async (beginning: Beginning, open: Open): Promise<Supervised> => {
  const { spec, world, lock, socket } = beginning;
  let leader: Pid | null = null;
  const opened = async (on: OnHeld): Promise<Terminal> => {
    const terminal = await open(on, (started) => {
      leader = started;
    });
    leader = terminal.pid;
    return terminal;
  };
  const life = await assemble(beginning, opened).catch(async (error: unknown) => {
    const patience = { graceMs: 0, killAfterMs: world.killAfterMs };
    const isGone = leader === null || (await endProcess({ leader, socket }, patience, world.clock)).confirmed;
    // The lock of one that could not be ended leads the next supervisor to it.
    if (isGone) lock.release();
    throw error;
  });
  const { agentId, instanceId, taskId, attempt } = spec;
  world.log('an agent has started', { agentId, instanceId, taskId, attempt, pid: life.terminal.pid.pid });
  life.begin();
  return life;
};

/**
 * Starts an agent on a terminal of this very process, and watches it to its end.
 * @throws AlreadySupervised where its name is taken on this host; WrongSettings for a pattern that RE2 does not take
 */
export const supervise = (
  spec: AgentSpec,
  world: AgentDeps,
  { size, isPiped, output }: Pick<Attached, 'size' | 'isPiped' | 'output'>,
): Promise<Supervised> => {
  const life = newLife(spec, world, size);
  const env = environmentOf(spec, world.dir, life.socket);
  let from = 0;
  return begun(life, (on) =>
    openTerminal({ ...spec, env, rawOutput: isPiped || printsStream(world, spec) }, size, (data) => {
      on.output({ from, at: world.clock.now(), data });
      from += data.length;
      output(data);
    }),
  );
};
