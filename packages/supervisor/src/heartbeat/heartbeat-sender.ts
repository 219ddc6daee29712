import type { Checkpoint, MatchedPattern, PolicyRef, ShownError } from '@vigil/events';
import type { AskAtStop } from '@vigil/health/proof';
import { delayAfter, pause } from '../clock.ts';
import type { GatewayDeps } from '../deps.ts';
import { GatewayRefused } from '../errors.ts';
import { type Finding, isSameReach, type Reach, replaced, unwatched } from '../gateway/gateway-client.ts';
import { type ReportedFields, startsCall } from '../messages/agent-report.ts';
import {
  answered,
  checkpointRead,
  clientGone,
  errorsShown,
  type HeartbeatState,
  type Identity,
  matched,
  nextHeartbeat,
  nextSequence,
  type TerminalFacts,
  withReport,
} from './heartbeat.ts';

export type HeartbeatSenderDeps = GatewayDeps & {
  readonly who: Identity;
  readonly facts: () => TerminalFacts;
  /** null: the interval that the gateway requests */
  readonly intervalMs: number | null;
  /** where another supervisor left off; `noHeartbeats`: there was none */
  readonly heartbeatState: HeartbeatState;
  /** a heartbeat is about to be sent, or answered: from now on its number is taken */
  readonly onHeartbeat: () => void;
  /** the policy of the agent, from each answer */
  readonly onPolicy: (policy: PolicyRef) => void;
  /** why the agent may make no more calls, from each answer; null: it may */
  readonly onRefusal: (refusal: string | null) => void;
  /** what the agent is asked before a turn ends, from each answer; null: nothing */
  readonly onAskAtStop: (ask: AskAtStop | null) => void;
  /** for what the agent is stuck or failing, from each answer; null: it is not */
  readonly onFinding: (finding: Finding | null) => void;
};

/** Between two heartbeats there is always at least so much. */
const SHORTEST_GAP_MS = 200;
const DEFAULT_INTERVAL_MS = 10_000;

/**
 * Sends the heartbeats of one agent until it is finished: every interval, and at once on anything notable.
 * It also sends one when a call starts after tokens were used: they may reach a limit. Never blocks the agent.
 */
export class HeartbeatSender {
  readonly #parts: HeartbeatSenderDeps;
  #running: Promise<void> | null = null;
  readonly #finishing = new AbortController();
  #heartbeatState: HeartbeatState;
  #intervalMs: number;
  #policy: string | null = null;
  /** as was reported last; null: no heartbeat has been answered yet */
  #reach: Reach | null = null;
  readonly #warned = new Set<string>();
  /** the tokens in the last heartbeat; null: unknown */
  #sentTokens: number | null;
  /** an instance that another one has replaced is never the newest again */
  #successor: string | null = null;
  #urgent = false;
  #wake = new AbortController();

  constructor(parts: HeartbeatSenderDeps) {
    this.#parts = parts;
    this.#heartbeatState = parts.heartbeatState;
    this.#sentTokens = parts.heartbeatState.latest.token_count ?? null;
    this.#intervalMs = parts.intervalMs ?? DEFAULT_INTERVAL_MS;
  }

  /** Starts sending heartbeats. */
  begin(): void {
    this.#running = this.#run();
  }

