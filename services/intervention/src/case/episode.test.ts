import type { Step } from '@vigil/policy';
import { expect, test } from 'vitest';
import {
  agent,
  decides,
  filed,
  ladder,
  lapsed,
  MIN,
  nudge,
  receipt,
  renewed,
  requests,
  terminate,
  terminating,
} from './story.fixture.ts';

const alertOnly: readonly Step[] = [{ step: 'alert', channel: 'ops', severity: 'warning' }];
const alerted = () => {
  const one = agent();
  one.receive(filed(alertOnly, { planName: 'repeated_error' }));
  expect(one.admit()).toEqual(['CASE_OPENED', 'ALERT_REQUESTED', 'CASE_CLOSED executed']);
  return one;
};
const silent = (state: 'STUCK' | 'FAILING' = 'STUCK') => renewed([terminate], { planName: 'no_output', state });

test('a reported agent that falls silent too is acted on: another plan of the same episode opens its own case', () => {
  for (const state of ['STUCK', 'FAILING'] as const) {
    const one = alerted();
    expect(one.receive(silent(state))).toEqual(['asks terminate soft']);
    expect(one.drafts(one.admitted())[0]?.payload).toMatchObject({ caseId: 'case-warrant-1-2', planName: 'no_output' });
    expect(one.admit()).toEqual(['order 1 TERMINATE_AGENT']);
  }
});

test('a plan is worked once an episode, however often others come between', () => {
  const one = alerted();
  for (const planName of ['same_target', 'no_claim_refresh']) {
    expect(one.receive(renewed(alertOnly, { planName }))).toEqual(['asks alert soft']);
    one.admit();
  }
  for (const planName of ['repeated_error', 'no_claim_refresh', 'same_target'])
    expect(one.receive(renewed(alertOnly, { planName }))).toEqual([]);
  const next = { planName: 'repeated_error', episodeId: 'worker-1.e2', warrantId: 'warrant-2' };
  expect(one.receive(renewed(alertOnly, next))).toEqual(['asks alert soft']);
});

test('a plan that a worse one has taken the place of is not worked again when that one is over', () => {
  const one = agent();
  one.receive(filed([nudge], { planName: 'slow' }));
  one.admit();
  expect(one.receive(renewed(alertOnly, { planName: 'worse', state: 'FAILING' }))).toEqual([
    'ALERT_REQUESTED',
    'CASE_CLOSED executed',
  ]);
  expect(one.receive(renewed([nudge], { planName: 'slow' }))).toEqual([]);
});

test('pardoned or unconfirmed, the finding is settled for its episode, under any name of the next plan', () => {
  const pardoned = agent();
  pardoned.receive(filed());
  pardoned.admit();
  pardoned.receive(decides('pardon'));
  expect(pardoned.receive(silent('FAILING'))).toEqual([]);
  const failed = terminating();
  failed.receive(receipt('failed', 'case-warrant-1-1'));
  expect(failed.receive(silent('FAILING'))).toEqual([]);
});

test('recovered or superseded, the finding is settled for its episode too: what comes late about it opens nothing', () => {
  const recovered = agent();
  recovered.receive(filed());
  recovered.admit();
  expect(recovered.receive(lapsed('progress'))).toEqual(['CASE_CLOSED recovered']);
  const superseded = terminating();
  expect(superseded.receive(receipt('superseded', 'case-warrant-1-1')).at(-1)).toBe('CASE_CLOSED superseded');
  for (const one of [recovered, superseded]) {
    expect(one.receive(renewed())).toEqual([]);
    expect(one.receive(filed([nudge], { warrantId: 'warrant-2', episodeId: 'episode-2' }))).not.toEqual([]);
  }
});

test('a dry run reports once an episode what a plan would do; when it is over, a finding that still holds is acted on', () => {
  const one = agent();
  one.receive(filed([nudge, terminate]));
  one.admit({ dryRun: true });
  expect(one.admit({ dryRun: true })).toEqual(['STEP_SKIPPED terminate dry_run', 'CASE_CLOSED executed']);
  for (const number of [3, 4]) {
    expect(one.receive(renewed([nudge, terminate]))).toEqual(['asks nudge soft']);
    expect(one.admit({ dryRun: true })).toEqual([`withdraws case-warrant-1-${number - 1}-r${number}`]);
  }
  expect(one.receive(renewed([nudge, terminate]))).toEqual(['asks nudge soft']);
  expect(one.admit()).toEqual(['CASE_OPENED', 'order 1 NUDGE_AGENT', 'NUDGE_SENT 1/3']);
});

test('a nudge by hand does not undo a pardon, and takes the place of a case without settling its finding', () => {
  const one = agent();
  one.receive(filed());
  one.admit();
  one.receive(decides('pardon'));
  one.receive(requests('nudge'));
  one.admit();
  expect(one.after(MIN)).toEqual(['CASE_CLOSED executed']);
  expect(one.receive(renewed())).toEqual([]);
  const other = agent();
  other.receive(filed());
  other.admit();
  expect(other.receive(requests('nudge'))).toEqual(['CASE_CLOSED superseded', 'asks nudge soft']);
  other.admit();
  other.after(MIN);
  expect(other.receive(renewed(ladder))).toEqual(['asks nudge soft']);
});
