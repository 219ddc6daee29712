import type { AgentDeps } from '../deps.ts';
import { AlreadySupervised, WrongSettings } from '../errors.ts';
import { restartedBy, stoppedBy } from '../exit/exit-reason.ts';
import { openSocket, socketPath } from '../messages/agent-socket.ts';
import { HookRequests } from '../messages/hook-requests.ts';
import { HookResponder } from '../messages/hook-responder.ts';
import { clientOf } from '../orders/client-control.ts';
import type { RepeatableOrder, Report } from '../orders/order.ts';
import { PauseControl, pauseRecordOf } from '../orders/pause-control.ts';
import { OutputFeed } from '../output/output-feed.ts';
import { cgroupOf, makeCgroup, removeCgroup } from '../process/cgroup.ts';
import { endProcess } from '../process/end-process.ts';
import { isAlive, type Pid, signalled, type Tree } from '../process/proc.ts';
import {
  connectPtyHost,
  type HostedTerminalEvents,
  hostedTerminal,
  type Link,
  PtyHostRefused,
} from '../pty-host/hosted-terminal.ts';
import type { ViewerAction } from '../pty-host/protocol.ts';
import { ptyHostSocket, startPtyHost } from '../pty-host/start.ts';
import { AgentScreen } from '../screen/agent-screen.ts';
import { readInputMode } from '../screen/input-mode.ts';
import { type Lock, type Occupant, retakeName, takeName } from '../state/lock.ts';
import type { Attached } from '../terminal/foreground.ts';
import { type OutputKind, openTerminal, type Size, type Terminal } from '../terminal/terminal.ts';
import { Supervised } from './agent-instance.ts';
import { AgentMonitor } from './agent-monitor.ts';
import { type AgentSpec, environmentOf, handoverOf, sharedDir } from './agent-spec.ts';
import { Meter, memoryMax } from './limits.ts';
import { before, memoryIn, noMemory, type Past } from './memory.ts';
import { makeShared } from './shared-files.ts';

/** An instance to be started or taken over. */
export type InstanceStart = {
  readonly spec: AgentSpec;
  readonly deps: AgentDeps;
  readonly lock: Lock;
  readonly past: Past;
  readonly size: Size;
  /** VIGIL_SOCKET */
  readonly socket: string;
  /** the folder of its cgroup; null: it has none */
  readonly cgroup: string | null;
  /** an order that another supervisor had begun, and that is carried through */
  readonly again: RepeatableOrder | null;
};

/** How its processes are found. */
const treeParts = ({ socket, cgroup }: InstanceStart): Omit<Tree, 'leader'> => ({ socket, cgroup });

const pauseControlOf = (
  { spec, deps, socket }: InstanceStart,
  terminal: Terminal,
  monitor: AgentMonitor,
): PauseControl => {
  const pauseControl: PauseControl = new PauseControl({
    ...spec,
    signal: terminal.signal,
    get env() {
      return { ...environmentOf(spec, sharedDir(spec, deps), socket), VIGIL_PID: String(terminal.pid.pid) };
    },
    onChange: () => {
      monitor.paused = pauseControl.isPaused;
    },
    record: pauseRecordOf(deps.dir, spec.instanceId),
    clock: deps.clock,
    logger: deps.logger,
  });
  monitor.paused = pauseControl.isPaused;
  return pauseControl;
};

