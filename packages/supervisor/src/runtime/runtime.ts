import { availableParallelism } from 'node:os';
import type { Supervised } from '../agent/agent-instance.ts';
import type { AgentSpec } from '../agent/agent-spec.ts';
import { inheritedEnvironment } from '../agent/inherited.ts';
import { specAgain, superviseHosted } from '../agent/supervise.ts';
import { pause } from '../clock.ts';
import type { RuntimeDeps } from '../deps.ts';
import { logRedispatch } from '../exit/exit-artifacts.ts';
import { forgetPreviousRuns, previousRunFile, previousRunOf } from '../exit/previous-run.ts';
import { resumeLineOf } from '../exit/state-files.ts';
import { WorkSource } from '../heartbeat/work-source.ts';
import type { TerminalLease } from '../live-terminal/leases.ts';
import { TerminalPublisher } from '../live-terminal/publisher.ts';
import { dispatch, pollOrders } from '../orders/dispatch.ts';
import type { Received, SpawnOrder } from '../orders/order.ts';
import { answerSpawn, HALTED } from '../orders/receipts.ts';
import { admitSpawn, closedAs, type Host, type Origin, originOf, writeHandover } from '../orders/spawn.ts';
import type { Occupant } from '../state/lock.ts';
import { recoverFromCrash, recoverLeftAlone } from './crash-recovery.ts';
import {
  checkOwnTokens,
  type InstanceRequest,
  type RuntimeConfig,
  type RuntimeSettings,
  specOf,
  type Template,
  templateFor,
} from './runtime-config.ts';

const size = { columns: 120, rows: 40 };

/** How often it is tried again to take an agent over, milliseconds. */
const TAKE_OVER_EVERY_MS = 5000;

/** Each start is a process of its own that loads its program: more at once would only make each of them late. */
const startsAtOnce = availableParallelism();

/** Applies this to each item in order, a limited number at once. */
const eachOf = async <T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> => {
  const left = items.values();
  const lane = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
};

/** An agent of the configuration that is to be started. */
type Configured = { readonly instance: InstanceRequest; readonly template: Template };

export class Runtime {
  readonly #deps: RuntimeDeps;
  readonly #settings: RuntimeSettings;
  readonly #startAgent: typeof superviseHosted;
  readonly #agents = new Set<Supervised>();
  /** agents that are being started, or wait for their turn */
  readonly #starting = new Set<InstanceRequest>();
  /** spawn orders that are being carried out, and restarts */
  readonly #spawning = new Set<Promise<void>>();
  /** agents of an earlier supervisor that work on and could not be taken over yet */
  #leftAlone: readonly Occupant[] = [];
  readonly #stopping = new AbortController();
  readonly #workSource: WorkSource | null;
  readonly #loops: Promise<unknown>[] = [];

  constructor(settings: RuntimeSettings, deps: Omit<RuntimeDeps, 'onOrders'>, startAgent: typeof superviseHosted) {
    this.#settings = settings;
    this.#startAgent = startAgent;
    const addressees = {
      runtimeId: settings.config.runtime,
      instances: () => this.#agents,
      isLeftAlone: (agentId: string) => this.#leftAlone.some((one) => one.agentId === agentId),
      spawn: (order: SpawnOrder, ms: number, policy: string | null) => this.#spawn(order, ms, policy),
      recallSpawn: (order: SpawnOrder) => this.#recallSpawn(order),
    };
    const { work_source: source } = settings.config;
    this.#workSource = source
      ? new WorkSource(
          { ...source, env: inheritedEnvironment(settings.env, []), everyMs: source.interval },
          deps.logger,
        )
      : null;
    this.#deps = {
      ...deps,
      workOf: this.#workSource?.of ?? deps.workOf,
      onOrders: (orders) => dispatch(this.#deps, addressees, orders),
    };
  }

