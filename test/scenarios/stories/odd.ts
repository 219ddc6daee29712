import { Topic } from '@vigil/events';
import { writer } from '@vigil/stream';
import { expect } from 'vitest';
import { holds } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/** Unknown values. */
export const roles: readonly Role[] = [{ name: 'odd', part: 'reportsUnknownValues', policy: 'starting' }];

const { agentHealth, agentIntervention, decideCase, taskRecovery } = Topic;

/**
 * gc #2085: an unknown state wedged the reconciler. An unknown order is refused, and its agent is judged
 * like any other.
 */
export const wedgesNothing = async ({ vigil, all, comes, types }: Stage): Promise<void> => {
  const { instanceId, runtimeId } = await comes(agentHealth, 'odd', 'INSTANCE_STARTED');
  const command = { agentId: 'odd', by: 'orchestrator', why: 'it is newer than Vigil' };
  const instance = {
    instanceId: instanceId ?? '',
    runtimeId,
    taskId: 'T-odd',
    labels: {},
    message: null,
    recovery: null,
    askedAt: null,
  };
  const unknown = 'UNKNOWN' as const;
  await writer(vigil.log, Date.now).write([
    { topic: decideCase, type: 'REQUEST_STEP', key: 'odd', payload: { ...command, ...instance, step: unknown } },
    {
      topic: decideCase,
      type: 'DECIDE_CASE',
      key: 'odd',
      payload: { ...command, caseId: '', decision: unknown, forMs: null, question: null },
    },
  ]);
  await comes(agentIntervention, 'odd', 'DECISION_REFUSED', 2);
  await holds(() =>
    expect(all(agentIntervention, 'odd', 'DECISION_REFUSED').map(({ reason }) => reason)).toEqual([
      'a person cannot request the step UNKNOWN, only nudge, handoff, terminate, restart or terminate_and_recover',
      expect.stringMatching(/case of odd is/),
    ]),
  );
  expect(await comes(taskRecovery, 'T-odd', 'PROBATION_PASSED')).toMatchObject({ agentId: 'odd-r1' });
  const steps = () => types(agentIntervention, 'odd').filter((type) => type !== 'DECISION_REFUSED');
  await holds(() => expect(steps()).toEqual(['CASE_OPENED', 'AGENT_TERMINATED', 'CASE_CLOSED']));
};