/** The screen as it was, where another supervisor has watched it. */
const drawnScreen = ({ spec, deps, past, size }: InstanceStart, leader: () => Pid | null): AgentScreen => {
  const readMode = () => {
    const pid = leader();
    return pid === null ? Promise.resolve(null) : readInputMode(pid);
  };
  const client = clientOf(deps.clients, spec);
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
  let instance: Supervised | null = null;
  const meter = new Meter(spec.limits, deps.clock, memory.startedAt, memory.read);
  const drawn = drawnScreen(beginning, () => instance?.terminal.pid ?? null);
  const monitor = new AgentMonitor(spec, deps, meter, past, drawn, {
    onHeartbeat: () => instance?.remember(),
    onFinding: (finding) => instance?.found(finding),
  });
  const feed = new OutputFeed({ judge: monitor.judge, drawn: () => drawn.drawn }, deps.clock.monotonic);
  const hookResponder = new HookResponder(monitor, spec.nudge, new HookRequests(spec, deps));
  const socket = await openSocket(beginning.socket, hookResponder.socketHandlers, spec.user);
  try {
    const early: ViewerAction[] = [];
    const action: HostedTerminalEvents['action'] = (one) =>
      void (instance === null ? early.push(one) : performViewerAction(instance, deps, one));
    const terminal = await open({ output: (chunk) => feed.push(chunk), action });
    feed.from(terminal);
    meter.started({ ...treeParts(beginning), leader: terminal.pid });
    lock.has({ child: terminal.pid });
    const pauseControl = pauseControlOf(beginning, terminal, monitor);
    const own = { spec, deps, socket, tree: treeParts(beginning), lock };
    const parts = { ...own, monitor, hookResponder, terminal, pauseControl, meter, feed };
    instance = new Supervised(parts, memory, again);
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
  const planned = cgroupOf(deps.cgroups, instanceId);
  const processes = { supervisor: deps.self, ptyHost: null, child: null, cgroup: planned };
  const lock = takeName(deps.dir, { ...who, ...processes, endRequestedBy: null });
  const cgroup = makeCgroup(deps.cgroups, instanceId, memoryMax(spec.limits), deps.logger);
  const past = { memory: noMemory(deps.clock.now()), seen: [] };
  return { spec, deps, lock, past, size, socket: socketPath(deps.socketDir, instanceId), cgroup, again: null };
};

/**
 * Opens the agent's terminal. `started`: from now on a process leads the agent's programs, also if the terminal is
 * never opened.
 */
export type Open = (on: HostedTerminalEvents, started: (leader: Pid) => void) => Terminal | Promise<Terminal>;

/** Starts at once. Where that fails, an agent that has started is ended, because no supervisor would know it, and its name is free again. */
export const startInstance = async (beginning: InstanceStart, open: Open): Promise<Supervised> => {
  const { spec, deps, lock, cgroup } = beginning;
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
    const tree = treeParts(beginning);
    const isGone = leader === null || (await endProcess({ ...tree, leader }, patience, deps.clock)).confirmed;
    // The lock of one that could not be ended leads the next supervisor to it.
    if (isGone) lock.release();
    if (isGone && cgroup !== null) removeCgroup(cgroup);
    throw error;
  });
  const { agentId, instanceId, taskId, attempt } = spec;
  deps.logger('an agent has started', { agentId, instanceId, taskId, attempt, pid: instance.terminal.pid.pid });
  instance.begin();
  return instance;
};

/** A client that runs one prompt adapts to a terminal: it writes escape sequences there, also to its errors. */
const printsTo = (deps: AgentDeps, spec: AgentSpec, isPiped: boolean): OutputKind => {
  const invocation = clientOf(deps.clients, spec)?.invocation;
  if (!isPiped) return invocation?.streamsEvents === true ? 'raw' : 'terminal';
  return invocation?.headless === true ? 'pipe' : 'raw';
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
  // Its groups would be those of this process.
  if (spec.user !== null) throw new WrongSettings('only an agent of `vigil runtime` runs as another user');
  const instance = newInstance(spec, deps, size);
  const env = environmentOf(spec, deps.dir, instance.socket);
  let from = 0;
  return startInstance(instance, (on) =>
    openTerminal({ ...spec, env, cgroup: instance.cgroup, prints: printsTo(deps, spec, isPiped) }, size, (data) => {
      on.output({ from, at: deps.clock.now(), data });
      from += data.length;
      output(data);
    }),
  );
};

/** Output that a PTY host keeps for the next supervisor and for viewers, bytes. */
const RING_BYTES = 1 << 20;

