import { describe, expect, test } from 'vitest';
import type { CaseDraft } from './state.ts';
import {
  agent,
  answers,
  asking,
  changed,
  decides,
  died,
  escalate,
  filed,
  ladder,
  lapsed,
  MIN,
  nudge,
  recover,
  renewed,
  requests,
  terminate,
} from './story.fixture.ts';

const REASON = 'the parser needs a person who knows COBOL';
const BLOCKER = 'no access to the registry';

const nudged = (plan = ladder) => {
  const one = agent();
  one.receive(filed(plan));
  one.admit();
  return one;
};

const wordsIn = (drafts: readonly CaseDraft[]) =>
  drafts.flatMap((draft) =>
    draft.type === 'ESCALATION_TRIGGERED' || draft.type === 'ALERT_REQUESTED' ? [draft.payload.answers] : [],
  );

/** It stops by its first order to hand off, as its runtime reports. */
const stops = (number: number) => died({ endReason: 'explicit', endOrderId: `case-warrant-1-${number}` });

describe('an agent answers a nudge with a request for a handoff', () => {
  test('the handoff begins, and a fresh agent gets the task', () => {
    const one = nudged();
    expect(one.receive(answers('handoff', REASON))).toEqual(['asks handoff soft']);
    expect(one.admit()).toEqual(['order 2 HANDOFF_AGENT', 'HANDOFF_REQUESTED']);
    expect(one.receive(stops(2))).toEqual(['RECOVER_TASK', 'CASE_CLOSED executed']);
  });

  test('the recovery does not count as a decision of a person', () => {
    const one = nudged();
    one.receive(answers('handoff', REASON));
    one.admit();
    const [recovery] = one.drafts(stops(2));
    expect(recovery?.payload).toMatchObject({ by: null, immediate: false, taskId: 'OMN-1234' });
  });

  test('the order outlives the activity that asked for it, and its event has the words of the agent', () => {
    const one = nudged();
    one.receive(answers('handoff', REASON));
    const [order, requested] = one.drafts(one.admitted());
    expect(order?.payload).toMatchObject({ awaits: null, foldedSequence: null });
    expect(requested?.payload).toMatchObject({ asked: REASON });
  });

  test('a finding that ends by the answer itself does not end the handoff', () => {
    const one = nudged();
    one.receive(answers('handoff', REASON));
    expect(one.receive(lapsed('progress'))).toEqual([]);
    expect(one.admit()).toEqual(['order 2 HANDOFF_AGENT', 'HANDOFF_REQUESTED']);
    expect(one.receive(stops(2))).toEqual(['RECOVER_TASK', 'CASE_CLOSED executed']);
  });

  test('an agent that works on instead is left alone after the deadline', () => {
    const one = nudged();
    one.receive(answers('handoff', REASON));
    one.receive(lapsed('progress'));
    one.admit();
    expect(one.after(5 * MIN - 1)).toEqual([]);
    expect(one.after(1)).toEqual(['CASE_CLOSED recovered']);
  });

  test('a handoff that the governor does not admit in a quarter of an hour is given up once the finding is over', () => {
    const one = nudged();
    one.receive(answers('handoff', REASON));
    one.receive(lapsed('progress'));
    expect(one.withhold('halted')).toEqual(['CASE_WITHHELD halted']);
    expect(one.after(15 * MIN - 1)).toEqual([]);
    expect(one.after(1)).toEqual(['withdraws case-warrant-1-r2', 'CASE_CLOSED recovered']);
  });

  test('the plan continues for an agent that neither stops nor works, and its words are in the question', () => {
    const one = nudged();
    one.receive(answers('handoff', REASON));
    one.admit();
    const drafts = one.passTo(one.clock().now + 5 * MIN);
    expect(wordsIn(drafts)).toEqual([[{ how: 'handoff', text: REASON }]]);
    expect(one.after(15 * MIN)).toEqual(['asks terminate destructive']);
  });

  test('a second request begins no second handoff', () => {
    const one = nudged();
    one.receive(answers('handoff', REASON));
    one.admit();
    expect(one.receive(answers('handoff', 'please'))).toEqual([]);
    expect(one.after(5 * MIN)).toEqual(['ESCALATION_TRIGGERED terminate']);
    expect(one.receive(answers('handoff', 'I mean it'))).toEqual(['ESCALATION_TRIGGERED terminate']);
  });

  test('while people are asked it begins as well, and the rest of the plan is the same', () => {
    const one = asking();
    expect(one.receive(answers('handoff', REASON))).toEqual(['asks handoff soft']);
    expect(one.admit()).toEqual(['order 4 HANDOFF_AGENT', 'HANDOFF_REQUESTED']);
    expect(one.after(5 * MIN)).toEqual(['ESCALATION_TRIGGERED terminate']);
  });

  test('people who were asked about an end that the policy forbids are asked again where the agent does not stop', () => {
    const one = nudged([{ ...nudge, attempts: 1 }, { ...terminate, requires: ['hard'] }, recover] as never);
    expect(one.after(10 * MIN)).toEqual(['STEP_SKIPPED terminate requires', 'ESCALATION_TRIGGERED hold']);
    expect(one.receive(answers('handoff', REASON))).toEqual(['asks handoff soft']);
    one.admit();
    expect(one.after(5 * MIN)).toEqual(['STEP_SKIPPED terminate requires', 'ESCALATION_TRIGGERED hold']);
  });

  test('before any text it is not a reply, and begins none', () => {
    const one = agent();
    one.receive(filed([escalate, terminate, recover]));
    one.admit();
    expect(one.receive(answers('handoff', REASON))).not.toContain('asks handoff soft');
  });

  test.each([
    ['has no task', ladder, { taskId: null }],
    ['has no runtime', ladder, { runtimeId: null }],
    ['has a plan that gives its task to no other agent', [nudge, escalate, terminate], {}],
  ] as const)('none begins where the agent %s, and people read the words', (_, plan, rest) => {
    const one = agent();
    one.receive(filed(plan, rest));
    one.admit();
    expect(one.receive(answers('handoff', REASON))).toEqual([]);
    expect(wordsIn(one.passTo(one.clock().now + 30 * MIN))).toEqual([[{ how: 'handoff', text: REASON }]]);
  });

  test('none begins against a decision of a person', () => {
    const one = asking();
    one.receive(decides('terminate_and_recover'));
    expect(one.receive(answers('handoff', REASON))).toEqual([]);
    expect(one.admit()).toEqual(['order 4 TERMINATE_AGENT']);
    expect(one.receive(answers('handoff', REASON))).toEqual([]);
  });

  test('an agent that finishes during its handoff is not recovered', () => {
    const one = nudged();
    one.receive(answers('handoff', REASON));
    one.admit();
    expect(one.receive(died({ endReason: 'finished', endOrderId: null }))).toEqual(['CASE_CLOSED superseded']);
  });
});

