import { Topic } from '@vigil/events';
import { writer } from '@vigil/stream';
import { expect } from 'vitest';
import { holds, until } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/** Commands of people and orchestrators by each ingress, and their own actions. */
export const roles: readonly Role[] = [
  { name: 'by-http', part: 'stallsEachTime', policy: 'coditect-people' },
  { name: 'by-kafka', part: 'stallsOnce', policy: 'coditect-people' },
  { name: 'unwanted', part: 'obeys', policy: 'coditect' },
  { name: 'sick', part: 'obeys', policy: 'coditect' },
  { name: 'newcomer', part: 'startsSlowly', policy: 'coditect', template: { nudge: 'terminal' } },
  { name: 'in-call', part: 'isInACall', policy: 'coditect', template: { nudge: 'terminal' } },
  { name: 'asking', part: 'asksAQuestion', policy: 'coditect', template: { nudge: 'terminal' } },
  { name: 'frail', part: 'crashesTwice', policy: 'coditect' },
];

const { agentHealth, agentIntervention, agentOrder, decideCase, orderReceipt, taskRecovery } = Topic;

/** A case that waits is shown with its options and the time left; an orchestrator pardons it over HTTP, and refuses nothing it may not. */
export const decidedOverHttp = async ({ all, comes, posts, shows, types }: Stage): Promise<void> => {
  const { caseId } = await comes(agentIntervention, 'by-http', 'ESCALATION_TRIGGERED');
  await shows(new RegExp(`${caseId}\\s+by-http\\s+waits for you`), 'case', 'list', '--agent', 'by-http');
  const shown = await shows('waits for a decision', 'case', 'show', caseId);
  expect(shown).toMatch(/in (1 min|\d+ s)[^\n]* then terminate\n/);
  for (const option of ['allow_more_time', 'force_handoff', 'terminate_and_recover'])
    expect(shown).toContain(`vigil case decide ${caseId} ${option} --why`);
  const command = { kind: 'decide_case', caseId, by: 'orchestrator', why: 'it waits for a licence' };
  expect(await posts({ ...command, decision: 'forgive' })).toMatchObject({ status: 400, body: { field: 'decision' } });
  expect(await posts({ ...command, decision: 'pardon' })).toMatchObject({ status: 202 });
  expect(await comes(agentIntervention, 'by-http', 'CASE_CLOSED')).toMatchObject({ ending: 'pardoned' });
  expect(all(agentIntervention, 'by-http', 'ESCALATION_DECIDED')).toMatchObject([
    { decision: 'pardon', by: 'admin (orchestrator)', why: 'it waits for a licence' },
  ]);
  // A decision that is posted before the dashboard has read the end would be written, and refused.
  await shows(new RegExp(`${caseId}\\s+by-http\\s+closed: pardoned`), 'case', 'list', '--agent', 'by-http', '--all');
  expect(await posts({ ...command, decision: 'pardon' })).toMatchObject({ status: 409 });
  await comes(agentHealth, 'by-http', 'WARRANT_RENEWED', all(agentHealth, 'by-http', 'WARRANT_RENEWED').length + 2);
  expect(types(agentIntervention, 'by-http').at(-1), 'pardoned, it is left alone').toBe('CASE_CLOSED');
};

export const decidedOverKafka = async ({ vigil, all, comes, types }: Stage): Promise<void> => {
  const { caseId } = await comes(agentIntervention, 'by-kafka', 'ESCALATION_TRIGGERED');
  const command = { agentId: 'by-kafka', forMs: null, by: 'orchestrator', why: 'its quota is gone', question: null };
  const decide = (named: string) =>
    writer(vigil.log, Date.now).write([
      {
        topic: decideCase,
        type: 'DECIDE_CASE',
        key: 'by-kafka',
        payload: { ...command, caseId: named, decision: 'terminate_and_recover' },
      },
    ]);
  await decide('case-of-none');
  expect(await comes(agentIntervention, 'by-kafka', 'DECISION_REFUSED')).toMatchObject({
    caseId: 'case-of-none',
    reason: `the open case of by-kafka is ${caseId}, not case-of-none`,
  });
  await decide(caseId);
  expect(await comes(taskRecovery, 'T-by-kafka', 'RECOVERY_COMPLETED')).toMatchObject({ newAgentId: 'by-kafka-r1' });
  await holds(() =>
    expect(all(agentIntervention, 'by-kafka', 'ESCALATION_DECIDED')).toMatchObject([
      { decision: 'terminate_and_recover', by: 'orchestrator', why: 'its quota is gone' },
    ]),
  );
  await holds(() => expect(types(agentOrder, 'by-kafka').filter((type) => type === 'TERMINATE_AGENT')).toHaveLength(1));
};

