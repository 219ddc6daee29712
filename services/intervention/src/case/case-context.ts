import type {
  CheckpointRef,
  ClientReport,
  Evidence,
  HealthState,
  PolicyRef,
  RecoverySettings,
  WarrantFiledPayload,
} from '@vigil/events';
import type { PlannedStep } from '@vigil/policy';

/** The subject of a case and the inputs of its plan, from a warrant or a person's request. */
export type CaseContext = {
  readonly caseId: string;
  /** null: a person's request */
  readonly warrantId: string | null;
  /** who requested it, or decided to terminate and recover */
  readonly by: string | null;
  readonly agentId: string;
  readonly instanceId: string | null;
  readonly runtimeId: string | null;
  readonly taskId: string | null;
  /** absent: the case is older than this */
  readonly attempt?: number | null;
  readonly episodeId: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly state: HealthState;
  readonly axes: readonly string[];
  /** what ends the finding; the orders carry it to the runtime */
  readonly awaits: WarrantFiledPayload['awaits'];
  readonly hard: boolean;
  /** of each piece of evidence; absent: the case is older than this, or a person's request */
  readonly confidences?: readonly Evidence['confidence'][];
  readonly foldedSequence: number | null;
  /** the lease, epoch milliseconds; null: none, for a person's request */
  readonly voidAt: number | null;
  readonly planName: string;
  readonly steps: readonly PlannedStep[];
  /** a person asked for a restart: its terminate starts the same command again; absent: none did */
  readonly restarts?: true;
  /** handed on as it is */
  readonly recovery: RecoverySettings;
  /** for people: the evidence in words, or the reason of a person's request */
  readonly reason: string;
  /** the last lines that the ended instance printed; empty: it has not ended, or printed nothing; absent: the case is older than this */
  readonly lastOutput?: readonly string[];
  /** emptied when the case is open: CASE_OPENED carries it */
  readonly evidence: readonly Evidence[];
  readonly checkpoint: CheckpointRef | null;
  /** the coding agent that runs as this agent; null: none that is known; absent: the case is older than this */
  readonly client?: ClientReport | null;
  /** since the last checkpoint; null for a person's request */
  readonly workedMinutes: number | null;
  /** when the figures were received, epoch milliseconds; absent: a person's request, or the case is older than this */
  readonly figuresAt?: number;
  /** for the agent: the finding and what it can do; empty for a person's request */
  readonly finding: string;
  readonly advice: string;
  readonly idleMinutes: number | null;
  readonly contextUsagePct: number | null;
  /** when the limit ends that the agent reported last; null: none, absent: the case is older than this */
  readonly limitedUntil?: number | null;
  /** the exemption of the wait that suspends the plan; absent: none does, or the case is older than this */
  readonly suspendedBy?: string;
  /** the instance had ended when this was found */
  readonly ended: boolean;
  readonly correlationId: string;
  readonly policy: PolicyRef | null;
};

/** The facts about an instance's death, from the receipt of a terminate or from its end in agent-health. */
export type Death = {
  readonly forced: boolean;
  readonly checkpoint: CheckpointRef | null;
  readonly completedWork: readonly string[];
  readonly remainingWork: readonly string[];
  readonly claimsReleased: readonly string[];
  readonly forensics: string | null;
};

/**
 * How an instance ended, as agent-health reports it. `orderId`: the order that ended it; null: none did.
 * `isReported`: false where the evaluator only infers it from a long silence, which confirms no death. `checkpoint`: the
 * newest at the end; absent: none, or the event is older than this.
 */
export type InstanceEnd = {
  readonly reason: string | null;
  readonly orderId: string | null;
  readonly isReported: boolean;
  readonly checkpoint?: CheckpointRef;
};

/** With the checkpoint at the end: the agent may have written it after the finding. */
export const knownAtEnd = (caseContext: CaseContext, { checkpoint }: InstanceEnd): CaseContext =>
  checkpoint === undefined ? caseContext : { ...caseContext, checkpoint };

/** A death where only the end is known: the work is that of the newest checkpoint. */
export const deathByEnd = ({ checkpoint }: CaseContext): Death => ({
  forced: false,
  checkpoint,
  completedWork: checkpoint?.completedWork ?? [],
  remainingWork: checkpoint?.remainingWork ?? [],
  claimsReleased: [],
  forensics: null,
});
