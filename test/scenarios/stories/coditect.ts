import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { holds, until } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/** CODITECT: nudged three times, escalated, ended, and put on a fresh agent; and the other outcomes on that way. */
export const roles: readonly Role[] = [
  { name: 'stalls', part: 'stalls', policy: 'coditect' },
  { name: 'recovers', part: 'recovers', policy: 'coditect' },
  { name: 'handoff', part: 'handoff', policy: 'coditect-people' },
  { name: 'patient', part: 'stallsOnce', policy: 'coditect-people' },
  { name: 'fails', part: 'failsEachCall', policy: 'coditect' },
];

const { agentHealth, agentIntervention, agentOrder, taskRecovery } = Topic;
const REMINDER = /^REMINDER: You have been working for .+ without\ncheckpoint update\. Please either:\n- Update your/;

export const nudgedEscalatedEndedRecovered = async ({ all, comes, types, diary }: Stage): Promise<void> => {
  const done = await comes(taskRecovery, 'T-stalls', 'RECOVERY_COMPLETED');
  expect(done).toMatchObject({ newAgentId: 'stalls-r1', attempt: 1 });
  await comes(agentIntervention, 'stalls', 'CASE_CLOSED');
  const steps = ['NUDGE_SENT', 'NUDGE_SENT', 'NUDGE_SENT', 'ESCALATION_TRIGGERED', 'AGENT_TERMINATED', 'CASE_CLOSED'];
  expect(types(agentIntervention, 'stalls')).toEqual(['CASE_OPENED', ...steps]);
  const nudges = all(agentIntervention, 'stalls', 'NUDGE_SENT');
  expect(nudges.map(({ attempt, of }) => `${attempt}/${of}`)).toEqual(['1/3', '2/3', '3/3']);
  for (const { message } of nudges) expect(message).toMatch(REMINDER);
  const [asked] = all(agentIntervention, 'stalls', 'ESCALATION_TRIGGERED');
  expect(asked?.options).toEqual(['allow_more_time', 'force_handoff', 'terminate_and_recover']);
  await holds(() => expect(diary('stalls').filter((line) => line.startsWith('received nudge'))).toHaveLength(3));
  await holds(() => expect(diary('stalls').at(-1)).toBe('asked to end'));
};

/** Its partial state, saved before its end as the successor of its own checkpoint. */
/** A replacement continues from the agent's own checkpoint; the partial state is beside it. */
const OWN_CHECKPOINT = expect.stringMatching(/^stalls-\d+$/);

/** hive #6970: a forced cancel that timed out, and both executions ran. */
export const ignoresSigterm = async ({ all, comes, diary, folder, isAlive }: Stage): Promise<void> => {
  await comes(taskRecovery, 'T-stalls', 'RECOVERY_COMPLETED');
  await holds(() =>
    expect(all(agentIntervention, 'stalls', 'AGENT_TERMINATED')).toMatchObject([{ confirmed: true, forced: true }]),
  );
  expect(isAlive('stalls')).toBe(false);
  await until('its replacement begins', async () => diary('stalls-r1').length > 0);
  expect(diary('stalls-r1')).toEqual([expect.stringMatching(/^began \d+$/)]);
  expect(all(taskRecovery, 'T-stalls', 'RECOVERY_INITIATED')).toMatchObject([
    { newAgentId: 'stalls-r1', deadAgentId: 'stalls', fromCheckpoint: OWN_CHECKPOINT, attempt: 1, of: 3 },
  ]);
  expect(all(agentIntervention, 'stalls', 'AGENT_TERMINATED')).toMatchObject([{ checkpoint: OWN_CHECKPOINT }]);
  const saved = path.join(folder, '.vigil/partial-state/T-stalls');
  const [text = ''] = readdirSync(saved).map((name) => readFileSync(path.join(saved, name), 'utf8'));
  expect(text).toMatch(/completed_work:\n +- part 3\n/);
  expect(text).toMatch(/last_output:\n(.*\n)* *- part 3 is done/);
  await holds(() =>
    expect(diary('stalls').filter((line) => line.startsWith('received checkpoint_request'))).toHaveLength(1),
  );
};

/** gt #589: ended again by a heartbeat from before its start. The replacement is watched by itself. */
export const replacementIsLeftAlone = async ({ comes, types, isAlive }: Stage): Promise<void> => {
  expect(await comes(taskRecovery, 'T-stalls', 'PROBATION_PASSED')).toMatchObject({ agentId: 'stalls-r1' });
  await holds(() => expect(types(agentOrder, 'stalls-r1')).toEqual(['SPAWN_AGENT']));
  expect(types(agentIntervention, 'stalls-r1')).toEqual([]);
  expect(isAlive('stalls-r1')).toBe(true);
};

