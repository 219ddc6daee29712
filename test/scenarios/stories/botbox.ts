import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { holds, until } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/** botbox's table: the plan follows the signal. */
export const roles: readonly Role[] = [
  { name: 'mute', part: 'stallsEachTime', policy: 'botbox' },
  { name: 'errs', part: 'errs', policy: 'botbox' },
  { name: 'limited', part: 'limited', policy: 'botbox' },
  { name: 'limited-long', part: 'limitedForLong', policy: 'botbox-slow' },
  { name: 'reported', part: 'errsThenFallsSilent', policy: 'botbox' },
  { name: 'blocked', part: 'errs', policy: 'botbox-kill' },
  { name: 'unsaid', part: 'forgetsToReport', policy: 'botbox' },
  { name: 'burns', part: 'burns', policy: 'botbox' },
  { name: 'rereads', part: 'readsTheSame', policy: 'botbox' },
  { name: 'claims', part: 'forgetsItsClaim', policy: 'botbox' },
  { name: 'breaks', part: 'crashes', policy: 'botbox' },
  { name: 'prompted', part: 'sitsAtItsPrompt', policy: 'botbox' },
  { name: 'permits', part: 'asksForPermission', policy: 'botbox' },
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
    { confirmed: true, claimsReleased: ['claim of T-mute as released'], taskLeft: 'released' },
  ]);
  expect(all(agentIntervention, 'mute', 'ALERT_REQUESTED')).toMatchObject([{ channel: 'ops' }]);
  await holds(() => expect(types(agentOrder, 'mute')).toEqual(['TERMINATE_AGENT']));
  expect(types(taskRecovery, 'T-mute')).toEqual([]);
  expect(isAlive('mute')).toBe(false);
};

export const sameErrorReported = async ({ comes, types, isAlive, received }: Stage): Promise<void> => {
  expect(await comes(agentIntervention, 'errs', 'CASE_CLOSED')).toMatchObject({ ending: 'executed' });
  await comes(agentIntervention, 'mute', 'AGENT_TERMINATED');
  expect(types(agentIntervention, 'errs')).toEqual(['CASE_OPENED', 'ALERT_REQUESTED', 'CASE_CLOSED']);
  expect(types(agentOrder, 'errs')).toEqual([]);
  expect(isAlive('errs')).toBe(true);
  const raised = () =>
    received
      .of(alert)
      .filter(({ type, payload }) => type === 'ALERT_RAISED' && 'agentId' in payload && payload.agentId === 'errs');
  await holds(() =>
    expect(raised().map(({ payload }) => (payload as { route: string }).route)).toEqual(['stuck_agent']),
  );
};

/** gc #1400, #3279: a rate limit is not a crash, and is waited for. */
export const limitedPausedAndResumed = async ({ all, comes, types, diary, isAlive }: Stage): Promise<void> => {
  await comes(agentIntervention, 'limited', 'AGENT_RESUMED');
  await until('it works again', async () => all(agentHealth, 'limited', 'WARRANT_LAPSED').length > 0);
  await comes(agentIntervention, 'limited', 'CASE_CLOSED');
  await holds(() => expect(new Set(types(agentOrder, 'limited'))).toEqual(new Set(['PAUSE_AGENT', 'RESUME_AGENT'])));
  expect(diary('limited').filter((line) => line.startsWith('began'))).toHaveLength(1);
  await holds(() =>
    expect(diary('limited')).toContainEqual('received nudge "The pause is over. Please continue with your task."'),
  );
  expect(isAlive('limited')).toBe(true);
  expect(types(taskRecovery, 'T-limited')).toEqual([]);
};

/**
 * hive #7072: nudged again and again while its quota was gone. Each pause is twice as long; it is neither ended nor
 * counted.
 */
export const limitedForLong = async ({ all, comes, types, diary, isAlive }: Stage): Promise<void> => {
  await comes(agentOrder, 'limited-long', 'PAUSE_AGENT', 3);
  const pauses = all(agentOrder, 'limited-long', 'PAUSE_AGENT').map(({ forMs }) => forMs);
  expect(pauses.slice(0, 3)).toEqual([5000, 10_000, 20_000]);
  await holds(() =>
    expect(new Set(types(agentOrder, 'limited-long'))).toEqual(new Set(['PAUSE_AGENT', 'RESUME_AGENT'])),
  );
  expect(types(taskRecovery, 'T-limited-long')).toEqual([]);
  expect(diary('limited-long').filter((line) => line.startsWith('began'))).toHaveLength(1);
  expect(isAlive('limited-long')).toBe(true);
};

/** gt #3638, gbrain #1801: seen, reported, and never acted upon. Its error is reported, its silence ends it. */
export const reportedThenSilent = async ({ all, comes, types }: Stage): Promise<void> => {
  await comes(agentIntervention, 'reported', 'CASE_CLOSED', 2);
  const silence = ['CASE_OPENED', 'AGENT_TERMINATED', 'ALERT_REQUESTED', 'CASE_CLOSED'];
  expect(types(agentIntervention, 'reported')).toEqual(['CASE_OPENED', 'ALERT_REQUESTED', 'CASE_CLOSED', ...silence]);
  const opened = all(agentIntervention, 'reported', 'CASE_OPENED');
  expect(opened.map(({ planName }) => planName)).toEqual(['repeated_error', 'no_output']);
  expect(new Set(opened.map(({ episodeId }) => episodeId)).size).toBe(1);
};