  agents = (): readonly Supervised[] => [...this.#agents].filter((agent) => !agent.isOver());

  async start(): Promise<void> {
    const { config } = this.#settings;
    const here = new Set<string>();
    this.#leftAlone = await recoverFromCrash(this.#deps, config.runtime, (instance) => {
      here.add(this.#adopt(instance).spec.agentId);
    });
    for (const { agentId } of this.#leftAlone) here.add(agentId);
    const configured = config.agents.filter(({ name }) => !here.has(name)).flatMap((one) => this.#configured(one));
    for (const { instance } of configured) this.#starting.add(instance);
    // Orders for those that live do not wait until the last one has started.
    const onAway = () => {
      for (const agent of this.agents()) agent.heartbeatSoon();
    };
    const { signal } = this.#stopping;
    const terminals = new TerminalPublisher(this.#deps, config.runtime, () => this.#agents);
    const on = { away: onAway, terminals: (leases: readonly TerminalLease[]) => terminals.observe(leases) };
    this.#loops.push(pollOrders(this.#deps, config.runtime, signal, on), this.#announce(), terminals.run(signal));
    if (this.#workSource) this.#loops.push(this.#workSource.run(this.#stopping.signal));
    this.#loops.push(this.#takeOverLater());
    await eachOf(configured, startsAtOnce, (one) => this.#startConfigured(one));
  }

  async #takeOverLater(): Promise<void> {
    const { signal } = this.#stopping;
    while (this.#leftAlone.length > 0) {
      await pause(TAKE_OVER_EVERY_MS, signal);
      if (signal.aborted) return;
      try {
        this.#leftAlone = await recoverLeftAlone(this.#deps, this.#leftAlone, (instance) => void this.#adopt(instance));
      } catch (error) {
        this.#deps.logger('agents could not be taken over', { error: String(error) });
      }
    }
  }

  /** None: no template fits it, or it has ended. */
  #configured(one: RuntimeConfig['agents'][number]): readonly Configured[] {
    const { templates } = this.#settings.config;
    const template = one.template
      ? templates.find(({ name }) => name === one.template)
      : templateFor(templates, one.task, one.labels);
    if (!template) {
      this.#deps.logger('no template fits a configured agent', { agent: one });
      return [];
    }
    if (this.#hasEnded(one)) return [];
    const who = { agentId: one.name, taskId: one.task, attempt: 0, maxAttempts: null, labels: one.labels };
    return [{ instance: { ...who, checkpoint: null, handover: null, orderId: null }, template }];
  }

  async #startConfigured({ instance, template }: Configured): Promise<void> {
    try {
      await this.#begin(instance, template);
    } catch (error) {
      this.#deps.logger('a configured agent does not start', { agent: instance.agentId, error: String(error) });
    } finally {
      this.#starting.delete(instance);
    }
  }

  /** This runtime was killed and continues where it was: starting this agent would double it, or its replacement. */
  #hasEnded({ name, task }: RuntimeConfig['agents'][number]): boolean {
    const [dir, runtime] = [this.#deps.dir, this.#settings.config.runtime];
    const past = previousRunOf(dir, runtime, name);
    if (past === null || past.taskId !== task) return false;
    const { reason, details } = past;
    const remedy = `stop this runtime and start it again, or remove ${previousRunFile(dir, runtime, name)}`;
    const what = 'a configured agent is not started: it has ended, and what follows is up to recovery';
    this.#deps.logger(what, { agent: name, task, reason, details, remedy });
    return true;
  }

  async #begin(instance: InstanceRequest, template: Template): Promise<Supervised> {
    return this.#adopt(
      await this.#startAgent(specOf(instance, template, this.#settings, this.#deps.newId()), this.#deps, size),
    );
  }

  #adopt(agent: Supervised): Supervised {
    this.#agents.add(agent);
    void agent.settled.finally(() => {
      this.#agents.delete(agent);
      if (agent.isRestarted()) this.#untilSpawned(this.#startAgain(agent.spec));
    });
    return agent;
  }

