import { Topic } from '@vigil/events';
import type { Step } from '@vigil/policy';
import type { Death, Matter, Open } from '../open.ts';
import type { CaseDraft } from '../state.ts';
import { act, type StepRules, type Turn } from './step.ts';

type Recover = Extract<Step, { readonly step: 'recover' }>;

const turn = (_step: Recover, { matter, death, dryRun }: Open): Turn => {
  if (matter.taskId === null)
    return {
      want: 'skip',
      why: 'no_task',
      detail: `${matter.agentId} has no task: nothing is recovered`,
      leads: 'next',
    };
  if (dryRun) return { want: 'skip', why: 'dry_run', detail: 'the task would be put on a fresh agent', leads: 'next' };
  if (death) return act;
  return { want: 'skip', why: 'requires', detail: 'the death of the agent is not confirmed', leads: 'next' };
};

/** Hands a task to recovery. */
export const recoverTask = (matter: Matter, taskId: string, death: Death): CaseDraft => {
  return {
    topic: Topic.recoverTask,
    type: 'RECOVER_TASK',
    key: taskId,
    correlationId: matter.correlationId,
    policy: matter.policy,
    payload: {
      taskId,
      agentId: matter.agentId,
      instanceId: matter.instanceId,
      caseId: matter.caseId,
      reason: matter.reason,
      confirmed: true,
      immediate: matter.by !== null,
      by: matter.by,
      checkpoint: death.checkpoint ?? matter.checkpoint,
      completedWork: death.completedWork,
      remainingWork: death.remainingWork,
      idleMinutes: matter.idleMinutes,
      contextUsagePct: matter.contextUsagePct,
      recovery: matter.recovery,
      runtimeId: matter.runtimeId,
      labels: matter.labels,
      notBefore: matter.limitedUntil ?? null,
    },
  };
};

/** Hands the task to recovery; only ever after a confirmed death. */
export const recover: StepRules<Recover> = {
  ruling: null,
  turn,
  act: (_step, { matter, death }) =>
    death && matter.taskId !== null ? [recoverTask(matter, matter.taskId, death)] : [],
};
