import type { AgentReport } from '@vigil/adapters/session';
import { subagentIds } from '@vigil/hook/agents';
import type { AgentSpec } from '../agent/agent-spec.ts';
import type { MonitorDeps } from '../deps.ts';
import { type HeartbeatState, type Identity, noHeartbeats, type TerminalFacts } from '../heartbeat/heartbeat.ts';
import { HeartbeatSender } from '../heartbeat/heartbeat-sender.ts';
import { checkFields, isNotable } from '../messages/agent-report.ts';
import { exitReport } from '../orders/order.ts';

/** One sub-agent that is reported. Plain JSON. */
export type KnownSubagent = {
  readonly identity: Identity;
  readonly heartbeatState: HeartbeatState;
  /** its end is being reported; epoch milliseconds, null: it is at work */
  readonly endedAt: number | null;
};

/** By the file of the session's spool and the client's id of the sub-agent. */
export type SubagentsMemory = Readonly<Record<string, KnownSubagent>>;

type Reported = { readonly identity: Identity; readonly heartbeats: HeartbeatSender; endedAt: number | null };

export type SubagentsDeps = Pick<MonitorDeps, 'gateway' | 'clock' | 'logger' | 'onOrders' | 'outbox'> & {
  readonly spec: AgentSpec;
  readonly memory: SubagentsMemory;
  /** the agent that they belong to is held, and they with it */
  readonly isPaused: () => boolean;
  readonly onHeartbeat: () => void;
  /** the answer to a heartbeat of a sub-agent names a limit that is reached */
  readonly onRefusal: () => void;
};

/** How long the last heartbeats of a sub-agent may take before its end is reported without them, milliseconds. */
const LAST_HEARTBEATS_MS = 1500;

export const noTerminal: TerminalFacts = {
  lastOutputAt: null,
  lines: 0,
  repeatedError: null,
  completionAt: null,
  resultAt: null,
  tail: [],
  asks: null,
  hasAsked: false,
  isSilenceKnown: false,
  screen: { activity: null, waitingFor: null, since: 0 },
  paused: false,
  ending: false,
  limits: [],
  work: null,
};

/** It has no task of its own, so that no replacement is started for it: its parent holds the task. */
const identityOf = (spec: AgentSpec, { agent, type }: AgentReport, at: number): Identity => ({
  ...subagentIds(spec, agent ?? '', type, at),
  taskId: null,
  runtimeId: spec.runtimeId,
  attempt: 0,
  maxAttempts: null,
  policy: spec.policy,
  labels: {
    ...spec.labels,
    agent_type: type ?? 'agent',
    // Its use counts for the task of its parent.
    ...(spec.taskId === null ? {} : { parent_task: spec.taskId }),
  },
  parentAgentId: spec.agentId,
});

type SubagentEnd = { readonly reason: 'finished' | 'explicit'; readonly at: number; readonly details: string };

/** The sub-agents of one agent, each an agent of its own with heartbeats and one end. */
export class Subagents {
  readonly #deps: SubagentsDeps;
  readonly #reported = new Map<string, Reported>();
  readonly #ending = new Set<Promise<void>>();
  #hasBegun = false;

  constructor(deps: SubagentsDeps) {
    this.#deps = deps;
    for (const [name, { identity, heartbeatState, endedAt }] of Object.entries(deps.memory))
      this.#reported.set(name, { identity, heartbeats: this.#heartbeatsOf(identity, heartbeatState), endedAt });
  }

  /** From now on their heartbeats are sent. */
  begin(): void {
    this.#hasBegun = true;
    for (const [name, one] of this.#reported) {
      one.heartbeats.begin();
      if (one.endedAt !== null) this.#end(name, one, { reason: 'finished', at: one.endedAt, details: REPORTED_END });
    }
  }

  get memory(): SubagentsMemory {
    return Object.fromEntries(
      [...this.#reported].map(([name, { identity, heartbeats, endedAt }]) => [
        name,
        { identity, heartbeatState: heartbeats.heartbeatState, endedAt },
      ]),
    );
  }

  /** The one that the client names `agent`. Its ids are unique over sessions. */
  at(agent: string): Pick<KnownSubagent, 'identity' | 'heartbeatState'> | null {
    const found = [...this.#reported].find(([name]) => name.endsWith(` ${agent}`))?.[1];
    return found ? { identity: found.identity, heartbeatState: found.heartbeats.heartbeatState } : null;
  }

  has(agentId: string): boolean {
    return [...this.#reported.values()].some(({ identity }) => identity.agentId === agentId);
  }

  /** `file`: of the spool of its session; `at`: epoch milliseconds */
  report(
    file: string,
    report: AgentReport,
    client: { readonly name: string; readonly session_id: string | null },
  ): void {
    const name = `${file} ${report.agent}`;
    const hasEnded = report.fields.exit != null;
    const known = this.#reported.get(name);
    if (known?.endedAt != null || (known === undefined && hasEnded)) return;
    const at = this.#deps.clock.now();
    const one = known ?? this.#start(name, identityOf(this.#deps.spec, report, at));
    const { reported } = checkFields({ ...report.fields, client });
    const before = one.heartbeats.heartbeatState.latest;
    one.heartbeats.report(reported);
    if (isNotable(reported, before)) one.heartbeats.soon();
    if (hasEnded) this.#end(name, one, { reason: 'finished', at, details: REPORTED_END });
  }

  #heartbeatsOf(identity: Identity, heartbeatState: HeartbeatState): HeartbeatSender {
    const { logger, spec, isPaused, onRefusal } = this.#deps;
    return new HeartbeatSender({
      ...this.#deps,
      who: identity,
      intervalMs: spec.intervalMs,
      heartbeatState,
      // People are informed of whether the agent itself is watched.
      onReach: (agentId, reach) =>
        reach.kind === 'watched'
          ? logger('a sub-agent is watched', { agentId })
          : logger('a sub-agent is not watched', { agentId, why: reach.why }),
      facts: () => ({ ...noTerminal, paused: isPaused() }),
      onPolicy: () => {},
      onAskAtStop: () => {},
      onFinding: () => {},
      onRefusal: (refusal) => {
        if (refusal !== null) onRefusal();
      },
    });
  }

  #start(name: string, identity: Identity): Reported {
    const one = { identity, heartbeats: this.#heartbeatsOf(identity, noHeartbeats), endedAt: null };
    this.#reported.set(name, one);
    if (this.#hasBegun) one.heartbeats.begin();
    return one;
  }

  #end(name: string, one: Reported, end: SubagentEnd): void {
    one.endedAt = end.at;
    if (!this.#hasBegun) return;
    const ending = one.heartbeats.finish(LAST_HEARTBEATS_MS).then(() => {
      this.#deps.outbox.put(exitReport(one.identity, end));
      this.#reported.delete(name);
      this.#deps.onHeartbeat();
    });
    this.#ending.add(ending);
    void ending.finally(() => this.#ending.delete(ending));
  }

  /** The process that they ran in has ended, and they with it. */
  async finish(): Promise<void> {
    if (!this.#hasBegun) return;
    const at = this.#deps.clock.now();
    for (const [name, one] of this.#reported)
      if (one.endedAt === null)
        this.#end(name, one, { reason: 'explicit', at, details: 'the agent that started it ended' });
    await Promise.all(this.#ending);
  }
}

const REPORTED_END = 'its client reported its end';