/** More than three failures in a row, or its breaker open: no nudge helps; ended and recovered at once. */
export const failingEndedAtOnce = async ({ all, comes, types }: Stage): Promise<void> => {
  expect(await comes(taskRecovery, 'T-fails', 'RECOVERY_COMPLETED')).toMatchObject({ newAgentId: 'fails-r1' });
  await holds(() =>
    expect(types(agentIntervention, 'fails')).toEqual(['CASE_OPENED', 'AGENT_TERMINATED', 'CASE_CLOSED']),
  );
  await holds(() => expect(all(agentHealth, 'fails', 'HEALTH_STATE_CHANGED').map(({ to }) => to)).toContain('FAILING'));
  await holds(() => expect(types(agentOrder, 'fails')).toEqual(['TERMINATE_AGENT']));
};

/** Kilo #1956: escalated again after the problem was resolved. */
export const healedByTheNudge = async ({ comes, types, isAlive }: Stage): Promise<void> => {
  expect(await comes(agentIntervention, 'recovers', 'CASE_CLOSED')).toMatchObject({ ending: 'recovered' });
  await comes(agentIntervention, 'stalls', 'AGENT_TERMINATED');
  expect(types(agentIntervention, 'recovers')).toEqual(['CASE_OPENED', 'NUDGE_SENT', 'CASE_CLOSED']);
  await holds(() => expect(types(agentOrder, 'recovers')).toEqual(['NUDGE_AGENT']));
  expect(isAlive('recovers')).toBe(true);
};

export const handoffByDecision = async ({ all, comes, diary, runs, types }: Stage): Promise<void> => {
  const { caseId } = await comes(agentIntervention, 'handoff', 'ESCALATION_TRIGGERED');
  await runs('case', 'decide', caseId, 'force_handoff');
  const done = await comes(taskRecovery, 'T-handoff', 'RECOVERY_COMPLETED');
  expect(done).toMatchObject({ newAgentId: 'handoff-r1' });
  await holds(() =>
    expect(types(agentOrder, 'handoff')).toEqual(['NUDGE_AGENT', 'NUDGE_AGENT', 'NUDGE_AGENT', 'HANDOFF_AGENT']),
  );
  await holds(() => expect(diary('handoff').at(-1)).toMatch(/^received handoff_request /));
  await holds(() =>
    expect(all(agentIntervention, 'handoff', 'ESCALATION_DECIDED')).toMatchObject([
      { decision: 'force_handoff', by: 'admin (tester)', why: 'the story decides it' },
    ]),
  );
  expect(all(taskRecovery, 'T-handoff', 'RECOVERY_INITIATED')).toMatchObject([{ fromCheckpoint: 'handoff-4' }]);
};

/** More time twice, no more without progress; a decision on a wrong or closed case is refused; then people decide. */
export const moreTimeTwice = async ({ vigil, all, comes, runs, shows, types }: Stage): Promise<void> => {
  const { caseId } = await comes(agentIntervention, 'patient', 'ESCALATION_TRIGGERED');
  for (const times of [1, 2]) {
    await runs('case', 'decide', caseId, 'allow_more_time', '--for', '1s');
    await comes(agentIntervention, 'patient', 'ESCALATION_DECIDED', times);
    // A dashboard that has not read the decision yet would name the answered question, and the case would refuse it.
    await shows(new RegExp(`(decided allow more time[^]*){${times}}`), 'case', 'show', caseId);
  }
  await runs('case', 'decide', caseId, 'allow_more_time', '--for', '1h');
  const refused = await comes(agentIntervention, 'patient', 'DECISION_REFUSED');
  expect(refused).toMatchObject({ caseId, reason: 'it has had more time 2 times without progress' });
  await runs('case', 'decide', caseId, 'terminate_and_recover');
  await comes(agentIntervention, 'patient', 'AGENT_TERMINATED');
  await holds(() =>
    expect(all(agentIntervention, 'patient', 'ESCALATION_DECIDED').map(({ decision }) => decision)).toEqual([
      'allow_more_time',
      'allow_more_time',
      'terminate_and_recover',
    ]),
  );
  await holds(() => expect(types(agentOrder, 'patient').filter((type) => type === 'TERMINATE_AGENT')).toHaveLength(1));
  const late = ['case', 'decide', caseId, 'pardon', '--by', 'x', '--why', 'too late'];
  await until('a decision on a closed case is refused', async () =>
    (await vigil.vigil(...late)).stderr.includes('is closed'),
  );
  const wrong = await vigil.vigil('case', 'decide', 'case-none', 'pardon', '--by', 'x', '--why', 'x');
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('case-none') });
};
