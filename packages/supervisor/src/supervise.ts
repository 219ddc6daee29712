import type { OrderReceiptPayload } from '@vigil/events';
import { type AgentSpec, environmentOf, type World } from './agent.ts';
import { type Asked, type Conclusion, conclude, describe, exitReport } from './conclude.ts';
import { type Ending, endProcess } from './ending.ts';
import { type Body, Hands, type Terminate } from './hands.ts';
import { HookDesk } from './hook-desk.ts';
import { type Lock, takeName } from './lock.ts';
import type { AgentOrder } from './order.ts';
import { type AgentSocket, openSocket, socketPath } from './socket.ts';
import { asOneLine, type Exit, openTerminal, type Size, type Terminal } from './terminal.ts';
import { Watch } from './watch.ts';

/** How often questions and waiting orders are looked at again, milliseconds. */
const lookEveryMs = 250;
/** How long the last heartbeats may take before the end is reported without them, milliseconds. */
const lastBeatsMs = 1500;

export type Supervised = {
  readonly spec: AgentSpec;
  readonly terminal: Terminal;
  readonly offer: (order: AgentOrder, expiresInMs: number) => void;
  /** somebody at the terminal has pressed Ctrl-C: an end by SIGINT is what they wanted */
  readonly interrupted: () => void;
  /** ends the agent on behalf of `by`: asked, then SIGTERM after the grace, then SIGKILL */
  readonly end: (by: string, graceMs: number) => Promise<Ending>;
  /** marks the end as asked for, without doing anything for it */
  readonly expectEnd: (by: string) => void;
  /** resolves when the report of its end is on its way */
  readonly ended: Promise<Conclusion>;
  /** resolves when the orders that were under way at its end are answered too */
  readonly settled: Promise<void>;
  readonly isOver: () => boolean;
};

type Parts = {
  readonly spec: AgentSpec;
  readonly world: World;
  readonly socket: AgentSocket;
  readonly watch: Watch;
  readonly desk: HookDesk;
  readonly terminal: Terminal;
};

class Life implements Supervised {
  readonly #parts: Parts;
  readonly #hands: Hands;
  readonly ended: Promise<Conclusion>;
  readonly settled: Promise<void>;
  #isOver = false;
  #asked: Asked | null = null;
  #interrupted = false;
  #how: string | null = null;

  constructor(parts: Parts, lock: Lock) {
    this.#parts = parts;
    this.#hands = new Hands(this.#body(), parts.world);
    parts.desk.serve(this.#hands);
    const looking = setInterval(() => this.#lookAgain(), lookEveryMs);
    this.ended = parts.terminal.exited.then((exit) => {
      clearInterval(looking);
      return this.#over(exit).finally(() => {
        lock.release();
        this.#isOver = true;
      });
    });
    this.settled = this.ended.then(() => this.#hands.settled());
  }

  get spec(): AgentSpec {
    return this.#parts.spec;
  }
  get terminal(): Terminal {
    return this.#parts.terminal;
  }
  isOver = (): boolean => this.#isOver;

  #lookAgain(): void {
    this.#parts.watch.lookAgain();
    this.#hands.lookAgain();
  }

  #body(): Body {
    const { spec, watch, desk, terminal, socket } = this.#parts;
    return {
      pid: terminal.pid,
      process: () => ({
        instanceId: spec.instanceId,
        ended: this.#how,
        progress: watch.progress,
        channel: spec.nudge === 'auto' ? (socket.hasClient() ? 'socket' : 'terminal') : spec.nudge,
        atQuestion: watch.atQuestion,
        quiet: watch.isQuiet,
      }),
      type: (text) => {
        const line = `${asOneLine(text)}\r`;
        watch.screen.typing(line);
        terminal.write(line);
      },
      push: socket.push,
      resetBreaker: (name) => desk.reset(name),
      stop: () => {
        terminal.signal('SIGSTOP');
        watch.paused = true;
      },
      go: () => {
        terminal.signal('SIGCONT');
        watch.paused = false;
      },
      end: (order) => this.#endByOrder(order),
    };
  }

  async #endByOrder(order: Terminate): Promise<Partial<OrderReceiptPayload>> {
    const { graceMs, reason } = order.payload;
    this.#asked = { by: reason, order };
    const ending = await this.#end(reason, graceMs);
    if (!ending.confirmed)
      return { ...ending, why: 'SIGKILL did not end it', lastOutput: this.#parts.watch.lastOutput };
    const { exit, checkpoint, claimsReleased, forensics, lastOutput } = await this.ended;
    const work = { completedWork: checkpoint?.completedWork ?? [], remainingWork: checkpoint?.remainingWork ?? [] };
    return { ...ending, ...exit, ...work, checkpoint, claimsReleased, forensics, lastOutput };
  }

  #end(reason: string, graceMs: number): Promise<Ending> {
    const { socket, terminal, world } = this.#parts;
    socket.push({ type: 'shutdown_request', reason });
    return endProcess(terminal.pid, { graceMs, killAfterMs: world.killAfterMs }, world.clock);
  }

  offer(order: AgentOrder, expiresInMs: number): void {
    this.#hands.offer(order, expiresInMs);
  }

  interrupted(): void {
    this.#interrupted = true;
  }

  expectEnd(by: string): void {
    this.#asked ??= { by, order: null };
  }

  end(by: string, graceMs: number): Promise<Ending> {
    this.expectEnd(by);
    return this.#end(by, graceMs);
  }

  /** What still waits is answered, the last heartbeats go out, and then the end is reported. */
  async #over(exit: Exit): Promise<Conclusion> {
    const { spec, world, watch, socket } = this.#parts;
    if (this.#interrupted && (exit.signal === 'SIGINT' || exit.code === 130)) this.expectEnd('Ctrl-C at its terminal');
    this.#how = describe(exit);
    this.#hands.lookAgain();
    const at = world.clock.now();
    await watch.finish(lastBeatsMs);
    await socket.close();
    const end = await conclude(world, spec, watch, exit, this.#asked);
    world.outbox.put(exitReport(spec, end, this.#asked?.order?.payload.orderId ?? null, at));
    world.log('an agent has ended', {
      agentId: spec.agentId,
      instanceId: spec.instanceId,
      reason: end.reason,
      details: end.details,
    });
    return end;
  }
}

/**
 * Starts an agent on its terminal and watches it to its end.
 * @throws AlreadySupervised where its name is taken on this host; WrongSettings for a pattern that RE2 does not take
 */
export const supervise = async (
  spec: AgentSpec,
  world: World,
  size: Size,
  onOutput: (data: Buffer) => void,
): Promise<Supervised> => {
  const { agentId, instanceId, taskId, runtimeId, attempt, orderId } = spec;
  const holder = { agentId, instanceId, taskId, runtimeId, attempt, orderId, supervisor: world.self, child: null };
  const lock = takeName(world.dir, holder);
  const path = socketPath(world.socketDir, instanceId);
  let watch: Watch | null = null;
  try {
    const eyes = new Watch(spec, world);
    watch = eyes;
    const desk = new HookDesk(eyes, spec.nudge, world.clock.now);
    const socket = await openSocket(path, desk.ears);
    const terminal = openTerminal({ ...spec, env: environmentOf(spec, path) }, size, (data) => {
      eyes.output(data);
      onOutput(data);
    });
    lock.started(terminal.pid);
    world.log('an agent has started', { agentId, instanceId, taskId, attempt, pid: terminal.pid.pid });
    return new Life({ spec, world, socket, watch, desk, terminal }, lock);
  } catch (error) {
    await watch?.finish(0);
    lock.release();
    throw error;
  }
};