  async #startAgain(ended: AgentSpec): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    const spec = specAgain(ended, this.#deps.newId());
    this.#starting.add(spec);
    try {
      this.#adopt(await this.#startAgent(spec, this.#deps, size));
    } catch (error) {
      this.#deps.logger('an agent is not restarted', { agentId: ended.agentId, error: String(error) });
    } finally {
      this.#starting.delete(spec);
    }
  }

  /** Those that live here, and those that are about to. */
  #occupants(): readonly Pick<InstanceRequest, 'agentId' | 'taskId' | 'attempt'>[] {
    return [...this.agents().map(({ spec }) => spec), ...this.#starting, ...this.#leftAlone];
  }

  #host(order: SpawnOrder): Host {
    const { config } = this.#settings;
    const { taskId, labels } = order.payload;
    return {
      done: {
        get: (orderId) => {
          const report = this.#deps.journal.reportOf(orderId);
          return report?.type === 'SPAWN_RECEIPT' ? report.payload : undefined;
        },
      },
      agents: this.#occupants(),
      capacity: config.capacity,
      closedAs: closedAs(this.#deps.workOf(taskId)),
      hasTemplate: templateFor(config.templates, taskId ?? '', labels) !== undefined,
    };
  }

  /** The tracker's record of its task has to be known first. */
  #spawn(order: SpawnOrder, expiresInMs: number, policy: string | null): void {
    const received = { order, expiresAt: this.#deps.clock.monotonic() + expiresInMs };
    const settle = () => this.#settle(received, policy);
    if (this.#workSource) this.#workSource.onceAsked(order.payload.orderId, settle);
    else settle();
  }

  /** One that waits for its tracker finds this answer in the journal. */
  #recallSpawn(order: SpawnOrder): void {
    const { orderId } = order.payload;
    if (this.#isStarting(order)) return;
    const receipt = this.#host(order).done.get(orderId);
    if (receipt) this.#deps.outbox.put({ type: 'SPAWN_RECEIPT', payload: receipt });
    else answerSpawn(this.#deps, order, 'halted', { why: HALTED });
  }

  #isStarting = ({ payload }: SpawnOrder): boolean =>
    [...this.#starting].some(({ orderId }) => orderId === payload.orderId);

  #settle(received: Received<SpawnOrder>, policy: string | null): void {
    const { order } = received;
    if (this.#isStarting(order) || this.#stopping.signal.aborted) return;
    const admission = admitSpawn(received, this.#host(order), this.#deps.clock.monotonic());
    switch (admission.kind) {
      case 'go':
        this.#spawnBy(order, policy);
        return;
      case 'again':
        this.#deps.outbox.put({ type: 'SPAWN_RECEIPT', payload: admission.receipt });
        return;
      case 'not_needed':
      case 'superseded':
      case 'expired':
      case 'failed':
        answerSpawn(this.#deps, order, admission.kind, { why: admission.why });
    }
  }

  #spawnBy(order: SpawnOrder, policy: string | null): void {
    this.#untilSpawned(this.#carryOut(order, policy));
  }

  /** A runtime that stops waits for its starts in progress, and then ends their agents, too. */
  #untilSpawned(start: Promise<void>): void {
    const spawning = start.finally(() => this.#spawning.delete(spawning));
    this.#spawning.add(spawning);
  }

  async #carryOut(order: SpawnOrder, policy: string | null): Promise<void> {
    const { orderId, agentId, taskId, attempt, maxAttempts, labels, checkpoints } = order.payload;
    const instance = { agentId, taskId, attempt, maxAttempts, labels, checkpoint: null, handover: null, orderId };
    this.#starting.add(instance);
    try {
      const origin = await originOf(checkpoints, this.#settings.config.checkpoint_roots, taskId ?? '');
      const [newest] = origin.skipped;
      if (newest) {
        answerSpawn(this.#deps, order, 'checkpoint_invalid', { ...newest, skipped: origin.skipped });
        return;
      }
      const resumeLine = await resumeLineOf(this.#deps, policy);
      // Without an answer, the order is offered again to the next runtime of this name.
      if (this.#stopping.signal.aborted) return;
      this.#deps.journal.write({ kind: 'begun', orderId, order, pid: null });
      const agent = await this.#beginFrom(origin, instance, order, resumeLine);
      void logRedispatch(this.#deps, { ...agent.spec, policy: policy ?? agent.spec.policy }, order);
      const { instanceId } = agent.spec;
      answerSpawn(this.#deps, order, 'spawned', { instanceId, checkpointId: origin.checkpoint?.id ?? null });
    } catch (error) {
      answerSpawn(this.#deps, order, 'failed', { why: String(error) });
    } finally {
      this.#starting.delete(instance);
    }
  }

  #beginFrom(
    { checkpoint }: Origin,
    instance: InstanceRequest,
    order: SpawnOrder,
    resumeLine: string | null,
  ): Promise<Supervised> {
    const template = templateFor(this.#settings.config.templates, instance.taskId ?? '', instance.labels);
    if (!template) throw new Error(`no template of this runtime fits task ${instance.taskId}`);
    const handover = writeHandover(this.#deps.dir, order, resumeLine);
    return this.#begin({ ...instance, checkpoint: checkpoint?.path ?? null, handover }, template);
  }

  /**
   * Announces this runtime until it stops; then announces that it has no room, so that no task waits for an agent that
   * will never start. Only the newest announcement counts, so a failed one is not kept.
   */
  async #announce(): Promise<void> {
    const { config, host } = this.#settings;
    const { runtime: runtimeId, capacity } = config;
    const labels = { host, ...config.labels };
    const templates = config.templates.map((one) => ({ task: one.task, labels: one.labels }));
    const report = (room: number): Promise<void> => {
      const agents = this.#occupants().map(({ agentId }) => agentId);
      const payload = { runtimeId, host, capacity: room, agents, labels, templates };
      return this.#deps.gateway
        .report([{ type: 'RUNTIME_ANNOUNCED', payload }])
        .catch((error: unknown) => this.#deps.logger('the runtime is not announced', { error: String(error) }));
    };
    while (!this.#stopping.signal.aborted) {
      await report(capacity);
      await pause(config.announce, this.#stopping.signal);
    }
    await report(0);
  }

  /** ends its agents, each with its grace, and waits until their ends are reported */
  async stop(by: string): Promise<void> {
    this.#stopping.abort();
    const forget = () => forgetPreviousRuns(this.#deps.dir, this.#settings.config.runtime);
    forget();
    await Promise.all(this.#spawning);
    await Promise.all(
      [...this.#agents].map(async (agent) => {
        const { confirmed } = await agent.end(by, this.#settings.config.grace);
        if (confirmed) await agent.settled;
      }),
    );
    forget(); // also those that ended by themselves just now
    await Promise.all(this.#loops);
  }
}

/** The host's daemon: starts its configured agents, spawns by order, and supervises all of them until it is stopped. */
export const startRuntime = async (
  settings: RuntimeSettings,
  deps: Omit<RuntimeDeps, 'onOrders'>,
  startAgent: typeof superviseHosted = superviseHosted,
): Promise<Runtime> => {
  checkOwnTokens(settings);
  const runtime = new Runtime(settings, deps, startAgent);
  await runtime.start();
  return runtime;
};
