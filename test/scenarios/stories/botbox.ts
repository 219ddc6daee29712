import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { until } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/** botbox's table: the plan follows the signal. */
export const roles: readonly Role[] = [
  { name: 'mute', part: 'stallsEachTime', policy: 'botbox' },
  { name: 'errs', part: 'errs', policy: 'botbox' },
  { name: 'limited', part: 'limited', policy: 'botbox' },
];

const { agentHealth, agentIntervention, agentOrder, alert, taskRecovery } = Topic;

/** gc #6081: killed sessions kept their claims. */
export const silentEndedAndReleased = async ({ all, comes, types, isAlive }: Stage): Promise<void> => {
  expect(await comes(agentIntervention, 'mute', 'CASE_CLOSED')).toMatchObject({ ending: 'executed' });
  expect(types(agentIntervention, 'mute')).toEqual([
    'CASE_OPENED',
    'AGENT_TERMINATED',
    'ALERT_REQUESTED',
    'CASE_CLOSED',
  ]);
  expect(all(agentIntervention, 'mute', 'AGENT_TERMINATED')).toMatchObject([
    { confirmed: true, claimsReleased: ['claim of T-mute'] },
  ]);
  expect(all(agentIntervention, 'mute', 'ALERT_REQUESTED')).toMatchObject([{ channel: 'ops' }]);
  expect(types(agentOrder, 'mute')).toEqual(['TERMINATE_AGENT']);
  expect(types(taskRecovery, 'T-mute')).toEqual([]);
  expect(isAlive('mute')).toBe(false);
};

export const sameErrorTold = async ({ comes, types, isAlive, heard }: Stage): Promise<void> => {
  expect(await comes(agentIntervention, 'errs', 'CASE_CLOSED')).toMatchObject({ ending: 'executed' });
  await comes(agentIntervention, 'mute', 'AGENT_TERMINATED');
  expect(types(agentIntervention, 'errs')).toEqual(['CASE_OPENED', 'ALERT_REQUESTED', 'CASE_CLOSED']);
  expect(types(agentOrder, 'errs')).toEqual([]);
  expect(isAlive('errs')).toBe(true);
  const raised = heard
    .of(alert)
    .filter(({ type, payload }) => type === 'ALERT_RAISED' && 'agentId' in payload && payload.agentId === 'errs');
  expect(raised.map(({ payload }) => (payload as { route: string }).route)).toEqual(['stuck_agent']);
};

/** gc #1400, #3279: a rate limit is no crash, and is waited for. */
export const limitedPausedAndResumed = async ({ all, comes, types, diary, isAlive }: Stage): Promise<void> => {
  await comes(agentIntervention, 'limited', 'AGENT_RESUMED');
  await until('it works again', async () => all(agentHealth, 'limited', 'WARRANT_LAPSED').length > 0);
  await comes(agentIntervention, 'limited', 'CASE_CLOSED');
  expect(new Set(types(agentOrder, 'limited'))).toEqual(new Set(['PAUSE_AGENT', 'RESUME_AGENT']));
  expect(diary('limited').filter((line) => line.startsWith('began'))).toHaveLength(1);
  expect(diary('limited')).toContainEqual('heard nudge "The pause is over. Please go on with your task."');
  expect(isAlive('limited')).toBe(true);
  expect(types(taskRecovery, 'T-limited')).toEqual([]);
};
