import type { CheckpointRef } from '@vigil/events';
import { beforeOrderedEnd, type ExitSummary, handleExit, minimalExitSummary } from '../exit/exit-handling.ts';
import { describeExit, type EndRequest, endedFromElsewhere, handedOff } from '../exit/exit-reason.ts';
import { savePreviousRun } from '../exit/previous-run.ts';
import { StallLog } from '../exit/stall-log.ts';
import type { Finding } from '../gateway/gateway-client.ts';
import { safeOutput } from '../live-terminal/line-filter.ts';
import type { SourceTerminal } from '../live-terminal/source.ts';
import { resumptionOf } from '../orders/client-control.ts';
import {
  type AgentOrder,
  exitReport,
  type Outcome,
  type RepeatableOrder,
  type ResumeSession,
  type Terminate,
} from '../orders/order.ts';
import { OrderExecutor } from '../orders/order-executor.ts';
import { removeCgroup, wasOutOfMemory } from '../process/cgroup.ts';
import { type Ending, endLeftovers, endProcess } from '../process/end-process.ts';
import { signalled, type Tree } from '../process/proc.ts';
import type { Exit, Size, StartedNext, Terminal } from '../terminal/terminal.ts';
import { agentProcessOf, type InstanceDeps, requestEnd } from './agent-process.ts';
import type { AgentSpec } from './agent-spec.ts';
import { endedAtLimit, memoryMax } from './limits.ts';
import type { Memory } from './memory.ts';

/** How often questions and waiting orders are looked at again, milliseconds. */
const LOOK_EVERY_MS = 250;
/** How long the last heartbeats may take before the end is reported without them, milliseconds. */
const LAST_HEARTBEATS_MS = 1500;
/** How long one that is over a limit has to leave by itself, milliseconds. */
const OVER_LIMIT_GRACE_MS = 2000;

/** An agent under supervision. */
export class Supervised {
  readonly #parts: InstanceDeps;
  readonly #orderExecutor: OrderExecutor;
  readonly #stallLog: StallLog;
  /** resolves when the report of its end is on its way */
  readonly ended: Promise<ExitSummary>;
  /** resolves when the orders that were under way at its end are answered too */
  readonly settled: Promise<void>;
  readonly #startedAt: number;
  /** of the process that runs now; epoch milliseconds */
  #processStartedAt: number;
  /** a process that is being started in the place of another */
  #starting: Promise<unknown> = Promise.resolve();
  #isOver = false;
  #endRequest: EndRequest | null;
  #remembered = '';
  #interrupted: string | null = null;
  #how: string | null = null;
  #ending: Promise<unknown> | null = null;
  /** what was saved of it before an ordered end */
  #saved: CheckpointRef | null = null;

  /** `again`: an order that another supervisor began and this one completes. */
  constructor(deps: InstanceDeps, memory: Memory, again: RepeatableOrder | null) {
    this.#parts = deps;
    this.#endRequest = memory.endRequest;
    this.#startedAt = memory.startedAt;
    this.#processStartedAt = memory.startedAt;
    const agentProcess = agentProcessOf(deps, () => this.#how, {
      end: (order) => this.#endByOrder(order),
      resumeSession: (order) => this.#resumeSession(order),
    });
    this.#orderExecutor = new OrderExecutor(agentProcess, deps.deps, memory);
    this.#stallLog = new StallLog(deps.deps, deps.spec, deps.monitor, memory.stall);
    deps.hookResponder.serve(this.#orderExecutor);
    const looking = setInterval(() => this.#check(), LOOK_EVERY_MS);
    this.ended = deps.terminal.exited.then((exit) => {
      clearInterval(looking);
      return this.#over(exit).finally(() => {
        this.#isOver = true;
        this.#letNameGo();
      });
    });
    this.settled = this.ended.then(() => this.#orderExecutor.settled());
    if (again) this.#orderExecutor.carryThrough(again);
    if (again?.type !== 'TERMINATE_AGENT' && memory.endRequest?.order === null) void this.#end(memory.endRequest.by, 0);
  }

  /** starts its heartbeats */
  begin = (): void => this.#parts.monitor.begin();