/** What the next supervisor has no other source for. The PTY host keeps it in memory, because a spec's environment may contain keys. */
type Kept = { readonly spec: AgentSpec; readonly socket: string; readonly startedAt: number };

/**
 * Starts an agent on a terminal that a process of its own holds, so that the agent outlives this supervisor.
 * @throws as supervise; and where the PTY host does not start
 */
export const superviseHosted = (given: AgentSpec, deps: AgentDeps, size: Size): Promise<Supervised> => {
  const { user, handover } = given;
  const isCopied = user !== null && handover !== null;
  const spec = isCopied ? { ...given, handover: handoverOf(deps.socketDir, given.instanceId) } : given;
  const instance = newInstance(spec, deps, size);
  const { agentId, instanceId, command, args, cwd } = spec;
  const kept: Kept = { spec, socket: instance.socket, startedAt: instance.past.memory.startedAt };
  const env = environmentOf(spec, sharedDir(spec, deps), instance.socket);
  const { cgroup } = instance;
  const what = { agentId, instanceId, command, args, cwd, env, cgroup, user, prints: printsTo(deps, spec, false) };
  const path = ptyHostSocket(deps.dir, instanceId);
  const open: Open = async (on, started) => {
    if (user !== null) makeShared(given, deps.socketDir, user);
    await startPtyHost(deps.dir, { ...what, size, kept, socket: path, ring: RING_BYTES }, (ptyHost) => {
      started(ptyHost);
      instance.lock.has({ ptyHost });
    });
    return hostedTerminal(
      await connectPtyHost(path, { kind: 'supervisor', self: deps.self }),
      treeParts(instance),
      on,
      deps,
    );
  };
  return startInstance(instance, open);
};

/** The same command as a new instance, by hand: neither its spawn order nor the copies of the earlier instance belong to it. */
export const specAgain = (spec: AgentSpec, instanceId: string): AgentSpec => ({
  ...spec,
  instanceId,
  orderId: null,
  handover: spec.user === null ? spec.handover : null,
});

const linkTo = async (
  { dir, self, logger }: AgentDeps,
  { agentId, instanceId, ptyHost }: Occupant,
): Promise<Link | null> => {
  if (ptyHost === null || !isAlive(ptyHost)) return null;
  try {
    const link = await connectPtyHost(ptyHostSocket(dir, instanceId), { kind: 'supervisor', self });
    const { hosted } = link;
    if (hosted.instanceId === instanceId && hosted.ptyHost.pid === ptyHost.pid) return link;
    link.close();
    throw new Error(`it holds ${hosted.instanceId} as process ${hosted.ptyHost.pid}`);
  } catch (error) {
    if (error instanceof PtyHostRefused) throw new AlreadySupervised(`agent ${agentId}: ${error.message}`);
    const why = { agentId, ptyHost: ptyHost.pid, error: String(error) };
    logger('the PTY host of an agent cannot be used, and is ended', why);
    signalled(ptyHost.pid, 'SIGKILL');
    return null;
  }
};

/**
 * Continues to supervise an agent whose supervisor died: the same instance, from its kept state and the output since.
 * It sends no heartbeats yet. Null: its terminal died too. `again`: the order that had been begun.
 * @throws AlreadySupervised where another supervisor was first
 */
export const takeOver = async (
  deps: AgentDeps,
  orphan: Occupant,
  again: RepeatableOrder | null,
): Promise<Supervised | null> => {
  const link = await linkTo(deps, orphan);
  if (link === null) return null;
  try {
    const { spec: kept, socket, startedAt } = link.hosted.kept as Kept;
    // An earlier version kept no user and no work source.
    const spec = { ...kept, user: kept.user ?? null, workSource: kept.workSource ?? null };
    const memory = memoryIn(link.hosted.note, startedAt);
    const past = { memory, seen: before(await link.kept, memory.read) };
    const { size, next, child } = link.hosted;
    const lock = retakeName(deps.dir, { ...orphan, supervisor: deps.self, child });
    const { cgroup } = orphan;
    const start: InstanceStart = { spec, deps, lock, past, size, socket, cgroup, again };
    const instance = await assemble(start, (on) => hostedTerminal(link, treeParts(start), on, deps));
    const { agentId, instanceId } = spec;
    const unread = next - memory.read;
    deps.logger('an agent is supervised again', { agentId, instanceId, pid: instance.terminal.pid.pid, unread });
    return instance;
  } catch (error) {
    // Its PTY host accepts one supervisor at a time.
    link.leave();
    throw error;
  }
};

