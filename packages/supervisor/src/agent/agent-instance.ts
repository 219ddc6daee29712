import { bareConclusion, type Conclusion, conclude, exitReport } from '../exit/exit-handling.ts';
import { type Asked, describe, handedOff } from '../exit/exit-reason.ts';
import { keepPastLife } from '../exit/previous-run.ts';
import { resumptionOf } from '../orders/client-control.ts';
import type { Again, AgentOrder, Outcome, ResumeSession, Terminate } from '../orders/order.ts';
import { Hands } from '../orders/order-executor.ts';
import { type Ending, endLeft, endProcess } from '../process/end-process.ts';
import { signalled, type Tree } from '../process/proc.ts';
import type { Lock } from '../state/lock.ts';
import type { Exit, Size, StartedNext, Terminal } from '../terminal/terminal.ts';
import { askToLeave, bodyOf, type LifeParts } from './agent-process.ts';
import type { AgentSpec } from './agent-spec.ts';
import type { Memory } from './memory.ts';
import type { Meter } from './meter.ts';

/** How often questions and waiting orders are looked at again, milliseconds. */
const lookEveryMs = 250;
/** How long the last heartbeats may take before the end is reported without them, milliseconds. */
const lastBeatsMs = 1500;
/** How long one that is over a limit has to leave by itself, milliseconds. */
const overLimitGraceMs = 2000;

export type Supervised = {
  readonly spec: AgentSpec;
  readonly terminal: Terminal;
  /** from now on it beats */
  readonly begin: () => void;
  readonly offer: (order: AgentOrder, expiresInMs: number) => void;
  /** the order is not to be begun; of a resume: its words are not to be told */
  readonly recall: (order: AgentOrder) => void;
  readonly resize: (size: Size) => void;
  /** somebody at the terminal has pressed Ctrl-C, `by` as it is put down: an end by SIGINT is what they wanted */
  readonly interrupted: (by: string) => void;
  /** ends the agent on behalf of `by`: asked, then SIGTERM after the grace, then SIGKILL */
  readonly end: (by: string, graceMs: number) => Promise<Ending>;
  /** marks the end as asked for, without doing anything for it; one that has come by then is what it was */
  readonly expectEnd: (by: string) => void;
  /** resolves when the report of its end is on its way */
  readonly ended: Promise<Conclusion>;
  /** resolves when the orders that were under way at its end are answered too */
  readonly settled: Promise<void>;
  readonly isOver: () => boolean;
  /** an agent that is a sub-agent of this one */
  readonly hasSubagent: (agentId: string) => boolean;
};

type Parts = LifeParts & { readonly meter: Meter; readonly lock: Lock };
/** What a life goes on from; `again`: the order that another supervisor had begun, and that is carried through. */
type Before = { readonly memory: Memory; readonly again: Again | null };

export class Life implements Supervised {
  readonly #parts: Parts;
  readonly #hands: Hands;
  readonly ended: Promise<Conclusion>;
  readonly settled: Promise<void>;
  readonly #startedAt: number;
  /** of the process that runs now; epoch milliseconds */
  #processStartedAt: number;
  /** a process that is being started in the place of another */
  #starting: Promise<unknown> = Promise.resolve();
  #isOver = false;
  #asked: Asked | null;
  #remembered = '';
  #interrupted: string | null = null;
  #how: string | null = null;
  #ending: Promise<unknown> | null = null;

  constructor(parts: Parts, { memory, again }: Before) {
    this.#parts = parts;
    this.#asked = memory.asked;
    this.#startedAt = memory.startedAt;
    this.#processStartedAt = memory.startedAt;
    const body = bodyOf(parts, () => this.#how, {
      end: (order) => this.#endByOrder(order),
      resumeSession: (order) => this.#resumeSession(order),
    });
    this.#hands = new Hands(body, parts.world, memory);
    parts.desk.serve(this.#hands);
    const looking = setInterval(() => this.#lookAgain(), lookEveryMs);
    this.ended = parts.terminal.exited.then((exit) => {
      clearInterval(looking);
      return this.#over(exit).finally(() => {
        this.#isOver = true;
        this.#letNameGo();
      });
    });
    this.settled = this.ended.then(() => this.#hands.settled());
    if (again) this.#hands.carryThrough(again);
    if (again?.type !== 'TERMINATE_AGENT' && memory.asked?.order === null) void this.#end(memory.asked.by, 0);
  }

  begin = (): void => this.#parts.watch.begin();

