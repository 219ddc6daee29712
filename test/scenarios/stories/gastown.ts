import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { holds, until } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/**
 * Gas Town's table, ten minutes as eight seconds: an idle agent with work is reminded twice, then people look; no
 * running agent is ended.
 */
export const policy = JSON.stringify({
  policy: 'gastown',
  heartbeat: { interval: '1s', lost_after: '15s' },
  signals: {
    idle_with_work: { is: 'no_activity', after: '8s' },
    idle_for_long: { is: 'no_activity', after: '50s' },
    crashed: { is: 'exited', reasons: ['crashed', 'resource_limit', 'lost'] },
  },
  states: { FAILING: ['idle_for_long'], STUCK: ['idle_with_work'] },
  exemptions: { starting: { grace: '15s' } },
  breakers: { tool_execution: { recovery_timeout: '10m' } },
  warrant: { renew: '2s', void: '30s' },
  plans: [
    { when: 'crashed', do: ['recover'] },
    { when: 'FAILING', do: [{ escalate: { timeout: 'never' } }] },
    {
      when: 'STUCK',
      do: [
        { nudge: { attempts: 1, interval: '12s', message: 'Does {task} continue?' } },
        { nudge: { attempts: 1, interval: '12s', message: 'URGENT: {task} has stood still for {duration}.' } },
        { escalate: { timeout: 'never' } },
      ],
    },
  ],
  recovery: { delays: ['0s'], spawn_deadline: '40s', probation: '5s', stable: '60s' },
});

const role = (name: string, part: string): Role => ({ name, part, policy: 'gastown' });
export const roles: readonly Role[] = [
  role('quiet', 'stallsEachTime'),
  role('busy', 'works'),
  role('unhooked', 'idles'),
  role('testing', 'testsForLong'),
  role('newborn', 'beginsLate'),
  role('prompting', 'prompts'),
  role('done', 'finishes'),
  role('dead', 'crashesOnce'),
];

const { agentHealth, agentIntervention, agentOrder, taskRecovery } = Topic;

export const remindedTwiceThenPeople = async ({ all, comes, diary, types, isAlive }: Stage): Promise<void> => {
  await comes(agentIntervention, 'quiet', 'ESCALATION_TRIGGERED');
  const urgently = /^received nudge "URGENT: T-quiet has stood still for \d+ seconds\."$/;
  await holds(() =>
    expect(diary('quiet').slice(1)).toEqual([
      'received nudge "Does T-quiet continue?"',
      expect.stringMatching(urgently),
    ]),
  );
  const states = () => all(agentHealth, 'quiet', 'HEALTH_STATE_CHANGED').map(({ to }) => to);
  await until('it has been idle for 45 minutes', async () => states().at(-1) === 'FAILING');
  await comes(agentHealth, 'quiet', 'WARRANT_RENEWED', all(agentHealth, 'quiet', 'WARRANT_RENEWED').length + 2);
  const steps = ['CASE_OPENED', 'NUDGE_SENT', 'NUDGE_SENT', 'ESCALATION_TRIGGERED'];
  await holds(() =>
    expect(types(agentIntervention, 'quiet'), 'worse, and people have been asked already').toEqual(steps),
  );
  await holds(() => expect(types(agentOrder, 'quiet')).toEqual(['NUDGE_AGENT', 'NUDGE_AGENT']));
  expect(isAlive('quiet')).toBe(true);
};

/** At work, without work, in long tests, just begun, at its prompt, done: nothing is found and nothing follows. */
export const leftAlone = async ({ comes, types, diary }: Stage): Promise<void> => {
  await comes(agentIntervention, 'quiet', 'ESCALATION_TRIGGERED');
  for (const name of ['busy', 'unhooked', 'testing', 'newborn', 'prompting', 'done']) {
    expect([name, ...types(agentHealth, name)]).not.toContain('WARRANT_FILED');
    expect([name, ...types(agentOrder, name)]).toEqual([name]);
    expect([name, ...diary(name).slice(1)]).toEqual([name]);
  }
};

/** A session that has just died: its task continues from its saved work, and the reason states that it was just now. */
export const deadAndRecovered = async ({ all, comes, types }: Stage): Promise<void> => {
  expect(await comes(taskRecovery, 'T-dead', 'RECOVERY_COMPLETED')).toMatchObject({ newAgentId: 'dead-r1' });
  await holds(() => expect(types(agentIntervention, 'dead')).toEqual(['CASE_OPENED', 'CASE_CLOSED']));
  expect(types(agentOrder, 'dead')).toEqual([]);
  const [opened] = all(agentIntervention, 'dead', 'CASE_OPENED');
  expect(opened?.evidence.map(({ words }) => words)).toEqual([
    expect.stringMatching(/^ended: crashed( with exit code \d+| by SIG[A-Z]+)?(, \d+ m?s ago)?$/),
  ]);
  expect(all(taskRecovery, 'T-dead', 'RECOVERY_INITIATED')).toMatchObject([{ fromCheckpoint: 'dead-3' }]);
};
