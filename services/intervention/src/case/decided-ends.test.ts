import { describe, expect, test } from 'vitest';

import { FRESH_MS } from './active-case.ts';
import {
  agent,
  answered,
  decides,
  died,
  escalate,
  filed,
  interrogate,
  lapsed,
  MIN,
  receipt,
  recover,
  requests,
  started,
  T0,
  terminate,
  words,
} from './story.fixture.ts';

type Agent = ReturnType<typeof agent>;
type Decision = 'terminate_and_recover' | 'force_handoff';

const probed = () => {
  const one = agent();
  one.receive(filed([interrogate, terminate, recover]));
  one.admit();
  return one;
};

const nonceIn = (one: Agent): string =>
  one.all().flatMap((draft) => (draft.type === 'PROBE_AGENT' ? [draft.payload.nonce] : []))[0] ?? '';

describe('an answer to a probe', () => {
  test.each([
    ['terminate_and_recover', 'order 2 TERMINATE_AGENT'],
    ['force_handoff', 'order 2 HANDOFF_AGENT'],
  ] as const)('that comes after a person has decided %s closes no case', (decision, order) => {
    const one = probed();
    one.receive(decides(decision));
    expect(one.receive(answered(nonceIn(one)))).toEqual([]);
    expect(one.admit()).toContain(order);
  });

  test('that comes after a person has given more time pardons', () => {
    const one = probed();
    one.receive(decides('allow_more_time'));
    expect(one.receive(answered(nonceIn(one)))).toEqual(['CASE_CLOSED pardoned']);
  });
});

/** A person has decided, and the governor has not ruled yet. */
const decided = (decision: Decision) => {
  const one = agent();
  one.receive(filed([escalate, terminate, recover]));
  one.admit();
  one.receive(decides(decision));
  return one;
};

const recovered = ['RECOVER_TASK', 'CASE_CLOSED executed'];
const crashed = died();
const hostGone = died({ endReason: 'lost' });

describe('the death of an agent before what a person has decided is admitted', () => {
  test.each([
    ['terminate_and_recover', 'it crashes', crashed],
    ['terminate_and_recover', 'its host is reported gone', hostGone],
    ['force_handoff', 'it crashes', crashed],
  ] as const)('%s, and %s: its task is recovered for that person, once', (decision, _, end) => {
    const one = decided(decision);
    const emitted = one.drafts(end);
    expect(words(emitted)[0]).toMatch(/^withdraws/);
    expect(words(emitted).slice(-2)).toEqual(recovered);
    expect(emitted.at(-2)?.payload).toMatchObject({ immediate: true, by: 'ada', confirmed: true });
    expect(emitted.at(-1)?.payload).toMatchObject({ instanceEnded: true });
    expect(one.receive(filed([recover], { warrantId: 'warrant-2', endReason: 'crashed' }))).toEqual([]);
  });

  test('also where its finding lapses first, and where the governor withholds the step', () => {
    const one = decided('terminate_and_recover');
    one.withhold('brake');
    expect(one.receive(lapsed('ended'))).toEqual([]);
    expect(one.receive(crashed).slice(-2)).toEqual(recovered);
  });

  test('also where only a finding about the end is read', () => {
    const one = decided('terminate_and_recover');
    const end = filed([recover], { warrantId: 'warrant-2', endReason: 'crashed' });
    expect(one.receive(end).slice(-2)).toEqual(recovered);
    expect(one.receive(crashed)).toEqual([]);
  });

  test('also where it had asked for that by hand', () => {
    const one = agent();
    one.receive(requests('terminate_and_recover'));
    one.admit();
    expect(one.receive(crashed).slice(-2)).toEqual(recovered);
  });

  test('also where a halt takes the order back that it did not live to see', () => {
    const one = decided('terminate_and_recover');
    one.admit();
    expect(one.receive(crashed)).toEqual([]);
    expect(one.receive(receipt('halted', 'case-warrant-1-1')).slice(-2)).toEqual(recovered);
  });

  test('also where its terminate is answered as superseded, since it had crashed before', () => {
    const one = decided('terminate_and_recover');
    one.admit();
    expect(one.receive(crashed)).toEqual([]);
    const answer = receipt('superseded', 'case-warrant-1-1');
    expect(one.receive(answer)).toEqual(['AGENT_TERMINATED', ...recovered]);
    const stopped = decided('terminate_and_recover');
    stopped.admit();
    stopped.receive(died({ endReason: 'explicit' }));
    expect(stopped.receive(answer)).toEqual(['CASE_CLOSED superseded']);
  });

  test('also where that answer is read before the end, which may be reported until the receipt was due', () => {
    const answer = receipt('superseded', 'case-warrant-1-1');
    const ordered = () => {
      const one = decided('terminate_and_recover');
      one.admit();
      expect(one.receive(answer)).toEqual([]);
      return one;
    };
    expect(ordered().receive(crashed)).toEqual(['AGENT_TERMINATED', ...recovered]);
    expect(ordered().receive(died({ endReason: 'finished' }))).toEqual(['CASE_CLOSED superseded']);
    const unreported = ordered();
    const { now } = unreported.clock();
    expect(words(unreported.passTo(now + 1000))).toEqual([]);
    expect(words(unreported.passTo(now + 3_600_000))).toEqual(['DECISION_LAPSED', 'CASE_CLOSED superseded']);
  });

  test('without a decision the plan is over: the policy sets what follows a crash', () => {
    const one = agent();
    one.receive(filed([terminate, recover]));
    one.admit();
    expect(one.receive(crashed).at(-1)).toBe('CASE_CLOSED superseded');
    expect(one.receive(filed([recover], { warrantId: 'warrant-2', endReason: 'crashed' }))).not.toEqual([]);
  });

  test('a person who wanted only its end has it: nothing is recovered', () => {
    const one = agent();
    one.receive(requests('terminate'));
    one.admit();
    expect(one.receive(crashed).at(-1)).toBe('CASE_CLOSED superseded');
  });
});

