import type { Evidence } from '@vigil/events';
import { spell } from '@vigil/policy';
import type { AnnouncementContext } from '../announce/events.ts';

/**
 * The six fields of a warrant that gascity reads. Its `wisp` is the work item, aged from its last update. Without a work
 * item, the fields have the task and the time since progress.
 */
export const gascityMetadata = ({ state, rules, judgement }: AnnouncementContext, evidence: readonly Evidence[]) => {
  const { identity, work, progress } = state.history;
  const { now, watched } = judgement.at;
  const age = work?.dated ? watched - work.dated : now - progress.at;
  return {
    target: state.agentId,
    reason: evidence.map(({ words }) => words).join('; '),
    requester: rules.policy.warrant.requester,
    matched_pattern: evidence.flatMap(({ matched }) => matched ?? []).join(','),
    wisp_id: work?.id ?? identity.taskId ?? '',
    wisp_age: spell(Math.max(0, age)),
  };
};