/** gc #425: whom an operator ended, the reconciler brought back. */
export const endedByPeopleStaysEnded = async ({ all, comes, posts, types, isAlive }: Stage): Promise<void> => {
  await comes(agentHealth, 'unwanted', 'INSTANCE_STARTED');
  const command = { kind: 'request_step', agentId: 'unwanted', step: 'terminate', by: 'ada', why: 'not needed' };
  await until('it is known', async () => (await posts(command)).status === 202);
  expect(await comes(agentIntervention, 'unwanted', 'CASE_CLOSED')).toMatchObject({ ending: 'executed' });
  expect(all(agentIntervention, 'unwanted', 'CASE_OPENED')).toMatchObject([
    { requestedBy: 'admin (ada)', warrantId: null },
  ]);
  await comes(taskRecovery, 'T-sick', 'RECOVERY_COMPLETED');
  await comes(agentIntervention, 'by-http', 'CASE_CLOSED');
  expect(types(agentIntervention, 'unwanted')).toEqual(['CASE_OPENED', 'AGENT_TERMINATED', 'CASE_CLOSED']);
  expect(types(taskRecovery, 'T-unwanted')).toEqual([]);
  expect(isAlive('unwanted')).toBe(false);
};

/** `vigil recover`: ended and put on a fresh agent, at once. */
export const recoveredByPeople = async ({ all, comes, runs, diary }: Stage): Promise<void> => {
  await runs('recover', 'sick');
  expect(await comes(taskRecovery, 'T-sick', 'RECOVERY_COMPLETED')).toMatchObject({
    newAgentId: 'sick-r1',
    attempt: 1,
  });
  await holds(() =>
    expect(all(agentIntervention, 'sick', 'AGENT_TERMINATED')).toMatchObject([{ confirmed: true, forced: false }]),
  );
  await until('its replacement works', async () => diary('sick-r1').length > 0);
  expect(diary('sick-r1')).toEqual([expect.stringMatching(/^began/)]);
};

/** gt #3031: typed into a start; gt #1275, gc #5317: into the middle of a call; bmad-loop #739: the return key answered a question. It waits for the prompt, and comes once. */
export const typedOnlyAtItsPrompt = async (stage: Stage): Promise<void> => {
  const { all, comes, diary, go, received, runs } = stage;
  const heartbeats = (name: string) =>
    received.of(Topic.agentObservation).filter(({ key, type }) => key === name && type === 'AGENT_HEARTBEAT').length;
  for (const name of ['newcomer', 'in-call', 'asking']) {
    await comes(agentHealth, name, 'INSTANCE_STARTED');
    await runs('nudge', name, '--message', 'Please commit.', '--no-wait');
    await comes(agentOrder, name, 'NUDGE_AGENT');
    const since = heartbeats(name);
    await until(`${name} has beaten four times more`, async () => heartbeats(name) > since + 4);
    expect(diary(name)).toEqual([expect.stringMatching(/^began/)]);
    go(name);
    await until(`${name} is notified`, async () => diary(name).length > 1);
    expect(diary(name).slice(1)).toEqual(['typed while it is idle: Please commit.']);
    await comes(orderReceipt, name, 'ORDER_RECEIPT');
    await holds(() =>
      expect(all(orderReceipt, name, 'ORDER_RECEIPT')).toMatchObject([{ kind: 'nudge', outcome: 'uncertain' }]),
    );
  }
};

/** CODITECT, section 5: recovered, it fails again within its probation: a person decides. They grant one more, which works. */
export const failedProbationIsReviewed = async ({ all, comes, runs, shows, vigil }: Stage): Promise<void> => {
  const review = await comes(taskRecovery, 'T-frail', 'REVIEW_REQUIRED');
  expect(review.reason).toMatch(/^attempt 1 failed its probation: crashed/);
  expect(all(taskRecovery, 'T-frail', 'RECOVERY_INITIATED')).toHaveLength(1);
  expect(await shows('T-frail', 'task', 'list', '--review')).toContain('attempt 1 failed its probation');
  expect(await shows('review required', 'task', 'show', 'T-frail')).toMatch(/attempt 1 of 3: frail-r1 from \S+ on /);
  await runs('task', 'review', 'T-frail', 'retry');
  expect(await comes(taskRecovery, 'T-frail', 'REVIEW_DECIDED')).toMatchObject({
    decision: 'retry',
    by: 'admin (tester)',
  });
  expect(await comes(taskRecovery, 'T-frail', 'PROBATION_PASSED')).toMatchObject({ agentId: 'frail-r2', attempt: 2 });
  expect(all(taskRecovery, 'T-frail', 'REVIEW_REQUIRED')).toHaveLength(1);
  const again = ['task', 'review', 'T-frail', 'retry', '--by', 'x', '--why', 'x'];
  await until('a review of what is in none is refused', async () =>
    (await vigil.vigil(...again)).stderr.includes('T-frail is not in review'),
  );
};