  /** The next supervisor goes on from here: its last heartbeat's number is never taken twice. */
  remember(): void {
    const { watch, terminal } = this.#parts;
    const [startedAt, asked] = [this.#startedAt, this.#asked];
    terminal.note({ ...watch.memory, ...this.#hands.memory, startedAt, asked } satisfies Memory);
  }

  #rememberChanges(): void {
    const { highestNumber, handedOff } = this.#hands.memory;
    const now = `${this.#parts.watch.changes} ${highestNumber} ${handedOff}`;
    if (now !== this.#remembered) this.remember();
    this.#remembered = now;
  }

  get spec(): AgentSpec {
    return this.#parts.spec;
  }
  get terminal(): Terminal {
    return this.#parts.terminal;
  }
  isOver = (): boolean => this.#isOver;
  hasSubagent = (agentId: string): boolean => this.#parts.watch.subagents.has(agentId);

  #lookAgain(): void {
    this.#parts.watch.lookAgain(this.#parts.terminal.pid);
    this.#hands.lookAgain();
    this.#parts.hold.lookAgain();
    this.#rememberChanges();
    const over = this.#asked === null ? this.#parts.meter.over : null;
    if (over === null) return;
    this.#asked = { by: over, reason: 'resource_limit', orderId: null, order: null };
    void this.#end(over, overLimitGraceMs);
  }

  async #endByOrder(order: Terminate): Promise<Outcome> {
    const { graceMs, reason, orderId } = order.payload;
    this.#asked = { ...(this.#stop ?? { by: reason, reason: 'explicit', orderId }), order };
    const ending = await this.#end(reason, graceMs);
    if (!ending.confirmed) {
      const why = 'it could not be ended, or not be seen to end';
      return ['failed', { ...ending, why, lastOutput: this.#parts.watch.lastOutput }];
    }
    if (this.#stop !== null) return ['superseded', { why: `it was stopped here: ${this.#stop.by}` }];
    const { exit, checkpoint, claimsReleased, forensics, lastOutput } = await this.ended;
    const work = { completedWork: checkpoint?.completedWork ?? [], remainingWork: checkpoint?.remainingWork ?? [] };
    return ['done', { ...ending, ...exit, ...work, checkpoint, claimsReleased, forensics, lastOutput }];
  }

  /** Its end was asked for here, and not by an order. */
  get #stop(): Asked | null {
    return this.#asked?.reason === 'explicit' && this.#asked.orderId === null ? this.#asked : null;
  }

  #end(reason: string, graceMs: number): Promise<Ending> {
    const ending = this.#endNow(reason, graceMs);
    this.#ending = ending.catch(() => {});
    return ending;
  }

  /** One that is paused goes on first: it could neither hear nor leave. */
  async #endNow(reason: string, graceMs: number): Promise<Ending> {
    const { terminal, world, hold } = this.#parts;
    this.remember();
    this.#parts.watch.ends();
    terminal.dropNext();
    await this.#starting;
    if (hold.isPaused) await hold.go();
    askToLeave(this.#parts, reason, world.log);
    return endProcess(this.#tree, { graceMs, killAfterMs: world.killAfterMs }, world.clock);
  }

  get #tree(): Tree {
    return { leader: this.#parts.terminal.pid, socket: this.#parts.address };
  }

  /** Once for each order: whatever a supervisor that has died since had done of it is not done again. */
  async #resumeSession(order: ResumeSession): Promise<Outcome> {
    const { terminal } = this.#parts;
    const { orderId } = order.payload;
    const before = terminal.startedNext();
    if (before?.id === orderId) return this.#resumed(before);
    if (this.#asked !== null) return ['superseded', { why: `its end was asked for: ${this.#asked.by}` }];
    return this.#replaceProcess(order);
  }

  async #replaceProcess({ payload: { orderId, message, graceMs } }: ResumeSession): Promise<Outcome> {
    const { terminal, world, spec, watch, hold } = this.#parts;
    const resumption = resumptionOf(world.clients, spec, watch.client, message);
    if (resumption.kind === 'impossible') {
      // A supervisor that has died may have prepared it.
      terminal.dropNext();
      return ['failed', { why: resumption.why }];
    }
    terminal.prepareNext({ id: orderId, ...resumption.line });
    this.remember();
    if (hold.isPaused) await hold.go();
    signalled(-terminal.pid.pid, 'SIGINT');
    const ending = await endProcess(this.#tree, { graceMs, killAfterMs: world.killAfterMs }, world.clock);
    if (this.#asked !== null || !ending.confirmed) {
      terminal.dropNext();
      if (this.#asked !== null) return ['superseded', { why: `its end was asked for: ${this.#asked.by}` }];
      return ['failed', { why: 'its processes could not be ended, or not be seen to end' }];
    }
    const starting = Promise.race([terminal.startNext(orderId), terminal.exited.then(() => null)]);
    this.#starting = starting.catch(() => {});
    const started = await starting;
    return started === null ? ['failed', { why: 'the terminal of the agent is gone' }] : this.#resumed(started);
  }

  #resumed({ pid }: StartedNext): Outcome {
    const { meter, lock, world, spec } = this.#parts;
    this.#processStartedAt = world.clock.now();
    meter.started(pid);
    try {
      lock.has({ child: pid });
    } catch (error) {
      // Its holder has it too.
      world.log('the lock of an agent has the process of before', { agentId: spec.agentId, error: String(error) });
    }
    world.log('the session of an agent is resumed', { agentId: spec.agentId, pid: pid.pid });
    return ['done', { why: `process ${pid.pid} continues the session` }];
  }

  /** What it started is not to work on beside whoever comes after it. An end that is under way does that too. */
  async #endLeft(at: number): Promise<string | null> {
    const { world } = this.#parts;
    await this.#ending;
    const patience = { ranMs: at - this.#processStartedAt, killAfterMs: world.killAfterMs };
    return endLeft(this.#tree, patience, world.clock);
  }

  offer(order: AgentOrder, expiresInMs: number): void {
    this.#hands.offer(order, expiresInMs);
  }

  recall(order: AgentOrder): void {
    this.#hands.recall(order);
  }

  resize({ columns, rows }: Size): void {
    this.#parts.watch.drawn.resize({ columns, rows });
    this.#parts.terminal.resize(columns, rows);
  }

  interrupted(by: string): void {
    this.#interrupted = by;
  }

  expectEnd(by: string): void {
    if (this.#how !== null || this.#stop !== null) return;
    // What an order or a limit has begun is a person's end from now on: nobody goes on with the task.
    this.#asked = { by, reason: 'explicit', orderId: null, order: this.#asked?.order ?? null };
  }

  end(by: string, graceMs: number): Promise<Ending> {
    this.expectEnd(by);
    return this.#end(by, graceMs);
  }

  /** The next life goes on without it where the disk is full: the end is reported all the same. */
  #keepPastLife(end: Conclusion): void {
    const { spec, world } = this.#parts;
    try {
      keepPastLife(world, spec, end);
    } catch (error) {
      world.log('what the next life should know could not be written', { agentId: spec.agentId, error: String(error) });
    }
  }

  /** A lock of the dead keeps nobody from the name. */
  #letNameGo(): void {
    const { lock, world, spec } = this.#parts;
    try {
      lock.release();
    } catch (error) {
      world.log('the lock of an agent that has ended is left', { agentId: spec.agentId, error: String(error) });
    }
  }

  /** Whatever else fails, its end is reported. */
  async #over(exit: Exit): Promise<Conclusion> {
    const { spec, world, watch, terminal } = this.#parts;
    const now = world.clock.now();
    const at = terminal.endedAt() ?? now;
    const end = await this.#conclude(exit, at, now).catch((error: unknown) =>
      bareConclusion(exit, this.#asked, watch.hasCompleted || !spec.mustSignalCompletion, String(error)),
    );
    const isStopped = end.reason === 'explicit' && this.#asked?.orderId == null;
    if (!isStopped) this.#keepPastLife(end);
    world.outbox.put(exitReport(spec, end, this.#asked?.orderId ?? null, at));
    await terminal.close();
    world.log('an agent has ended', {
      agentId: spec.agentId,
      instanceId: spec.instanceId,
      reason: end.reason,
      details: end.details,
    });
    return end;
  }

  /** What still waits is answered, and the last heartbeats go out. */
  async #conclude(exit: Exit, at: number, now: number): Promise<Conclusion> {
    const { spec, world, watch, socket, hold, feed } = this.#parts;
    feed.drain();
    if (this.#interrupted !== null && (exit.signal === 'SIGINT' || exit.code === 130))
      this.expectEnd(this.#interrupted);
    this.#how = describe(exit);
    this.#asked ??= handedOff(exit, this.#hands.handoffBehind(Math.max(0, now - at)), watch);
    this.#hands.lookAgain();
    hold.forget();
    await watch.finish(lastBeatsMs);
    await socket.close();
    const over = { exit, asked: this.#asked, endLeft: () => this.#endLeft(at) };
    return conclude(world, spec, watch, over);
  }
}
