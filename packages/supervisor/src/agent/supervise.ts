import type { AgentDeps } from '../deps.ts';
import { openSocket, socketPath } from '../messages/agent-socket.ts';
import { HookResponder } from '../messages/hook-responder.ts';
import type { RepeatableOrder } from '../orders/order.ts';
import { PauseControl } from '../orders/pause-control.ts';
import { pauseRecordOf } from '../orders/pause-record.ts';
import { OutputFeed } from '../output/output-feed.ts';
import { endProcess } from '../process/end-process.ts';
import type { Pid } from '../process/proc.ts';
import type { HostedTerminalEvents } from '../pty-host/hosted-terminal.ts';
import type { ViewerAction } from '../pty-host/protocol.ts';
import { AgentScreen } from '../screen/agent-screen.ts';
import { screenClientOf } from '../screen/client.ts';
import { readInputMode } from '../screen/input-mode.ts';
import { printsStream } from '../sessions/event-stream.ts';
import { type Lock, takeName } from '../state/lock.ts';
import type { Attached } from '../terminal/foreground.ts';
import { type OutputKind, openTerminal, type Size, type Terminal } from '../terminal/terminal.ts';
import { AgentInstance, type Supervised } from './agent-instance.ts';
import { AgentMonitor } from './agent-monitor.ts';
import { type AgentSpec, environmentOf } from './agent-spec.ts';
import { after, noMemory, type Past } from './memory.ts';
import { Meter } from './meter.ts';
import { performViewerAction } from './viewer-actions.ts';

/** An instance to be started or taken over. */
export type InstanceStart = {
  readonly spec: AgentSpec;
  readonly deps: AgentDeps;
  readonly lock: Lock;
  readonly past: Past;
  readonly size: Size;
  /** VIGIL_SOCKET */
  readonly socket: string;
  /** an order that another supervisor had begun, and that is carried through */
  readonly again: RepeatableOrder | null;
};

const pauseControlOf = (
  { spec, deps, socket }: InstanceStart,
  terminal: Terminal,
  monitor: AgentMonitor,
): PauseControl => {
  const pauseControl: PauseControl = new PauseControl({
    ...spec,
    signal: terminal.signal,
    get env() {
      return { ...environmentOf(spec, deps.dir, socket), VIGIL_PID: String(terminal.pid.pid) };
    },
    onChange: () => {
      monitor.paused = pauseControl.isPaused;
    },
    record: pauseRecordOf(deps.dir, spec.instanceId),
    clock: deps.clock,
    log: deps.log,
  });
  monitor.paused = pauseControl.isPaused;
  return pauseControl;
};

/** Output that was lost before it was read is counted; output that was read before is not read again. */
const seenBy =
  (monitor: AgentMonitor): HostedTerminalEvents['output'] =>
  (chunk) => {
    const { read } = monitor;
    if (chunk.from > read) monitor.missed(chunk.from - read);
    const fresh = after(chunk, monitor.read);
    if (fresh) monitor.output(fresh.data, fresh.at);
  };

/** The screen as it was, where another supervisor has watched it. */
const drawnScreen = ({ spec, deps, past, size }: InstanceStart, leader: () => Pid | null): AgentScreen => {
  const readMode = () => {
    const pid = leader();
    return pid === null ? Promise.resolve(null) : readInputMode(pid);
  };
  const client = screenClientOf(deps.clients, spec);
  const screen = new AgentScreen(client, size, past.memory.emulator, readMode, deps.clock.monotonic());
  for (const { data } of past.seen) screen.write(data);
  return screen;
};

