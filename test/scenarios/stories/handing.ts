import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { holds, until } from '../../support/system.ts';
import { BLOCKER, HANDOFF } from '../parts/answers.ts';
import type { Role, Stage } from '../stage.ts';

/** A plan that requests a checkpoint and a stop from stalled agents, before it ends them. */
export const policy = JSON.stringify({
  policy: 'handing',
  heartbeat: { interval: '1s', lost_after: '15s' },
  signals: { no_activity: { after: '8s' } },
  states: { STUCK: ['no_activity'] },
  warrant: { renew: '2s', void: '30s' },
  plans: [{ when: 'STUCK', do: [{ handoff: { deadline: '8s' } }, { terminate: { grace: '500ms' } }, 'recover'] }],
  recovery: { delays: ['0s'], spawn_deadline: '40s', probation: '5s', stable: '60s' },
});

export const roles: readonly Role[] = [
  { name: 'gives', part: 'handoff', policy: 'handing' },
  { name: 'clings', part: 'stallsOnce', policy: 'handing' },
  { name: 'asks', part: 'asksToHandOff', policy: 'coditect' },
  { name: 'hindered', part: 'reportsBlockers', policy: 'coditect' },
];

const { agentHealth, agentIntervention, agentOrder, alert, taskRecovery } = Topic;

/**
 * gc #2293: gone with its work still assigned. It continues, from the checkpoint that the agent wrote on request, or
 * from its last one.
 */
export const byPlan = async ({ all, comes, diary, types }: Stage): Promise<void> => {
  await comes(taskRecovery, 'T-gives', 'RECOVERY_COMPLETED');
  await holds(() => expect(types(agentOrder, 'gives')).toEqual(['HANDOFF_AGENT']));
  await holds(() => expect(diary('gives').at(-1)).toMatch(/^received handoff_request "Please write a checkpoint/));
  expect(all(taskRecovery, 'T-gives', 'RECOVERY_INITIATED')).toMatchObject([{ fromCheckpoint: 'gives-4' }]);
  await comes(taskRecovery, 'T-clings', 'RECOVERY_COMPLETED');
  await holds(() =>
    expect(types(agentIntervention, 'clings')).toEqual([
      'CASE_OPENED',
      'HANDOFF_REQUESTED',
      'AGENT_TERMINATED',
      'CASE_CLOSED',
    ]),
  );
  await holds(() => expect(types(agentOrder, 'clings')).toEqual(['HANDOFF_AGENT', 'TERMINATE_AGENT']));
  expect(all(taskRecovery, 'T-clings', 'RECOVERY_INITIATED')).toHaveLength(1);
};

/** CODITECT: "Request handoff if stuck". The agent answers its first nudge so, and the plan goes no further. */
export const byItsAnswer = async ({ all, comes, diary, types }: Stage): Promise<void> => {
  expect(await comes(taskRecovery, 'T-asks', 'RECOVERY_COMPLETED')).toMatchObject({ newAgentId: 'asks-r1' });
  await holds(() => expect(types(agentOrder, 'asks')).toEqual(['NUDGE_AGENT', 'HANDOFF_AGENT']));
  await holds(() =>
    expect(types(agentIntervention, 'asks')).toEqual(['CASE_OPENED', 'NUDGE_SENT', 'HANDOFF_REQUESTED', 'CASE_CLOSED']),
  );
  expect(all(agentIntervention, 'asks', 'HANDOFF_REQUESTED')).toMatchObject([{ asked: HANDOFF }]);
  expect(all(taskRecovery, 'T-asks', 'RECOVERY_INITIATED')).toMatchObject([
    { fromCheckpoint: 'asks-4', deadAgentId: 'asks', attempt: 1 },
  ]);
  await until('its replacement begins', async () => diary('asks-r1').length > 0);
  expect(diary('asks-r1')).toEqual([expect.stringMatching(/^began \d+$/)]);
};

/** CODITECT: "Report blockers". People read them, as the agent's words, and the agent gains time once. */
export const blockersReachPeople = async ({ all, comes, received, shows }: Stage): Promise<void> => {
  const asked = await comes(agentIntervention, 'hindered', 'ESCALATION_TRIGGERED');
  expect(asked.answers).toEqual([{ how: 'blockers', text: BLOCKER }]);
  expect(all(agentHealth, 'hindered', 'AGENT_ANSWERED')).toMatchObject([{ how: 'blockers', text: BLOCKER }]);
  expect(all(agentIntervention, 'hindered', 'NUDGE_SENT'), 'an answer ends the nudging').toHaveLength(1);
  const words = `the agent answers (blockers): ${JSON.stringify(BLOCKER)}`;
  const texts = () =>
    received.of(alert).flatMap(({ key, payload }) => {
      const { text, options } = payload as { readonly text?: string; readonly options?: readonly string[] };
      return key === 'stuck_agent:T-hindered' && (options ?? []).length > 0 ? [text] : [];
    });
  await until('people are notified of the question', async () => texts().length > 0);
  expect(texts()[0]).toMatch(/; without an answer: terminate; the agent answers/);
  expect(texts()[0]).toContain(words);
  await shows(words, 'case', 'show', asked.caseId);
  await comes(taskRecovery, 'T-hindered', 'RECOVERY_COMPLETED');
};