/** `auto_kill_on_repeated_error`, as in its own file: ended, its task blocked, people notified. */
export const blockedForItsError = async ({ all, comes, types, isAlive }: Stage): Promise<void> => {
  expect(await comes(agentIntervention, 'blocked', 'CASE_CLOSED')).toMatchObject({ ending: 'executed' });
  const steps = ['CASE_OPENED', 'AGENT_TERMINATED', 'TASK_BLOCKED', 'ALERT_REQUESTED', 'CASE_CLOSED'];
  expect(types(agentIntervention, 'blocked')).toEqual(steps);
  expect(all(agentIntervention, 'blocked', 'AGENT_TERMINATED')).toMatchObject([{ taskLeft: 'blocked' }]);
  expect(all(agentIntervention, 'blocked', 'TASK_BLOCKED')).toMatchObject([
    { taskId: 'T-blocked', reason: 'the same error again and again' },
  ]);
  expect(types(taskRecovery, 'T-blocked')).toEqual([]);
  expect(isAlive('blocked')).toBe(false);
};

/** A result, and no completion signal: ended; its work item stays in progress, for crash recovery, and keeps its claims. */
export const unreportedLeftInProgress = async ({ all, comes, types }: Stage): Promise<void> => {
  expect(await comes(agentIntervention, 'unsaid', 'CASE_CLOSED')).toMatchObject({ ending: 'executed' });
  const steps = ['CASE_OPENED', 'ALERT_REQUESTED', 'AGENT_TERMINATED', 'CASE_CLOSED'];
  expect(types(agentIntervention, 'unsaid')).toEqual(steps);
  expect(all(agentIntervention, 'unsaid', 'AGENT_TERMINATED')).toMatchObject([
    { taskLeft: 'in_progress', confirmed: true, claimsReleased: [] },
  ]);
  expect(types(taskRecovery, 'T-unsaid')).toEqual([]);
};

/** Perhaps a hard problem: no agent is ended for it, a person decides, for as long as that takes. */
export const burnsUntilDecided = async ({ all, comes, posts, types, isAlive }: Stage): Promise<void> => {
  const asked = await comes(agentIntervention, 'burns', 'ESCALATION_TRIGGERED');
  expect(asked).toMatchObject({ deadlineAt: null, onTimeout: 'hold' });
  const decision = { kind: 'decide_case', caseId: asked.caseId, decision: 'pardon', by: 'ada', why: 'it is hard' };
  await until('its pardon is written', async () => (await posts(decision)).status === 202);
  expect(await comes(agentIntervention, 'burns', 'CASE_CLOSED')).toMatchObject({ ending: 'pardoned' });
  expect(all(agentIntervention, 'burns', 'ESCALATION_DECIDED')).toMatchObject([
    { by: 'admin (ada)', why: 'it is hard' },
  ]);
  expect(types(agentOrder, 'burns')).toEqual([]);
  expect(isAlive('burns')).toBe(true);
};

/**
 * One target read over and over, a stale claim, a crash: people are notified of each, once, and nothing else follows.
 */
export const onlyReported = async ({ all, comes, types, isAlive }: Stage): Promise<void> => {
  for (const [name, plan] of [
    ['rereads', 'no_claim_refresh or same_target'],
    ['claims', 'no_claim_refresh or same_target'],
    ['breaks', 'crashed'],
  ] as const) {
    await comes(agentIntervention, name, 'CASE_CLOSED');
    expect(types(agentIntervention, name)).toEqual(['CASE_OPENED', 'ALERT_REQUESTED', 'CASE_CLOSED']);
    expect(all(agentIntervention, name, 'CASE_OPENED')).toMatchObject([{ planName: plan }]);
    expect(types(agentOrder, name)).toEqual([]);
    expect(types(taskRecovery, `T-${name}`)).toEqual([]);
  }
  expect([isAlive('rereads'), isAlive('claims')]).toEqual([true, true]);
};

/** S1: a terminal without output for 15 min is stuck. Its prompt does not excuse it; a question that it reports does. */
export const promptIsNoExcuse = async ({ all, comes, types, isAlive }: Stage): Promise<void> => {
  expect(await comes(agentIntervention, 'prompted', 'CASE_CLOSED')).toMatchObject({ ending: 'executed' });
  expect(all(agentIntervention, 'prompted', 'AGENT_TERMINATED')).toMatchObject([{ confirmed: true }]);
  expect(isAlive('prompted')).toBe(false);
  await holds(() => expect(types(agentIntervention, 'permits')).toEqual([]));
  expect(all(agentHealth, 'permits', 'EXEMPTION_CHANGED')).not.toEqual([]);
  expect(isAlive('permits')).toBe(true);
};
