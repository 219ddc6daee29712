import { Topic } from '@vigil/events';
import type { Step } from '@vigil/policy';
import type { ActiveCase, CaseContext, CaseDraft, Death } from '../state.ts';
import { act, type StepDecision, type StepRules } from './step.ts';

type Recover = Extract<Step, { readonly step: 'recover' }>;

const decideStep = (_step: Recover, { caseContext, death, dryRun }: ActiveCase): StepDecision => {
  if (caseContext.taskId === null)
    return {
      kind: 'skip',
      why: 'no_task',
      detail: `${caseContext.agentId} has no task: nothing is recovered`,
      leads: 'next',
    };
  if (dryRun) return { kind: 'skip', why: 'dry_run', detail: 'the task would be put on a fresh agent', leads: 'next' };
  if (death) return act;
  return { kind: 'skip', why: 'requires', detail: 'the death of the agent is not confirmed', leads: 'next' };
};

/** Gives a task to recovery. */
export const recoverTask = (caseContext: CaseContext, taskId: string, death: Death): CaseDraft => {
  return {
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
    },
  };
};

/** Gives the task to recovery, and only after a confirmed death. */
export const recover: StepRules<Recover> = {
  ruling: null,
  decideStep,
  act: (_step, { caseContext, death }) =>
    death && caseContext.taskId !== null ? [recoverTask(caseContext, caseContext.taskId, death)] : [],
};
