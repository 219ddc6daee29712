import { expect, test } from 'vitest';
import {
  agent,
  answered,
  asking,
  decides,
  died,
  filed,
  ladder,
  lapsed,
  MIN,
  nudge,
  pause,
  recover,
  renewed,
  requests,
  started,
  T0,
  terminate,
} from './story.fixture.ts';

/** Nudged, asked about and, when it was to be ended, withheld by the brake. */
const braked = () => {
  const one = asking();
  expect(one.after(15 * MIN)).toEqual(['asks terminate destructive']);
  expect(one.withhold('brake')).toEqual(['CASE_WITHHELD brake']);
  return one;
};

test('a withheld case stays one open case, however often its warrant is renewed and the ruling is repeated', () => {
  const one = braked();
  for (let minute = 0; minute < 100; minute += 1) {
    one.after(MIN);
    expect(one.receive(renewed(ladder))).toEqual([]);
    expect(one.withhold('brake')).toEqual([]);
  }
  expect(one.situation()).toBe('open');
});

test('it continues with the step that was withheld when the governor admits it', () => {
  const one = braked();
  one.after(9 * MIN);
  expect(one.admit()).toEqual(['CASE_RESUMED', 'order 4 TERMINATE_AGENT']);
});

test('another reason is announced once, and the case is resumed once', () => {
  const one = braked();
  expect(one.withhold('halted')).toEqual(['CASE_WITHHELD halted']);
  expect(one.withhold('halted')).toEqual([]);
  expect(one.withhold('brake')).toEqual(['CASE_WITHHELD brake']);
  expect(one.admit()).toEqual(['CASE_RESUMED', 'order 4 TERMINATE_AGENT']);
});

