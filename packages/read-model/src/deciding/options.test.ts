import { expect, test } from 'vitest';
import type { CaseStory } from '../queries/cases.ts';
import type { CheckpointRow } from '../queries/tasks.ts';
import { recoveryOptions, type UpcomingPlan } from './options.ts';

const MINUTE = 60_000;
const upcoming: UpcomingPlan = {
  plan: 'STUCK',
  from: 30 * MINUTE,
  steps: ['nudge', 'escalate', 'terminate', 'recover'],
  decisions: ['allow_more_time', 'force_handoff'],
};
const checkpoint = (checkpointId: string, valid: boolean | null, parentId: string | null = null): CheckpointRow =>
  ({ checkpointId, valid, writtenAt: 5, taskId: 'T-1', parentId }) as CheckpointRow;
const checkpoints = [checkpoint('c-3', false), checkpoint('c-2', null), checkpoint('c-1', true)];
const without = { openCase: null, upcoming: null, suspendedBy: null, checkpoints: [] };

const plan = [
  { step: 'nudge', nudge: { attempts: 3, intervalMs: 10 * MINUTE } },
  { step: 'escalate', escalate: { options: ['allow_more_time', 'terminate_and_recover'] } },
  { step: 'terminate' },
  { step: 'recover' },
];
const openCase = (more: object, trail: readonly object[] = []): CaseStory =>
  ({ planName: 'STUCK', plan, step: null, stepAt: 0, waiting: false, withheld: null, trail, ...more }) as never;
const nudged = (attempt: number) =>
  openCase({ step: 'NUDGE_SENT', stepAt: MINUTE }, [{ type: 'NUDGE_SENT', payload: { attempt, of: 3 } }]);
const next = (found: CaseStory) => recoveryOptions({ state: 'STUCK' }, { ...without, openCase: found })?.next;

test('a DEGRADED agent has the plan that will act, its first step and its time, and the decisions that it will offer', () => {
  expect(recoveryOptions({ state: 'DEGRADED' }, { ...without, upcoming })).toEqual({
    plan: 'STUCK',
    steps: ['nudge', 'escalate', 'terminate', 'recover'],
    next: { step: 'nudge', at: 30 * MINUTE },
    suspendedBy: null,
    decisions: ['allow_more_time', 'force_handoff'],
    checkpoint: null,
  });
});

test.each(['HEALTHY', 'TERMINATED', 'UNKNOWN'] as const)('an agent that is %s has no options', (state) => {
  expect(recoveryOptions({ state }, { ...without, upcoming, checkpoints })).toBeNull();
});

test('a recovery would continue from the newest checkpoint that is not invalid', () => {
  expect(recoveryOptions({ state: 'DEGRADED' }, { ...without, checkpoints })?.checkpoint).toEqual({
    ...{ checkpointId: 'c-2', writtenAt: 5, valid: null },
  });
  const branch = [checkpoint('c-3', false, 'c-1'), ...checkpoints.slice(1)];
  expect(recoveryOptions({ state: 'DEGRADED' }, { ...without, checkpoints: branch })?.checkpoint).toMatchObject({
    checkpointId: 'c-1',
  });
  const invalid = [checkpoint('c-3', false)];
  expect(recoveryOptions({ state: 'DEGRADED' }, { ...without, checkpoints: invalid })?.checkpoint).toBeNull();
});

test('without an expected plan an agent has its checkpoint, and no step', () => {
  expect(recoveryOptions({ state: 'DEGRADED' }, { ...without, checkpoints })).toMatchObject({
    ...{ plan: null, steps: [], next: null, decisions: [] },
  });
});

test('an open case continues with its own plan', () => {
  const found = recoveryOptions({ state: 'FAILING' }, { ...without, openCase: openCase({}), upcoming, checkpoints });
  expect(found).toMatchObject({
    plan: 'STUCK',
    next: { step: 'nudge', at: null },
    decisions: ['allow_more_time', 'terminate_and_recover'],
  });
});

test('after each nudge the next one comes at the end of its wait, and after the last one the next step', () => {
  expect(next(nudged(1))).toEqual({ step: 'nudge', at: 11 * MINUTE });
  expect(next(nudged(2))).toEqual({ step: 'nudge', at: 11 * MINUTE });
  expect(next(nudged(3))).toEqual({ step: 'escalate', at: 11 * MINUTE });
});

test('while people are asked, the next step comes at the deadline, and none where the case waits for them', () => {
  const asked = { step: 'ESCALATION_TRIGGERED', waiting: true, escalationOptions: ['pardon'] };
  const until = { ...asked, escalationOnTimeout: 'terminate', escalationDeadlineAt: 7 };
  expect(next(openCase(until))).toEqual({ step: 'terminate', at: 7 });
  expect(next(openCase({ ...until, escalationOnTimeout: 'hold' }))).toBeNull();
  const decisions = recoveryOptions({ state: 'STUCK' }, { ...without, openCase: openCase(until) })?.decisions;
  expect(decisions).toEqual(['pardon']);
});

test('while the agent waits, the next step comes after the wait, at an unknown time', () => {
  const waiting = { ...without, openCase: nudged(1), suspendedBy: 'awaiting_input' };
  expect(recoveryOptions({ state: 'STUCK' }, waiting)).toMatchObject({
    ...{ next: { step: 'nudge', at: null }, suspendedBy: 'awaiting_input' },
  });
});

test('a withheld step is the next one, at an unknown time', () => {
  expect(next(openCase({ step: 'CASE_WITHHELD', withheld: { step: 'terminate', why: 'halted', detail: '' } }))).toEqual(
    {
      ...{ step: 'terminate', at: null },
    },
  );
});
