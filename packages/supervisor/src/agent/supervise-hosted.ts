import type { AgentDeps } from '../deps.ts';
import { AlreadySupervised } from '../errors.ts';
import type { RepeatableOrder } from '../orders/order.ts';
import { isAlive, type Pid, signalled } from '../process/proc.ts';
import { type HostedTerminalEvents, hostedTerminal } from '../pty-host/hosted-terminal.ts';
import { connectPtyHost, type Link, PtyHostRefused } from '../pty-host/link.ts';
import { ptyHostSocket } from '../pty-host/paths.ts';
import { startPtyHost } from '../pty-host/start.ts';
import { printsStream } from '../sessions/event-stream.ts';
import { type Occupant, retakeName } from '../state/lock.ts';
import type { Size, Terminal } from '../terminal/terminal.ts';
import type { Supervised } from './agent-instance.ts';
import { type AgentSpec, environmentOf } from './agent-spec.ts';
import { before, type Memory, noMemory } from './memory.ts';
import { assemble, newInstance, type Open, startInstance } from './supervise.ts';

/** Output that a PTY host keeps for the next supervisor and for viewers, bytes. */
const ringBytes = 1 << 20;

/** What the next supervisor has no other source for. The PTY host keeps it in memory, because a spec's environment may contain keys. */
type Kept = { readonly spec: AgentSpec; readonly socket: string; readonly startedAt: number };

const terminalOf = (
  link: Link,
  socket: string,
  on: HostedTerminalEvents,
  { killAfterMs, clock }: AgentDeps,
): Terminal => hostedTerminal(link, socket, on, { killAfterMs, clock });

/**
 * Starts an agent on a terminal that a process of its own holds, so that the agent outlives this supervisor.
 * @throws as supervise; and where the PTY host does not start
 */
export const superviseHosted = (spec: AgentSpec, deps: AgentDeps, size: Size): Promise<Supervised> => {
  const instance = newInstance(spec, deps, size);
  const { agentId, instanceId, command, args, cwd } = spec;
  const kept: Kept = { spec, socket: instance.socket, startedAt: instance.past.memory.startedAt };
  const env = environmentOf(spec, deps.dir, instance.socket);
  const what = {
    agentId,
    instanceId,
    command,
    args,
    cwd,
    env,
    prints: printsStream(deps, spec) ? 'raw' : 'terminal',
  } as const;
  const path = ptyHostSocket(deps.dir, instanceId);
  const open: Open = async (on, started) => {
    await startPtyHost(deps.dir, { ...what, size, kept, socket: path, ring: ringBytes }, (ptyHost) => {
      started(ptyHost);
      instance.lock.has({ ptyHost });
    });
    return terminalOf(await connectPtyHost(path, { kind: 'supervisor', self: deps.self }), instance.socket, on, deps);
  };
  return startInstance(instance, open);
};

type Found = { readonly link: Link; readonly ptyHost: Pid };

const reach = async (
  { dir, self, log }: AgentDeps,
  { agentId, instanceId, ptyHost }: Occupant,
): Promise<Found | null> => {
  if (ptyHost === null || !isAlive(ptyHost)) return null;
  try {
    const link = await connectPtyHost(ptyHostSocket(dir, instanceId), { kind: 'supervisor', self });
    const { hosted } = link;
    if (hosted.instanceId === instanceId && hosted.ptyHost.pid === ptyHost.pid) return { link, ptyHost };
    link.close();
    throw new Error(`it holds ${hosted.instanceId} as process ${hosted.ptyHost.pid}`);
  } catch (error) {
    if (error instanceof PtyHostRefused) throw new AlreadySupervised(`agent ${agentId}: ${error.message}`);
    log('the PTY host of an agent cannot be used, and is ended', {
      agentId,
      ptyHost: ptyHost.pid,
      error: String(error),
    });
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
  const found = await reach(deps, orphan);
  if (found === null) return null;
  const { link, ptyHost } = found;
  try {
    const { spec, socket, startedAt } = link.hosted.kept as Kept;
    const memory = (link.hosted.note as Memory | null) ?? noMemory(startedAt);
    const past = { memory, seen: before(await link.kept, memory.read) };
    const { size, next } = link.hosted;
    const lock = retakeName(deps.dir, { ...orphan, supervisor: deps.self, ptyHost, child: link.hosted.child });
    const instance = await assemble({ spec, deps, lock, past, size, socket, again }, (on) =>
      terminalOf(link, socket, on, deps),
    );
    const { agentId, instanceId } = spec;
    const unread = next - memory.read;
    deps.log('an agent is supervised again', { agentId, instanceId, pid: instance.terminal.pid.pid, unread });
    return instance;
  } catch (error) {
    // Its PTY host accepts one supervisor at a time.
    link.leave();
    throw error;
  }
};