describe('an end that a person has decided, and whose order reaches its runtime too late', () => {
  const expired = receipt('expired', 'case-warrant-1-1', { why: 'its time to live was over 5 ms ago' });
  const ordered = (decision: Decision = 'terminate_and_recover') => {
    const one = decided(decision);
    one.admit();
    return one;
  };

  test('is asked for and ordered again, and its task is recovered', () => {
    const one = ordered();
    expect(one.receive(expired)).toEqual(['withdraws case-warrant-1-r2', 'asks terminate destructive']);
    expect(one.admit()).toEqual(['order 2 TERMINATE_AGENT']);
    expect(one.receive(receipt('done', 'case-warrant-1-2'))).toEqual(['AGENT_TERMINATED', ...recovered]);
  });

  test('is not ordered again where the agent crashes meanwhile: its task is recovered', () => {
    const one = ordered();
    one.receive(expired);
    const emitted = one.receive(crashed);
    expect(emitted).toEqual(['withdraws case-warrant-1-r3', 'STEP_SKIPPED terminate no_instance', ...recovered]);
  });

  test('is carried out also where the crash was reported before', () => {
    const one = ordered();
    one.receive(crashed);
    expect(one.receive(expired)).toEqual(['AGENT_TERMINATED', ...recovered]);
  });

  test('lapses with the reason where that answer comes a quarter of an hour after the decision, and not a millisecond before', () => {
    const lapsing = decided('terminate_and_recover');
    lapsing.passTo(T0 + FRESH_MS - 1);
    lapsing.admit();
    expect(lapsing.receive(expired)).toContain('asks terminate destructive');
    lapsing.admit();
    lapsing.passTo(T0 + FRESH_MS);
    const emitted = lapsing.drafts(
      receipt('expired', 'case-warrant-1-2', { why: 'its time to live was over 5 ms ago' }),
    );
    expect(words(emitted)).toEqual(['DECISION_LAPSED', 'CASE_CLOSED expired']);
    const why = 'its time to live was over 5 ms ago';
    expect(emitted[0]?.payload).toMatchObject({ decision: 'terminate_and_recover', by: 'ada', step: 'terminate', why });
  });

  test('after a decided handoff is ordered again, too', () => {
    const one = ordered('force_handoff');
    one.after(5 * MIN);
    one.admit();
    expect(one.receive(receipt('expired', 'case-warrant-1-2'))).toContain('asks terminate destructive');
  });

  test('closes the case where only the policy, or a request by hand, wanted it: either may ask again', () => {
    const planned = agent();
    planned.receive(filed([terminate, recover]));
    planned.admit();
    planned.admit();
    expect(planned.receive(expired)).toEqual(['CASE_CLOSED expired']);
    const requested = agent();
    requested.receive(requests('terminate_and_recover'));
    requested.admit();
    requested.admit();
    const orders = requested
      .all()
      .flatMap(({ type, payload }) => (type === 'TERMINATE_AGENT' ? [payload.orderId] : []));
    expect(requested.receive(receipt('expired', orders[0] ?? ''))).toEqual(['CASE_CLOSED expired']);
  });
});

describe('a decision that is not carried out because the agent is gone', () => {
  test.each([
    ['it finishes', died({ endReason: 'finished' }), 'the instance has ended: finished'],
    ['another person stops it', died({ endReason: 'explicit' }), 'the instance has ended: explicit'],
    ['it is taken for lost', died({ endReason: 'lost', endReported: false }), 'the instance has ended: lost'],
    ['another instance of it is alive', started('worker-1.i2'), 'worker-1 is alive as worker-1.i2'],
  ])('is reported with the reason, and no task is recovered: %s', (_, sign, why) => {
    const one = decided('terminate_and_recover');
    const emitted = one.drafts(sign);
    expect(words(emitted).slice(-2)).toEqual(['DECISION_LAPSED', 'CASE_CLOSED superseded']);
    expect(emitted.at(-2)?.payload).toMatchObject({ decision: 'terminate_and_recover', by: 'ada', why });
  });

  test('has lapsed no more when its handoff has been ordered', () => {
    const one = decided('force_handoff');
    one.admit();
    expect(one.receive(died({ endReason: 'finished' }))).toEqual(['CASE_CLOSED superseded']);
  });
});