  /** The sequence of the heartbeat that will carry the next report. */
  get next(): number {
    return nextSequence(this.#heartbeatState);
  }
  /** Plain JSON. */
  get heartbeatState(): HeartbeatState {
    return this.#heartbeatState;
  }
  /** the policy in the gateway's last answer; null: there is no answer yet */
  get policy(): string | null {
    return this.#policy;
  }
  report(report: ReportedFields): void {
    this.#heartbeatState = withReport(this.#heartbeatState, report, this.#parts.clock.now());
    if (startsCall(report) && this.#hasUsedTokens) this.soon();
  }
  /** Since the last heartbeat. The count of another session begins again. */
  get #hasUsedTokens(): boolean {
    const tokens = this.#heartbeatState.latest.token_count ?? 0;
    return tokens > 0 && tokens !== this.#sentTokens;
  }
  matched(patterns: readonly MatchedPattern[]): void {
    this.#heartbeatState = matched(this.#heartbeatState, patterns);
  }
  errorsShown(errors: readonly ShownError[]): void {
    if (errors.length > 0) this.#heartbeatState = errorsShown(this.#heartbeatState, errors);
  }
  checkpointRead(checkpoint: Checkpoint): void {
    this.#heartbeatState = checkpointRead(this.#heartbeatState, checkpoint);
  }
  clientGone(reportedAt: number | null): void {
    this.#heartbeatState = clientGone(this.#heartbeatState, reportedAt);
    this.soon();
  }
  soon(): void {
    this.#urgent = true;
    this.#wake.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#finishing;
    while (!signal.aborted) {
      const began = this.#parts.clock.monotonic();
      this.#urgent = false;
      await this.#deliver(signal);
      await this.#rest(began);
    }
  }

  async #rest(began: number): Promise<void> {
    const { signal } = this.#finishing;
    for (;;) {
      const due = began + (this.#urgent ? SHORTEST_GAP_MS : this.#intervalMs);
      const left = due - this.#parts.clock.monotonic();
      if (left <= 0 || signal.aborted) return;
      this.#wake = new AbortController();
      await pause(left, AbortSignal.any([signal, this.#wake.signal]));
    }
  }

  /**
   * The same heartbeat until it is answered: a repetition has the same sequence, so nothing in it counts twice. It also
   * keeps its timestamp, the time at which its facts were true, so its first try may have been written with the same
   * content. After an outage it looks late by once. A clock counts as off only where each heartbeat of a watched minute is.
   */
  async #deliver(signal: AbortSignal): Promise<void> {
    const { who, facts, clock } = this.#parts;
    this.#heartbeatState = nextHeartbeat(this.#heartbeatState, who, facts(), clock.now(), this.#intervalMs);
    this.#sentTokens = this.#heartbeatState.inFlight?.token_count ?? null;
    this.#parts.onHeartbeat();
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        return await this.#send(signal);
      } catch (error) {
        if (!signal.aborted) this.#reached(unwatched(error));
        if (error instanceof GatewayRefused) {
          this.#heartbeatState = answered(this.#heartbeatState);
          return;
        }
        await pause(delayAfter(error, failures), signal);
      }
    }
  }

  async #send(signal: AbortSignal): Promise<void> {
    const { inFlight } = this.#heartbeatState;
    if (inFlight === null) return;
    const answer = await this.#parts.gateway.sendHeartbeat(inFlight, signal);
    this.#heartbeatState = answered(this.#heartbeatState);
    this.#parts.onHeartbeat();
    this.#successor ??= answer.successor;
    this.#reached(this.#successor === null ? { kind: 'watched' } : replaced(this.#parts.who.agentId, this.#successor));
    this.#warn(answer.warnings);
    this.#intervalMs = this.#parts.intervalMs ?? answer.intervalMs ?? this.#intervalMs;
    this.#policy = answer.policy?.name ?? this.#policy;
    this.#parts.onRefusal(answer.refusal);
    this.#parts.onAskAtStop(answer.askAtStop);
    this.#parts.onFinding(answer.finding);
    if (answer.policy !== null) this.#parts.onPolicy(answer.policy);
    if (answer.orders.length > 0) this.#parts.onOrders(answer.orders);
  }

  #reached(reach: Reach): void {
    if (this.#reach !== null && isSameReach(this.#reach, reach)) return;
    this.#reach = reach;
    this.#parts.onReach(this.#parts.who.agentId, reach);
  }

  /** Each warning once, however many heartbeats it comes with. */
  #warn(warnings: readonly string[]): void {
    for (const warning of warnings) {
      if (this.#warned.has(warning)) continue;
      this.#warned.add(warning);
      this.#parts.logger(`the gateway warns: ${warning}`, { agentId: this.#parts.who.agentId });
    }
  }

  /** Stops. Unsent facts go out with two last heartbeats at most, if the gateway takes them in time. */
  async finish(withinMs: number): Promise<void> {
    this.#finishing.abort();
    if (this.#running === null && this.#heartbeatState.sequence === 0) return;
    await this.#running;
    const enough = AbortSignal.timeout(withinMs);
    if (this.#heartbeatState.inFlight !== null) await this.#deliver(enough);
    await this.#deliver(enough);
  }
}