/** Assembles an instance around the terminal that `open` gives. It sends no heartbeats yet. */
export const assemble = async (
  beginning: InstanceStart,
  open: (on: HostedTerminalEvents) => Terminal | Promise<Terminal>,
): Promise<Supervised> => {
  const { spec, deps, lock, past, again } = beginning;
  const { memory } = past;
  let instance: AgentInstance | null = null;
  const meter = new Meter(spec.limits, deps.clock, memory.startedAt, memory.read);
  const drawn = drawnScreen(beginning, () => instance?.terminal.pid ?? null);
  const monitor = new AgentMonitor(spec, deps, meter, past, drawn, () => instance?.remember());
  const feed = new OutputFeed({ judge: seenBy(monitor), drawn: () => drawn.drawn }, deps.clock.monotonic);
  const hookResponder = new HookResponder(monitor, spec.nudge);
  const socket = await openSocket(beginning.socket, hookResponder.socketHandlers);
  try {
    const early: ViewerAction[] = [];
    const action: HostedTerminalEvents['action'] = (one) =>
      void (instance === null ? early.push(one) : performViewerAction(instance, deps, one));
    const terminal = await open({ output: (chunk) => feed.push(chunk), action });
    feed.from(terminal);
    meter.started(terminal.pid);
    lock.has({ child: terminal.pid });
    const pauseControl = pauseControlOf(beginning, terminal, monitor);
    const own = { spec, deps, socket, address: beginning.socket, lock, clock: deps.clock };
    const parts = { ...own, monitor: monitor, hookResponder, terminal, pauseControl, meter, feed };
    instance = new AgentInstance(parts, { memory, again });
    for (const one of early) performViewerAction(instance, deps, one);
    return instance;
  } catch (error) {
    await monitor.finish(0);
    await socket.close();
    throw error;
  }
};

/** @throws AlreadySupervised where its name is taken on this host */
export const newInstance = (spec: AgentSpec, deps: AgentDeps, size: Size): InstanceStart => {
  const { agentId, instanceId, taskId, runtimeId, attempt, orderId } = spec;
  const who = { agentId, instanceId, taskId, runtimeId, attempt, orderId };
  const lock = takeName(deps.dir, { ...who, supervisor: deps.self, ptyHost: null, child: null, endRequestedBy: null });
  const past = { memory: noMemory(deps.clock.now()), seen: [] };
  return { spec, deps, lock, past, size, socket: socketPath(deps.socketDir, instanceId), again: null };
};

/**
 * Opens the agent's terminal. `started`: from now on a process leads the agent's programs, also if the terminal is
 * never opened.
 */
export type Open = (on: HostedTerminalEvents, started: (leader: Pid) => void) => Terminal | Promise<Terminal>;

/** Starts at once. Where that fails, an agent that has started is ended, because no supervisor would know it, and its name is free again. */
export const startInstance = async (beginning: InstanceStart, open: Open): Promise<Supervised> => {
  const { spec, deps, lock, socket } = beginning;
  let leader: Pid | null = null;
  const opened = async (on: HostedTerminalEvents): Promise<Terminal> => {
    const terminal = await open(on, (started) => {
      leader = started;
    });
    leader = terminal.pid;
    return terminal;
  };
  const instance = await assemble(beginning, opened).catch(async (error: unknown) => {
    const patience = { graceMs: 0, killAfterMs: deps.killAfterMs };
    const isGone = leader === null || (await endProcess({ leader, socket }, patience, deps.clock)).confirmed;
    // The lock of one that could not be ended leads the next supervisor to it.
    if (isGone) lock.release();
    throw error;
  });
  const { agentId, instanceId, taskId, attempt } = spec;
  deps.log('an agent has started', { agentId, instanceId, taskId, attempt, pid: instance.terminal.pid.pid });
  instance.begin();
  return instance;
};

/** A client that runs one prompt adapts to a terminal: it writes escape sequences there, also to its errors. */
const printsTo = (deps: AgentDeps, spec: AgentSpec, isPiped: boolean): OutputKind => {
  if (!isPiped) return printsStream(deps, spec) ? 'raw' : 'terminal';
  return screenClientOf(deps.clients, spec)?.invocation.headless === true ? 'pipe' : 'raw';
};

/**
 * Starts an agent on a terminal of this very process, and watches it to its end.
 * @throws AlreadySupervised where its name is taken on this host; WrongSettings for a pattern that RE2 does not take
 */
export const supervise = (
  spec: AgentSpec,
  deps: AgentDeps,
  { size, isPiped, output }: Pick<Attached, 'size' | 'isPiped' | 'output'>,
): Promise<Supervised> => {
  const instance = newInstance(spec, deps, size);
  const env = environmentOf(spec, deps.dir, instance.socket);
  let from = 0;
  return startInstance(instance, (on) =>
    openTerminal({ ...spec, env, prints: printsTo(deps, spec, isPiped) }, size, (data) => {
      on.output({ from, at: deps.clock.now(), data });
      from += data.length;
      output(data);
    }),
  );
};