const CTRL_C = 0x03;
/** How long an agent that a person ends has to leave by itself, milliseconds. */
const GRACE_MS = 5000;

const ENTER = 0x0d;
const NEW_LINE = 0x0a;

/** What each viewer has typed since it was last reported, bytes. */
const unreported = new WeakMap<Supervised, Map<string, number>>();

type ViewerDeps = Pick<AgentDeps, 'logger' | 'outbox' | 'clock'>;
type Use = Extract<Report, { readonly type: 'TERMINAL_USED' }>['payload']['use'];

/** Logs the use of a terminal by a person, and reports it to Vigil. */
const reportUse = (
  { spec }: Supervised,
  { logger, outbox, clock }: ViewerDeps,
  by: string,
  use: Use,
  bytes = 0,
): void => {
  const { agentId, instanceId, taskId, runtimeId } = spec;
  logger(USES[use], { agentId, instanceId, who: by, ...(use === 'typed' && { bytes }) });
  const payload = { agentId, instanceId, taskId, runtimeId, by, use, bytes, at: clock.now() };
  outbox.put({ type: 'TERMINAL_USED', payload });
};

const USES: Readonly<Record<Use, string>> = {
  UNKNOWN: 'a viewer uses an agent’s terminal',
  opened: 'a viewer may type at an agent’s terminal',
  typed: 'a viewer has typed at an agent’s terminal',
  left: 'a viewer has left an agent’s terminal',
};

/** Reports the length of what a viewer has typed, once a line. The text may be a secret. */
const reportTyped = (instance: Supervised, deps: ViewerDeps, who: string, bytes: number, isLine: boolean): void => {
  const typed = unreported.get(instance) ?? new Map<string, number>();
  unreported.set(instance, typed);
  const total = (typed.get(who) ?? 0) + bytes;
  typed.set(who, isLine ? 0 : total);
  if (isLine && total > 0) reportUse(instance, deps, who, 'typed', total);
};

/** Carries out what a person at an attached terminal does. Vigil's events have who came, typed how much, and left. */
export const performViewerAction = (instance: Supervised, deps: ViewerDeps, action: ViewerAction): void => {
  const { agentId, instanceId } = instance.spec;
  const note = (message: string) => deps.logger(message, { agentId, instanceId, who: action.who });
  switch (action.kind) {
    case 'opens':
      reportUse(instance, deps, action.who, 'opened');
      return;
    case 'leaves':
      reportTyped(instance, deps, action.who, 0, true);
      reportUse(instance, deps, action.who, 'left');
      return;
    case 'types': {
      const keys = Buffer.from(action.input, 'base64');
      const isLine = [ENTER, NEW_LINE, CTRL_C].some((key) => keys.includes(key));
      reportTyped(instance, deps, action.who, keys.length, isLine);
      if (keys.includes(CTRL_C)) instance.interrupted(`Ctrl-C by ${action.who} at its terminal`);
      instance.terminal.write(keys);
      return;
    }
    case 'resizes':
      instance.resize(action.size);
      return;
    case 'ends':
      note('a viewer ends an agent');
      void instance.end(stoppedBy(action.who), action.graceMs ?? GRACE_MS);
      return;
    case 'restarts':
      note('a viewer restarts an agent');
      void instance.restart(restartedBy(action.who), action.graceMs ?? GRACE_MS);
  }
};
