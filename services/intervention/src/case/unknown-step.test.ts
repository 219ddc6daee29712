import { expect, test } from 'vitest';
import { agent, changed, died, filed, MIN, nudge, recover, requests, terminate } from './story.fixture.ts';

const reboot = { step: 'UNKNOWN', name: 'reboot' } as const;
const skipped = (one: ReturnType<typeof agent>) =>
  one.all().flatMap((draft) => (draft.type === 'STEP_SKIPPED' ? [draft.payload] : []));

test("in a rolling upgrade, a newer evaluator's step is skipped with its reason, and the case continues", () => {
  const one = agent();
  expect(one.receive(filed([reboot, { ...nudge, attempts: 1 }, terminate]))).toEqual(['asks nudge soft']);
  expect(one.admit()).toEqual(['CASE_OPENED', 'STEP_SKIPPED UNKNOWN unknown_step', 'asks nudge soft']);
  expect(skipped(one)).toMatchObject([{ detail: expect.stringContaining('does not support the step "reboot"') }]);
  expect(one.admit()).toEqual(['order 1 NUDGE_AGENT', 'NUDGE_SENT 1/1']);
  expect(one.after(10 * MIN)).toEqual(['asks terminate destructive']);
});

test('a plan without a known step is worked through: each step is skipped once', () => {
  const one = agent();
  expect(one.receive(filed([reboot, { ...reboot, name: 'drain' }]))).toEqual(['asks UNKNOWN soft']);
  expect(one.admit()).toEqual([
    'CASE_OPENED',
    'STEP_SKIPPED UNKNOWN unknown_step',
    'STEP_SKIPPED UNKNOWN unknown_step',
    'CASE_CLOSED executed',
  ]);
  expect(skipped(one).map(({ detail }) => /"(\w+)"/.exec(detail)?.[1])).toEqual(['reboot', 'drain']);
});

test('the case announces the plan with the name of the step that it does not support', () => {
  const one = agent();
  one.receive(filed([reboot, recover]));
  one.admit();
  expect(one.all().flatMap((draft) => (draft.type === 'CASE_OPENED' ? draft.payload.plan : []))).toMatchObject([
    { step: 'reboot' },
    { step: 'recover' },
  ]);
});

test('a person can still act on an agent whose plan is not known', () => {
  const one = agent();
  one.receive(changed({ to: 'STUCK' }));
  one.receive(filed([reboot]));
  one.receive(died());
  expect(one.receive(requests('terminate_and_recover'))).toContain('asks terminate soft');
});
