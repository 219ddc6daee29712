import type { OrderReceiptPayload } from '@vigil/events';
import { type AgentSpec, environmentOf, type World } from './agent.ts';
import { askToLeave, bodyOf, type LifeParts } from './body.ts';
import { type Asked, type Conclusion, conclude, describe, exitReport, handedOff } from './conclude.ts';
import { type Ending, endProcess } from './ending.ts';
import { Hands, type Terminate } from './hands.ts';
import { Hold } from './hold.ts';
import { holdRecordOf } from './hold-record.ts';
import { HookDesk } from './hook-desk.ts';
import { type Lock, takeName } from './lock.ts';
import { Meter } from './meter.ts';
import type { AgentOrder } from './order.ts';
import { openSocket, socketPath } from './socket.ts';
import { type Exit, openTerminal, type Size, type Terminal } from './terminal.ts';
import { Watch } from './watch.ts';

/** How often questions and waiting orders are looked at again, milliseconds. */
const lookEveryMs = 250;
/** How long the last heartbeats may take before the end is reported without them, milliseconds. */
const lastBeatsMs = 1500;
/** How long one that is over a limit has to leave by itself, milliseconds. */
const overLimitGraceMs = 2000;

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

type Parts = LifeParts & { readonly world: World; readonly meter: Meter };

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
    const body = bodyOf(
      parts,
      () => this.#how,
      (order) => this.#endByOrder(order),
    );
    this.#hands = new Hands(body, parts.world);
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
    this.#parts.hold.lookAgain();
    const over = this.#asked === null ? this.#parts.meter.over : null;
    if (over === null) return;
    this.#asked = { by: over, reason: 'resource_limit', orderId: null, order: null };
    void this.#end(over, overLimitGraceMs);
  }

  async #endByOrder(order: Terminate): Promise<Partial<OrderReceiptPayload>> {
    const { graceMs, reason } = order.payload;
    this.#asked = { by: reason, reason: 'explicit', orderId: order.payload.orderId, order };
    const ending = await this.#end(reason, graceMs);
    if (!ending.confirmed)
      return { ...ending, why: 'SIGKILL did not end it', lastOutput: this.#parts.watch.lastOutput };
    const { exit, checkpoint, claimsReleased, forensics, lastOutput } = await this.ended;
    const work = { completedWork: checkpoint?.completedWork ?? [], remainingWork: checkpoint?.remainingWork ?? [] };
    return { ...ending, ...exit, ...work, checkpoint, claimsReleased, forensics, lastOutput };
  }

  /** One that is paused goes on first: it could neither hear nor leave. */
  async #end(reason: string, graceMs: number): Promise<Ending> {
    const { terminal, world, hold } = this.#parts;
    if (hold.isPaused) await hold.go();
    askToLeave(this.#parts, reason, world.log);
    return endProcess(terminal.pid, { graceMs, killAfterMs: world.killAfterMs }, world.clock);
  }

  offer(order: AgentOrder, expiresInMs: number): void {
    this.#hands.offer(order, expiresInMs);
  }

  interrupted(): void {
    this.#interrupted = true;
  }

  expectEnd(by: string): void {
    this.#asked ??= { by, reason: 'explicit', orderId: null, order: null };
  }

  end(by: string, graceMs: number): Promise<Ending> {
    this.expectEnd(by);
    return this.#end(by, graceMs);
  }

  /** What still waits is answered, the last heartbeats go out, and then the end is reported. */
  async #over(exit: Exit): Promise<Conclusion> {
    const { spec, world, watch, socket, hold } = this.#parts;
    if (this.#interrupted && (exit.signal === 'SIGINT' || exit.code === 130)) this.expectEnd('Ctrl-C at its terminal');
    this.#how = describe(exit);
    this.#asked ??= handedOff(exit, this.#hands.handedOff, watch);
    this.#hands.lookAgain();
    const at = world.clock.now();
    hold.forget();
    await watch.finish(lastBeatsMs);
    await socket.close();
    const end = await conclude(world, spec, watch, exit, this.#asked);
    world.outbox.put(exitReport(spec, end, this.#asked?.orderId ?? null, at));
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
    const meter = new Meter(spec.limits, world.clock);
    const eyes = new Watch(spec, world, meter);
    watch = eyes;
    const desk = new HookDesk(eyes, spec.nudge, world.clock.now);
    const socket = await openSocket(path, desk.ears);
    const terminal = openTerminal({ ...spec, env: environmentOf(spec, path) }, size, (data) => {
      eyes.output(data);
      onOutput(data);
    });
    meter.started(terminal.pid);
    lock.started(terminal.pid);
    world.log('an agent has started', { agentId, instanceId, taskId, attempt, pid: terminal.pid.pid });
    const hold: Hold = new Hold({
      ...spec,
      signal: terminal.signal,
      env: { ...environmentOf(spec, path), VIGIL_PID: String(terminal.pid.pid) },
      onChange: () => {
        eyes.paused = hold.isPaused;
      },
      record: holdRecordOf(world.dir, instanceId),
      clock: world.clock,
      log: world.log,
    });
    eyes.paused = hold.isPaused;
    return new Life({ spec, world, socket, watch, desk, terminal, hold, meter }, lock);
  } catch (error) {
    await watch?.finish(0);
    lock.release();
    throw error;
  }
};
