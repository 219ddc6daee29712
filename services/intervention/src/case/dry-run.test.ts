import { expect, test } from 'vitest';
import { agent, escalate, filed, ladder, nudge, recover, renewed, terminate } from './story.fixture.ts';

const block = { step: 'block', reason: 'see {task}' } as const;
const receive = { step: 'alert', channel: 'ops', severity: 'warning' } as const;

test('a dry run reports what each step would do, and does nothing: people are neither asked nor notified', () => {
  const one = agent();
  one.receive(filed([nudge, escalate, terminate, recover, block, receive]));
  expect(one.admit({ dryRun: true })).toEqual([
    'CASE_OPENED',
    'STEP_SKIPPED nudge dry_run',
    'STEP_SKIPPED escalate dry_run',
    'asks terminate destructive',
  ]);
  expect(one.admit({ dryRun: true })).toEqual([
    'STEP_SKIPPED terminate dry_run',
    'STEP_SKIPPED recover dry_run',
    'STEP_SKIPPED block dry_run',
    'STEP_SKIPPED alert dry_run',
    'CASE_CLOSED executed',
  ]);
  const other = agent();
  other.receive(filed([block, receive]));
  expect(other.admit({ dryRun: true })).toEqual([
    'CASE_OPENED',
    'STEP_SKIPPED block dry_run',
    'STEP_SKIPPED alert dry_run',
    'CASE_CLOSED executed',
  ]);
});

test('in a dry run a terminate that would go to people reports that, and does not ask them', () => {
  const one = agent();
  one.receive(filed([nudge, { ...terminate, requires: ['unanswered'] }, recover]));
  const emitted = one.drafts(one.admitted({ dryRun: true }));
  expect(emitted.map(({ type }) => type)).toEqual([
    'CASE_OPENED',
    'STEP_SKIPPED',
    'STEP_SKIPPED',
    'STEP_SKIPPED',
    'CASE_CLOSED',
  ]);
  expect(emitted[2]?.payload).toMatchObject({
    step: 'terminate',
    detail: expect.stringContaining('people would be asked'),
  });
});

test('a step that a dry run has only reported does not count as done: when it is over, no agent is ended before the first steps', () => {
  const one = agent();
  one.receive(filed(ladder));
  one.admit({ dryRun: true });
  expect(one.admit()).toEqual(['withdraws case-warrant-1-r2', 'CASE_CLOSED withheld']);
  expect(one.receive(renewed(ladder))).toEqual(['asks nudge soft']);
  expect(one.admit()).toEqual(['CASE_OPENED', 'order 1 NUDGE_AGENT', 'NUDGE_SENT 1/3']);
  const first = agent();
  first.receive(filed([terminate, recover]));
  first.admit({ dryRun: true });
  expect(first.admit()).toEqual(['order 1 TERMINATE_AGENT']);
});
