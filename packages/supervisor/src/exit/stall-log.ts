import type { ToolCall } from '@vigil/events';
import { stallDetected, stallReasonOf } from '../adapters/omniclaude.ts';
import type { AgentSpec } from '../agent/agent-spec.ts';
import type { GatewayDeps } from '../deps.ts';
import type { Finding } from '../gateway/gateway-client.ts';
import type { Terminate } from '../orders/order.ts';
import { logDispatch } from './dispatch-log.ts';
import { isOnLastAttempt, type Judgement, judgedSpec } from './judged-spec.ts';
import { stateFilesOf } from './state-files.ts';

/** The newest stall of an agent that the dispatch log has. Plain JSON. */
export type LoggedStall = {
  /** when it was found, epoch milliseconds */
  readonly foundAt: number;
  /** false: the agent has been neither stuck nor failing since then */
  readonly lasts: boolean;
  /** false: the policy had no dispatch log, or was not known; absent: the line is written */
  readonly isWritten?: boolean;
};

type StallLogDeps = Pick<GatewayDeps, 'gateway' | 'clock' | 'logger'>;
/** `lastCall`: null: the agent has made none, and is idle since its start */
type Monitored = Judgement & { readonly lastCall: ToolCall | null };

/**
 * Logs each stall of an agent once: when the answer to a heartbeat reports it, or when a finding ends the agent before
 * such an answer has come.
 */
export class StallLog {
  readonly #deps: StallLogDeps;
  readonly #spec: AgentSpec;
  readonly #monitor: Monitored;
  #logged: LoggedStall | null;
  /** what was known of the policy when the newest stall could not be written */
  #unwrittenUnder: Pick<Judgement, 'policy' | 'policyDocument'> | null = null;

  /** `logged`: by another supervisor; null: it logged none */
  constructor(deps: StallLogDeps, spec: AgentSpec, monitor: Monitored, logged: LoggedStall | null) {
    this.#deps = deps;
    this.#spec = spec;
    this.#monitor = monitor;
    this.#logged = logged;
  }

  get memory(): LoggedStall | null {
    return this.#logged;
  }

  /** By the answer to a heartbeat. Another instance of the gateway may answer with an older state. */
  found(finding: Finding | null): void {
    const before = this.#logged;
    if (finding === null) this.#logged = before && { ...before, lasts: false };
    else if (before === null || (!before.lasts && finding.foundAt > before.foundAt) || this.#canBeWrittenNow())
      void this.#log(finding.foundAt, finding);
  }

  /** The present stall is not in the log, and another policy applies now, or the same one has come. */
  #canBeWrittenNow(): boolean {
    if (this.#logged?.lasts !== true || this.#logged.isWritten !== false) return false;
    const { policy, policyDocument } = this.#monitor;
    const under = this.#unwrittenUnder;
    return under === null || under.policy !== policy || under.policyDocument !== policyDocument;
  }

  /** An order ends the agent. One that a person or the end of a rival needs has no axes: no stall was found. */
  async ordered({ payload }: Terminate): Promise<void> {
    if (payload.axes.length > 0 && !this.#isInLog) await this.#log(this.#deps.clock.now(), payload);
  }

  get #isInLog(): boolean {
    return this.#logged?.lasts === true && this.#logged.isWritten !== false;
  }

  async #log(foundAt: number, { reason, axes }: Pick<Finding, 'reason' | 'axes'>): Promise<void> {
    this.#logged = { foundAt, lasts: true };
    const judged = judgedSpec(this.#spec, this.#monitor);
    const { taskId, agentId, attempt, maxAttempts } = judged;
    const { lastCall, startedAt, policy, policyDocument } = this.#monitor;
    const at = this.#deps.clock.now();
    const files = await stateFilesOf(this.#deps, judged);
    if (files.dispatchLog === null) {
      this.#unwrittenUnder = { policy, policyDocument };
      if (this.#logged.foundAt === foundAt) this.#logged = { ...this.#logged, isWritten: false };
      return;
    }
    if (taskId === null) return;
    const since = lastCall?.ended_at ?? lastCall?.started_at ?? startedAt;
    const event = stallDetected({
      taskId,
      agentId,
      maxAttempts,
      attempt: attempt + 1,
      lastCall,
      policyDocument,
      idleMs: Math.max(0, at - since),
      stallReason: stallReasonOf(reason, axes),
      isLast: isOnLastAttempt(this.#deps, judged, this.#monitor),
    });
    logDispatch(this.#deps, files, event, at);
  }
}