test('halted between two nudges, the nudges continue with the next one when the halt is over', () => {
  const one = agent();
  one.receive(filed(ladder));
  one.admit();
  one.after(10 * MIN);
  expect(one.withhold('halted')).toEqual(['CASE_WITHHELD halted']);
  expect(one.receive(renewed(ladder))).toEqual([]);
  one.after(5 * MIN);
  expect(one.admit()).toEqual(['CASE_RESUMED', 'order 2 NUDGE_AGENT', 'NUDGE_SENT 2/3']);
  expect(one.after(10 * MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['asks nudge soft']);
});

test('a dry run that begins meanwhile reports what would be done instead of doing it', () => {
  expect(braked().admit({ dryRun: true })).toEqual([
    'CASE_RESUMED',
    'STEP_SKIPPED terminate dry_run',
    'STEP_SKIPPED recover dry_run',
    'CASE_CLOSED executed',
  ]);
});

test('an admission that comes too late is given back, and the step is asked for again', () => {
  const one = braked();
  expect(one.admit({ validUntil: T0 })).toEqual(['CASE_RESUMED', 'withdraws case-warrant-1-r4']);
  expect(one.after(10_000)).toEqual(['asks terminate destructive']);
  expect(one.withhold('brake')).toEqual(['CASE_WITHHELD brake']);
});

test('when the finding is over the case ends, and the request is withdrawn', () => {
  const ends = (input: Parameters<ReturnType<typeof agent>['receive']>[0]) => braked().receive(input);
  const withdrawn = 'withdraws case-warrant-1-r4';
  expect(ends(lapsed('progress'))).toEqual([withdrawn, 'CASE_CLOSED recovered']);
  expect(ends(lapsed('held'))).toEqual([withdrawn, 'CASE_CLOSED pardoned']);
  expect(ends(died())).toEqual([withdrawn, 'CASE_CLOSED superseded']);
  expect(ends(started('worker-1.i2'))).toEqual([withdrawn, 'CASE_CLOSED superseded']);
  expect(ends(decides('pardon'))).toEqual(['ESCALATION_DECIDED pardon', withdrawn, 'CASE_CLOSED pardoned']);
});

test('a warrant that is not renewed expires while its case is withheld, and an admission after that does nothing', () => {
  const one = agent();
  one.receive(filed([terminate], { voidAt: T0 + 3 * MIN }));
  one.admit();
  one.withhold('brake');
  expect(one.after(3 * MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['withdraws case-warrant-1-r2', 'CASE_CLOSED expired']);
  expect(one.admit()).toEqual([]);
});

test('an agent that answers while its end is withheld begins the plan again', () => {
  const one = braked();
  expect(one.receive(answered())).toEqual(['withdraws case-warrant-1-r4', 'asks nudge soft']);
  expect(one.admit()).toEqual(['order 4 NUDGE_AGENT', 'NUDGE_SENT 1/3']);
});

test('what a person has decided is withheld too, is not undone by an answer, and is done when the reason is over', () => {
  const one = braked();
  expect(one.receive(decides('terminate_and_recover'))).toEqual([
    'ESCALATION_DECIDED terminate_and_recover',
    'withdraws case-warrant-1-r4',
    'asks terminate destructive',
  ]);
  expect(one.withhold('brake')).toEqual(['CASE_WITHHELD brake']);
  expect(one.receive(answered())).toEqual([]);
  expect(one.admit()).toEqual(['CASE_RESUMED', 'order 4 TERMINATE_AGENT']);
});

test('more time takes the request back, and the step is asked for again after it', () => {
  const one = braked();
  expect(one.receive(decides('allow_more_time', { forMs: 5 * MIN }))).toEqual([
    'ESCALATION_DECIDED allow_more_time',
    'withdraws case-warrant-1-r4',
  ]);
  expect(one.after(5 * MIN)).toEqual(['asks terminate destructive']);
});

test('a terminate by hand is not kept for later: the case is closed as withheld at once, and its request withdrawn', () => {
  const one = agent();
  one.receive(requests('terminate'));
  one.admit();
  expect(one.withhold('brake')).toEqual(['withdraws case-event-1-r2', 'CASE_CLOSED withheld']);
  expect(one.admit()).toEqual([]);
});

test('a request by hand takes the place of a withheld case', () => {
  expect(braked().receive(requests('nudge'))).toEqual([
    'withdraws case-warrant-1-r4',
    'CASE_CLOSED superseded',
    'asks nudge soft',
  ]);
});

test('a case whose place a request by hand took continues where it stood', () => {
  const one = agent();
  one.receive(filed(ladder));
  one.admit();
  one.receive(requests('nudge'));
  one.admit();
  one.after(MIN);
  one.receive(renewed(ladder));
  expect(one.drafts(one.admitted())[0]?.payload).toMatchObject({ note: 'continues with nudge, where its case stood' });
});

test('another episode and another plan begin with their first step', () => {
  const standing = () => {
    const one = agent();
    one.receive(filed([pause, nudge, terminate, recover], { planName: 'first' }));
    one.admit();
    one.receive(requests('nudge'));
    one.admit();
    one.after(MIN);
    return one;
  };
  const plan = [nudge, terminate];
  expect(standing().receive(renewed(plan, { planName: 'another' }))).toEqual(['asks nudge soft']);
  expect(standing().receive(renewed(plan, { episodeId: 'worker-1.e2', warrantId: 'warrant-2' }))).toEqual([
    'asks nudge soft',
  ]);
});

test('a step that does not fit into the queue is asked for again after a minute, and nothing is announced', () => {
  const one = asking();
  expect(one.after(15 * MIN)).toEqual(['asks terminate destructive']);
  expect(one.withhold('queue_full')).toEqual(['withdraws case-warrant-1-r4']);
  expect(one.after(MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['asks terminate destructive']);
  expect(one.admit()).toEqual(['order 4 TERMINATE_AGENT']);
});

test('a case whose opening does not fit into the queue asks again when its warrant is renewed', () => {
  const one = agent();
  expect(one.receive(filed(ladder))).toEqual(['asks nudge soft']);
  expect(one.withhold('queue_full')).toEqual(['withdraws case-warrant-1-r1']);
  expect(one.situation()).toBe('quiet');
  expect(one.after(MIN)).toEqual([]);
  expect(one.receive(renewed(ladder))).toEqual(['asks nudge soft']);
  expect(one.admit()).toContain('order 1 NUDGE_AGENT');
});

test('a request by hand that does not fit into the queue is refused, with the reason', () => {
  const one = agent();
  one.receive(started('worker-1.i1'));
  one.receive(requests('nudge'));
  expect(one.withhold('queue_full')).toEqual(['withdraws case-event-1-r1', expect.stringContaining('queue_full')]);
  expect(one.after(60 * MIN)).toEqual([]);
});