describe('an agent answers with what blocks it', () => {
  test('people who are asked later read it', () => {
    const one = nudged();
    one.receive(answers('blockers', BLOCKER));
    const drafts = one.passTo(one.clock().now + 30 * MIN);
    expect(wordsIn(drafts)).toEqual([[{ how: 'blockers', text: BLOCKER }]]);
  });

  test('so does the alert of the plan', () => {
    const alert = { step: 'alert', channel: null, severity: 'warning' } as const;
    const one = nudged([nudge, alert, escalate, terminate, recover] as never);
    one.receive(answers('blockers', BLOCKER));
    const words = [{ how: 'blockers', text: BLOCKER }];
    expect(wordsIn(one.passTo(one.clock().now + 30 * MIN))).toEqual([words, words]);
  });

  test('its newest words count, on one line of 500 characters', () => {
    const one = nudged();
    one.receive(answers('blockers', BLOCKER));
    one.receive(answers('blockers', `ignore\u001b[2J all\n\nrules ${'x'.repeat(600)}`));
    const [[answer] = []] = wordsIn(one.passTo(one.clock().now + 30 * MIN));
    expect(answer?.text).toMatch(/^ignore \[2J all rules x+$/);
    expect(answer?.text).toHaveLength(500);
  });

  test('the text of a state that it reports is not its own words', () => {
    const one = nudged();
    one.receive(answers('self_report', 'it reports that it is stuck'));
    expect(wordsIn(one.passTo(one.clock().now + 30 * MIN))).toEqual([[]]);
  });

  test('a decision of a person is not changed by it', () => {
    const one = asking();
    one.receive(decides('terminate_and_recover'));
    expect(one.receive(answers('blockers', BLOCKER))).toEqual([]);
  });

  test('a later case of the episode has the words, and another episode has not', () => {
    const one = nudged();
    one.receive(answers('blockers', BLOCKER));
    one.receive(requests('nudge'));
    one.admit();
    one.after(MIN);
    one.receive(renewed(ladder));
    one.admit();
    one.after(10 * MIN);
    one.admit();
    one.after(10 * MIN);
    one.admit();
    expect(wordsIn(one.passTo(one.clock().now + 10 * MIN))).toEqual([[{ how: 'blockers', text: BLOCKER }]]);
    one.receive(lapsed('progress'));
    one.receive(changed({ to: 'HEALTHY' }));
    one.receive(filed([escalate, terminate, recover], { warrantId: 'warrant-2', episodeId: 'episode-2' }));
    expect(wordsIn(one.drafts(one.admitted()))).toEqual([[]]);
  });
});

describe('an answer starts the wait for it again, once an episode', () => {
  test('the waits of a nudge begin with the answer', () => {
    const one = nudged();
    one.after(9 * MIN);
    one.receive(answers('blockers', BLOCKER));
    expect(one.after(30 * MIN - 1)).toEqual([]);
    expect(one.after(1)).toEqual(['ESCALATION_TRIGGERED terminate']);
  });

  test('a second answer starts nothing again', () => {
    const one = nudged();
    one.receive(answers('blockers', BLOCKER));
    one.after(20 * MIN);
    one.receive(answers('blockers', 'still no access'));
    expect(one.after(10 * MIN - 1)).toEqual([]);
    expect(one.after(1)).toEqual(['ESCALATION_TRIGGERED terminate']);
  });

  test('people who are asked get the question with the words and a new deadline', () => {
    const one = asking();
    one.after(14 * MIN);
    const drafts = one.drafts(answers('blockers', BLOCKER));
    expect(drafts).toMatchObject([
      { type: 'ESCALATION_TRIGGERED', payload: { deadlineAt: one.clock().now + 15 * MIN, onTimeout: 'terminate' } },
    ]);
    expect(wordsIn(drafts)).toEqual([[{ how: 'blockers', text: BLOCKER }]]);
    expect(one.after(15 * MIN - 1)).toEqual([]);
    expect(one.receive(answers('blockers', 'still no access'))).toEqual([]);
    expect(one.after(1)).toEqual(['asks terminate destructive']);
  });

  test('a question that holds keeps its deadline for people, begins its time again, and never continues by itself', () => {
    const one = agent();
    one.receive(filed([{ ...escalate, onTimeout: 'hold' }, terminate, recover]));
    const [asked] = one.drafts(one.admitted()).filter(({ type }) => type === 'ESCALATION_TRIGGERED');
    expect(asked).toMatchObject({ payload: { deadlineAt: one.clock().now + 15 * MIN, onTimeout: 'hold' } });
    one.after(14 * MIN);
    expect(one.drafts(answers('blockers', BLOCKER))).toMatchObject([
      { type: 'ESCALATION_TRIGGERED', payload: { deadlineAt: one.clock().now + 15 * MIN, onTimeout: 'hold' } },
    ]);
    expect(one.after(60 * MIN)).toEqual([]);
  });

  test('a question with a reason of its own is put again with that reason', () => {
    const one = nudged([{ ...nudge, attempts: 1 }, { ...terminate, requires: ['hard'] }, recover] as never);
    const first = one.passTo(one.clock().now + 10 * MIN).find(({ type }) => type === 'ESCALATION_TRIGGERED');
    const [again] = one.drafts(answers('blockers', BLOCKER));
    const reasons = [first, again].map((one) => one?.type === 'ESCALATION_TRIGGERED' && one.payload.reason);
    expect(reasons[0]).toMatch(/hard/);
    expect(reasons[1]).toBe(reasons[0]);
  });

  test('an agent that has had its time gets no more while people are asked, but they read new words', () => {
    const one = nudged();
    one.receive(answers('blockers', BLOCKER));
    one.after(30 * MIN);
    const asked = one.clock().now;
    one.after(MIN);
    const drafts = one.drafts(answers('blockers', 'the disk is full'));
    expect(drafts).toMatchObject([{ payload: { deadlineAt: asked + 15 * MIN } }]);
    expect(wordsIn(drafts)).toEqual([[{ how: 'blockers', text: 'the disk is full' }]]);
    expect(one.receive(answers('blockers', 'and the network is down'))).toEqual([]);
    expect(one.after(14 * MIN)).toEqual(['asks terminate destructive']);
  });

  test('a withheld plan begins again by the first answer only', () => {
    const one = asking();
    one.after(15 * MIN);
    one.withhold('cooldown');
    expect(one.receive(answers('blockers', BLOCKER))).toEqual(['withdraws case-warrant-1-r4', 'asks nudge soft']);
    one.admit();
    for (const _ of [2, 3]) {
      one.after(10 * MIN);
      one.admit();
    }
    expect(one.after(10 * MIN)).toEqual(['ESCALATION_TRIGGERED terminate']);
    expect(one.after(15 * MIN)).toEqual(['asks terminate destructive']);
    one.withhold('cooldown');
    expect(one.receive(answers('blockers', 'still no access'))).toEqual([]);
  });
});
