import { type SkipWhy, Topic } from '@vigil/events';
import type { CaseContext, Death } from '../case-context.ts';
import type { CaseDraft } from '../state.ts';
import { act, type RulesOf, type StepDecision } from './step.ts';

const skip = (why: SkipWhy, detail: string): StepDecision => ({ kind: 'skip', why, detail, leads: 'next' });

/** Gives a task to recovery. */
export const recoverTask = (caseContext: CaseContext, taskId: string, death: Death): CaseDraft => ({
  topic: Topic.recoverTask,
  type: 'RECOVER_TASK',
  key: taskId,
  correlationId: caseContext.correlationId,
  policy: caseContext.policy,
  payload: {
    taskId,
    agentId: caseContext.agentId,
    instanceId: caseContext.instanceId,
    caseId: caseContext.caseId,
    reason: caseContext.reason,
    confirmed: true,
    immediate: caseContext.by !== null,
    by: caseContext.by,
    checkpoint: death.checkpoint ?? caseContext.checkpoint,
    completedWork: death.completedWork,
    remainingWork: death.remainingWork,
    idleMinutes: caseContext.idleMinutes,
    contextUsagePct: caseContext.contextUsagePct,
    recovery: caseContext.recovery,
    runtimeId: caseContext.runtimeId,
    labels: caseContext.labels,
    notBefore: caseContext.limitedUntil ?? null,
    lastOutput: caseContext.lastOutput ?? [],
    endedByItself: caseContext.ended,
  },
});

/** Gives the task to recovery, and only after a confirmed death. */
export const recover: RulesOf<'recover'> = {
  ruling: null,
  decideStep: (_step, { caseContext, death, dryRun }) => {
    if (caseContext.taskId === null) return skip('no_task', `${caseContext.agentId} has no task: nothing is recovered`);
    if (dryRun) return skip('dry_run', 'the task would be put on a fresh agent');
    return death ? act : skip('requires', 'the death of the agent is not confirmed');
  },
  act: (_step, { caseContext, death }) =>
    death && caseContext.taskId !== null ? [recoverTask(caseContext, caseContext.taskId, death)] : [],
};