  /** sends a heartbeat at once, which shows whether the gateway takes it */
  heartbeatSoon = (): void => this.#parts.monitor.heartbeatSoon();

  /** The answer to a heartbeat reports for what the agent is stuck or failing; null: it is not. */
  found(finding: Finding | null): void {
    this.#stallLog.found(finding);
  }

  /** The next supervisor continues from here: the number of its last heartbeat is never used twice. */
  remember(): void {
    const { monitor, terminal } = this.#parts;
    const own = { startedAt: this.#startedAt, endRequest: this.#endRequest, stall: this.#stallLog.memory };
    terminal.note({ ...monitor.memory, ...this.#orderExecutor.memory, ...own } satisfies Memory);
  }

  #rememberChanges(): void {
    const { highestNumber, handedOff } = this.#orderExecutor.memory;
    const { foundAt, lasts, isWritten } = this.#stallLog.memory ?? {};
    const now = `${this.#parts.monitor.changes} ${highestNumber} ${handedOff} ${foundAt} ${lasts} ${isWritten}`;
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
  /** who or what ended it, for the person at its terminal; null: it ended by itself, or that person ended it */
  endedFromElsewhere = (): string | null => {
    const { spec, monitor } = this.#parts;
    return endedFromElsewhere(spec, this.#endRequest, monitor.policy);
  };
  /** what people see of its terminal */
  shownTerminal = (): SourceTerminal => this.#parts.monitor.shownTerminal;
  /** an agent that is a sub-agent of this one */
  hasSubagent = (agentId: string): boolean => this.#parts.monitor.subagents.has(agentId);

  #check(): void {
    this.#parts.monitor.check(this.#parts.terminal.pid);
    this.#orderExecutor.check();
    this.#parts.pauseControl.check();
    this.#rememberChanges();
    const over = this.#endRequest === null ? this.#parts.meter.over : null;
    if (over === null) return;
    this.#endRequest = { by: over, reason: 'resource_limit', orderId: null, order: null };
    void this.#end(over, OVER_LIMIT_GRACE_MS);
  }

  async #endByOrder(order: Terminate): Promise<Outcome> {
    const { graceMs, reason, orderId, restart } = order.payload;
    // An older gateway leaves it out.
    if (restart === true && this.#stop === null) this.#isRestarted = true;
    this.#endRequest = { ...(this.#stop ?? { by: reason, reason: 'explicit', orderId }), order };
    const { deps, spec, monitor } = this.#parts;
    if (this.#isStall) await this.#stallLog.ordered(order);
    this.#saved = await beforeOrderedEnd(deps, spec, monitor, order);
    const ending = await this.#end(reason, graceMs);
    if (!ending.confirmed) {
      const why = 'it could not be ended, or not be seen to end';
      return ['failed', { ...ending, why, lastOutput: safeOutput(this.#parts.monitor.lastOutput) }];
    }
    if (this.#stop !== null) return ['superseded', { why: `it was stopped here: ${this.#stop.by}` }];
    const { exit, checkpoint, claimsReleased, forensics, lastOutput } = await this.ended;
    const work = { completedWork: checkpoint?.completedWork ?? [], remainingWork: checkpoint?.remainingWork ?? [] };
    return ['done', { ...ending, ...exit, ...work, checkpoint, claimsReleased, forensics, lastOutput }];
  }

  /** Its end was requested here, and not by an order. */
  get #stop(): EndRequest | null {
    return this.#endRequest?.reason === 'explicit' && this.#endRequest.orderId === null ? this.#endRequest : null;
  }

  /** A finding ends it, and not a person or a limit. */
  get #isStall(): boolean {
    return this.#stop === null && (this.#endRequest?.order?.payload.axes.length ?? 0) > 0;
  }

  #end(reason: string, graceMs: number): Promise<Ending> {
    const ending = this.#endNow(reason, graceMs);
    this.#ending = ending.catch(() => {});
    return ending;
  }

  /** A paused agent is resumed first: it could neither receive the request nor exit. */
  async #endNow(reason: string, graceMs: number): Promise<Ending> {
    const { terminal, deps, pauseControl } = this.#parts;
    this.remember();
    this.#parts.monitor.ends();
    terminal.dropNext();
    await this.#starting;
    if (pauseControl.isPaused) await pauseControl.resume();
    requestEnd(this.#parts, { reason, graceMs, isStall: this.#isStall });
    return endProcess(this.#tree, { graceMs, killAfterMs: deps.killAfterMs }, deps.clock);
  }

  get #tree(): Tree {
    return { ...this.#parts.tree, leader: this.#parts.terminal.pid };
  }

  /** Once for each order: what a supervisor had done of it before it died is not done again. */
  async #resumeSession(order: ResumeSession): Promise<Outcome> {
    const { terminal } = this.#parts;
    const { orderId } = order.payload;
    const before = terminal.startedNext();
    if (before?.id === orderId) return this.#resumed(before);
    if (this.#endRequest !== null) return ['superseded', { why: `its end was asked for: ${this.#endRequest.by}` }];
    return this.#replaceProcess(order);
  }

  async #replaceProcess({ payload: { orderId, message, graceMs } }: ResumeSession): Promise<Outcome> {
    const { terminal, deps, spec, monitor, pauseControl } = this.#parts;
    const resumption = resumptionOf(deps.clients, spec, monitor.client, message);
    if (resumption.kind === 'impossible') {
      // A supervisor that has died may have prepared it.
      terminal.dropNext();
      return ['failed', { why: resumption.why }];
    }
    terminal.prepareNext({ id: orderId, ...resumption.line });
    this.remember();
    if (pauseControl.isPaused) await pauseControl.resume();
    signalled(-terminal.pid.pid, 'SIGINT');
    const ending = await endProcess(this.#tree, { graceMs, killAfterMs: deps.killAfterMs }, deps.clock);
    if (this.#endRequest !== null || !ending.confirmed) {
      terminal.dropNext();
      if (this.#endRequest !== null) return ['superseded', { why: `its end was asked for: ${this.#endRequest.by}` }];
      return ['failed', { why: 'its processes could not be ended, or not be seen to end' }];
    }
    const starting = Promise.race([terminal.startNext(orderId), terminal.exited.then(() => null)]);
    this.#starting = starting.catch(() => {});
    const started = await starting;
    return started === null ? ['failed', { why: 'the terminal of the agent is gone' }] : this.#resumed(started);
  }

  #resumed({ pid }: StartedNext): Outcome {
    const { meter, lock, deps, spec } = this.#parts;
    this.#processStartedAt = deps.clock.now();
    meter.started({ ...this.#parts.tree, leader: pid });
    try {
      lock.has({ child: pid });
    } catch (error) {
      // Its PTY host has it too.
      deps.logger('the lock of an agent has the process of before', { agentId: spec.agentId, error: String(error) });
    }
    deps.logger('the session of an agent is resumed', { agentId: spec.agentId, pid: pid.pid });
    return ['done', { why: `process ${pid.pid} continues the session` }];
  }

  /** Processes that it started must not run beside its replacement. An end that is in progress ends them too. */
  async #endLeftovers(at: number): Promise<string | null> {
    const { deps } = this.#parts;
    await this.#ending;
    const patience = { ranMs: at - this.#processStartedAt, killAfterMs: deps.killAfterMs };
    return endLeftovers(this.#tree, patience, deps.clock);
  }

  offer(order: AgentOrder, expiresInMs: number): void {
    this.#orderExecutor.offer(order, expiresInMs);
  }

  /** the order must not begin; the message of a resume must not be sent */
  recall(order: AgentOrder): void {
    this.#orderExecutor.recall(order);
  }

  resize({ columns, rows }: Size): void {
    this.#parts.monitor.drawn.resize({ columns, rows });
    this.#parts.terminal.resize(columns, rows);
  }

  /** a person at the terminal pressed Ctrl-C, recorded as `by`: an end by SIGINT is then intended */
  interrupted(by: string): void {
    this.#interrupted = by;
  }

  #isRestarted = false;

  /** marks the end as requested, also on the disk, without acting; an end that has already come keeps its reason */
  expectEnd(by: string): void {
    if (this.#how !== null || this.#stop !== null) return;
    // A person's end takes the place of one by an order or a limit: the task is not continued.
    this.#endRequest = { by, reason: 'explicit', orderId: null, order: this.#endRequest?.order ?? null };
    this.#recordEndRequest(by);
  }

  /** Where this supervisor dies before it reports the end, the next one reports that the end was requested. */
  #recordEndRequest(by: string): void {
    const { lock, deps, spec } = this.#parts;
    try {
      lock.has({ endRequestedBy: by });
    } catch (error) {
      deps.logger('the request to end an agent is not on the disk', { agentId: spec.agentId, error: String(error) });
    }
  }

  /** ends the agent on behalf of `by`: asked, then SIGTERM after the grace, then SIGKILL */
  end(by: string, graceMs: number): Promise<Ending> {
    this.expectEnd(by);
    return this.#end(by, graceMs);
  }

  /** ends the agent as `end` does; its supervisor then starts the same command again */
  restart(by: string, graceMs: number): Promise<Ending> {
    this.#isRestarted = true;
    return this.end(by, graceMs);
  }
  /** after its end, the same command is to be started again */
  isRestarted = (): boolean => this.#isRestarted;

  /** The lock of an ended agent does not block its name. */
  #letNameGo(): void {
    const { lock, deps, spec } = this.#parts;
    try {
      lock.release();
    } catch (error) {
      deps.logger('the lock of an agent that has ended is left', { agentId: spec.agentId, error: String(error) });
    }
  }

  /** Its end is reported, also where anything else fails. */
  async #over(exit: Exit): Promise<ExitSummary> {
    const { spec, deps, monitor, terminal } = this.#parts;
    const now = deps.clock.now();
    const at = terminal.endedAt() ?? now;
    const end = await this.#handleExit(exit, at, now).catch((error: unknown) =>
      minimalExitSummary(exit, this.#endRequest, monitor.hasCompleted || !spec.mustSignalCompletion, String(error)),
    );
    const isByPerson = this.#endRequest?.orderId == null || this.#isRestarted;
    const isStopped = end.reason === 'explicit' && isByPerson;
    if (!isStopped) savePreviousRun(deps, spec, end);
    const { exit: how, claimsReleased: _, ...known } = end;
    deps.outbox.put(exitReport(spec, { ...how, ...known, at, orderId: this.#endRequest?.orderId ?? null }));
    await terminal.close();
    // Not that of an agent that has finished and left processes at work.
    if (this.#tree.cgroup !== null) removeCgroup(this.#tree.cgroup);
    deps.logger('an agent has ended', {
      agentId: spec.agentId,
      instanceId: spec.instanceId,
      reason: end.reason,
      details: end.details,
    });
    return end;
  }

  /** The kernel holds the same limit, and may be faster than this supervisor. */
  #outOfMemory(exit: Exit): EndRequest | null {
    const { spec, tree } = this.#parts;
    const memory = memoryMax(spec.limits);
    if (memory === null || tree.cgroup === null || exit.signal !== 'SIGKILL' || !wasOutOfMemory(tree.cgroup))
      return null;
    return { by: endedAtLimit(memory), reason: 'resource_limit', orderId: null, order: null };
  }

  /** What it has reported is read, what still waits is answered, and the last heartbeats go out. */
  async #handleExit(exit: Exit, at: number, now: number): Promise<ExitSummary> {
    const { spec, deps, monitor, socket, pauseControl, feed } = this.#parts;
    feed.drain();
    if (this.#interrupted !== null && (exit.signal === 'SIGINT' || exit.code === 130))
      this.expectEnd(this.#interrupted);
    this.#how = describeExit(exit);
    await socket.drain();
    this.#endRequest ??= this.#outOfMemory(exit);
    this.#endRequest ??= handedOff(exit, this.#orderExecutor.handoffOf(Math.max(0, now - at)), monitor);
    this.#orderExecutor.check();
    pauseControl.forget();
    await monitor.finish(LAST_HEARTBEATS_MS);
    await socket.close();
    const over = { exit, endRequest: this.#endRequest, saved: this.#saved, endLeftovers: () => this.#endLeftovers(at) };
    return handleExit(deps, spec, monitor, over);
  }
}
