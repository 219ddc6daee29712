import type { AgentDeps } from '../deps.ts';
import { AlreadySupervised } from '../errors.ts';
import type { Again } from '../orders/order.ts';
import { isAlive, type Pid, signalled } from '../process/proc.ts';
import { heldTerminal, type OnHeld } from '../pty-host/hosted-terminal.ts';
import { connectHolder, HolderRefused, type Link } from '../pty-host/link.ts';
import { holderSocket } from '../pty-host/paths.ts';
import { startHolder } from '../pty-host/start.ts';
import { printsStream } from '../sessions/event-stream.ts';
import { type Occupant, retakeName } from '../state/lock.ts';
import type { Size, Terminal } from '../terminal/terminal.ts';
import type { Supervised } from './agent-instance.ts';
import { type AgentSpec, environmentOf } from './agent-spec.ts';
import { before, type Memory, noMemory } from './memory.ts';
import { assemble, begun, newLife, type Open } from './supervise.ts';

/** Output that a holder keeps for the next supervisor and for whoever attaches, bytes. */
const ringBytes = 1 << 20;

/** What the next supervisor cannot know from anywhere else; in the holder's memory, for a spec's environment may hold keys. */
type Kept = { readonly spec: AgentSpec; readonly socket: string; readonly startedAt: number };

const terminalOf = (link: Link, socket: string, on: OnHeld, { killAfterMs, clock }: AgentDeps): Terminal =>
  heldTerminal(link, socket, on, { killAfterMs, clock });

/**
 * Starts an agent on a terminal that a process of its own holds, so that the agent outlives this supervisor.
 * @throws as supervise; and where the holder does not start
 */
export const superviseHeld = (spec: AgentSpec, world: AgentDeps, size: Size): Promise<Supervised> => {
  const life = newLife(spec, world, size);
  const { agentId, instanceId, command, args, cwd } = spec;
  const kept: Kept = { spec, socket: life.socket, startedAt: life.past.memory.startedAt };
  const env = environmentOf(spec, world.dir, life.socket);
  const what = { agentId, instanceId, command, args, cwd, env, rawOutput: printsStream(world, spec) };
  const path = holderSocket(world.dir, instanceId);
  const open: Open = async (on, started) => {
    await startHolder(world.dir, { ...what, size, kept, socket: path, ring: ringBytes }, (holder) => {
      started(holder);
      life.lock.has({ holder });
    });
    return terminalOf(await connectHolder(path, { as: 'supervisor', self: world.self }), life.socket, on, world);
  };
  return begun(life, open);
};

type Found = { readonly link: Link; readonly holder: Pid };

const reach = async (
  { dir, self, log }: AgentDeps,
  { agentId, instanceId, holder }: Occupant,
): Promise<Found | null> => {
  if (holder === null || !isAlive(holder)) return null;
  try {
    const link = await connectHolder(holderSocket(dir, instanceId), { as: 'supervisor', self });
    const { holding } = link;
    if (holding.instanceId === instanceId && holding.holder.pid === holder.pid) return { link, holder };
    link.close();
    throw new Error(`it holds ${holding.instanceId} as process ${holding.holder.pid}`);
  } catch (error) {
    if (error instanceof HolderRefused) throw new AlreadySupervised(`agent ${agentId}: ${error.message}`);
    log('the holder of an agent cannot be used, and is ended', { agentId, holder: holder.pid, error: String(error) });
    signalled(holder.pid, 'SIGKILL');
    return null;
  }
};

/**
 * Goes on supervising an agent whose supervisor has died: the same life, from what that one knew, over what was printed since.
 * It does not beat yet. Null: its terminal died too. `again`: the order that had been begun.
 * @throws AlreadySupervised where another supervisor was first
 */
export const takeOver = async (world: AgentDeps, orphan: Occupant, again: Again | null): Promise<Supervised | null> => {
  const found = await reach(world, orphan);
  if (found === null) return null;
  const { link, holder } = found;
  try {
    const { spec, socket, startedAt } = link.holding.kept as Kept;
    const memory = (link.holding.note as Memory | null) ?? noMemory(startedAt);
    const past = { memory, seen: before(await link.kept, memory.read) };
    const { size, next } = link.holding;
    const lock = retakeName(world.dir, { ...orphan, supervisor: world.self, holder, child: link.holding.child });
    const life = await assemble({ spec, world, lock, past, size, socket, again }, (on) =>
      terminalOf(link, socket, on, world),
    );
    const { agentId, instanceId } = spec;
    const unread = next - memory.read;
    world.log('an agent is supervised again', { agentId, instanceId, pid: life.terminal.pid.pid, unread });
    return life;
  } catch (error) {
    // Its holder takes one supervisor at a time.
    link.leave();
    throw error;
  }
};
