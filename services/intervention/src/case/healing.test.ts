import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import type { Step } from '@vigil/policy';
import { describe, expect, test } from 'vitest';
import {
  agent,
  answered,
  died,
  filed,
  interrupt,
  lapsed,
  MIN,
  nudge,
  receipt,
  recover,
  renewed,
  resume,
  T0,
  terminate,
} from './story.fixture.ts';

const SEC = 1000;
const client = { name: 'claude-code', session_id: 'session-1' };
const ends = { ...terminate, requires: ['unanswered'] } as const;
const oneNudge = { ...nudge, attempts: 1 } as const;
const healing: readonly Step[] = [oneNudge, interrupt, resume, ends, recover];

/** A hung agent whose one nudge has expired; its interrupt is admitted. */
const interrupted = (rest: Parameters<typeof filed>[1] = { client }) => {
  const one = agent();
  one.receive(filed(healing, rest));
  one.admit();
  one.receive(receipt('expired', 'case-warrant-1-1'));
  one.after(10 * MIN);
  one.admit();
  return one;
};

/** The same, resumed. */
const resumed = () => {
  const one = interrupted();
  one.after(2 * MIN);
  one.admit();
  return one;
};

/** An agent whose one nudge is out, without a receipt; its plan has come to the terminate. */
const unreported = () => {
  const one = agent();
  one.receive(filed([oneNudge, ends, recover], { client }));
  one.admit();
  return { one, reached: one.after(10 * MIN) };
};

describe('a runtime that is slow to report what became of a text', () => {
  test('the terminate waits for the receipt, and follows when the text was unanswered', () => {
    const { one, reached } = unreported();
    expect(reached).toEqual([]);
    expect(one.after(2 * MIN - 1)).toEqual([]);
    expect(one.receive(receipt('uncertain', 'case-warrant-1-1'))).toEqual(['asks terminate destructive']);
  });

  test('a receipt that does not come in two minutes leaves it to people', () => {
    const { one } = unreported();
    expect(one.after(2 * MIN - 1)).toEqual([]);
    expect(one.after(1)).toEqual(['STEP_SKIPPED terminate requires', 'ESCALATION_TRIGGERED hold']);
  });

  test('a text that was not due any more leaves it to people at once', () => {
    const { one } = unreported();
    expect(one.receive(receipt('superseded', 'case-warrant-1-1'))).toEqual([
      'STEP_SKIPPED terminate requires',
      'ESCALATION_TRIGGERED hold',
    ]);
  });

  test('an agent that answered is not ended when the receipt comes', () => {
    const { one } = unreported();
    expect(one.receive(answered())).toEqual(['STEP_SKIPPED terminate requires', 'ESCALATION_TRIGGERED hold']);
    expect(one.receive(receipt('delivered', 'case-warrant-1-1'))).toEqual([]);
  });
});

describe('a hung client is interrupted, then resumed, then ended', () => {
  test('the interrupt is soft, the resume is ruled like a terminate, and each has its wait', () => {
    const one = agent();
    one.receive(filed(healing, { client }));
    one.admit();
    one.receive(receipt('expired', 'case-warrant-1-1'));
    expect(one.after(10 * MIN)).toEqual(['asks interrupt soft']);
    expect(one.admit()).toEqual(['order 2 INTERRUPT_AGENT']);
    expect(one.after(2 * MIN - 1)).toEqual([]);
    expect(one.after(1)).toEqual(['asks resume destructive']);
    expect(one.admit()).toEqual(['order 3 RESUME_SESSION']);
    expect(one.after(10 * MIN - 1)).toEqual([]);
    expect(one.after(1)).toEqual(['asks terminate destructive']);
    expect(one.admit()).toEqual(['order 4 TERMINATE_AGENT']);
    expect(one.receive(receipt('done', 'case-warrant-1-4'))).toEqual([
      'AGENT_TERMINATED',
      'RECOVER_TASK',
      'CASE_CLOSED executed',
    ]);
  });

  test('the orders name the instance, and carry the finding in words', () => {
    const one = agent();
    one.receive(filed(healing, { client }));
    one.admit();
    one.after(10 * MIN);
    const [order] = one.drafts(one.admitted());
    expect(order).toMatchObject({
      type: 'INTERRUPT_AGENT',
      payload: {
        instanceId: 'worker-1.i1',
        runtimeId: 'host-1',
        ttlMs: 2 * MIN,
        message: expect.stringMatching(/^interrupted: ./),
      },
    });
    one.after(2 * MIN);
    const [second] = one.drafts(one.admitted());
    expect(second).toMatchObject({
      type: 'RESUME_SESSION',
      payload: {
        instanceId: 'worker-1.i1',
        graceMs: 5 * SEC,
        ttlMs: 60 * SEC,
        message: expect.stringMatching(/^resumed: ./),
      },
    });
  });

  test('progress after the interrupt ends the case: nothing is resumed', () => {
    const one = interrupted();
    expect(one.receive(lapsed('progress'))).toEqual(['CASE_CLOSED recovered']);
    expect(one.after(60 * MIN)).toEqual([]);
  });

  test('progress after the resume ends the case: nothing is ended', () => {
    const one = resumed();
    expect(one.receive(lapsed('progress'))).toEqual(['CASE_CLOSED recovered']);
    expect(one.after(60 * MIN)).toEqual([]);
  });

  test('an agent that ends after the resume is not ended again', () => {
    const one = resumed();
    expect(one.receive(died())).toEqual(['CASE_CLOSED superseded']);
  });

  test('an order that its runtime could not carry out has nothing to wait for', () => {
    const one = interrupted();
    expect(one.receive(receipt('failed', 'case-warrant-1-2'))).toEqual(['asks resume destructive']);
    one.admit();
    expect(one.receive(receipt('failed', 'case-warrant-1-3'))).toEqual(['asks terminate destructive']);
  });

  test.each(['done', 'uncertain', 'superseded'] as const)('a resume that is %s has its wait', (outcome) => {
    const one = resumed();
    expect(one.receive(receipt(outcome, 'case-warrant-1-3'))).toEqual([]);
    expect(one.after(10 * MIN - 1)).toEqual([]);
    expect(one.after(1)).toEqual(['asks terminate destructive']);
  });

  test('a withheld resume is withheld like a terminate', () => {
    const one = interrupted();
    one.after(2 * MIN);
    expect(one.withhold('brake')).toEqual(['CASE_WITHHELD brake']);
    expect(one.admit()[0]).toBe('CASE_RESUMED');
  });
});

describe('who is not interrupted or resumed', () => {
  test('an agent whose client is unknown: the plan goes past both steps without a record', () => {
    const one = agent();
    one.receive(filed(healing, { client: null }));
    one.admit();
    one.receive(receipt('delivered', 'case-warrant-1-1'));
    expect(one.after(10 * MIN)).toEqual(['asks terminate destructive']);
  });

  test('a client without a session is interrupted, and not resumed', () => {
    const one = interrupted({ client: { ...client, session_id: null } });
    expect(one.after(2 * MIN)).toEqual(['STEP_SKIPPED resume no_session', 'asks terminate destructive']);
  });

  test('an agent without a runtime: both are skipped, and people decide about the end', () => {
    const one = agent();
    one.receive(filed(healing, { client, runtimeId: null }));
    one.admit();
    expect(one.after(10 * MIN)).toEqual([
      'STEP_SKIPPED interrupt no_runtime',
      'STEP_SKIPPED resume no_runtime',
      'STEP_SKIPPED terminate no_runtime',
      'ESCALATION_TRIGGERED hold',
    ]);
  });
});

describe('a session is resumed once', () => {
  /** Resumed, recovered, and found again after `ms`: up to the resume of the second case. */
  const hungAgain = (ms: number) => {
    const one = resumed();
    const at = one.clock().now;
    one.receive(lapsed('progress'));
    one.after(ms - 12 * MIN);
    one.receive(filed(healing, { client, warrantId: 'warrant-2', episodeId: 'episode-2', voidAt: T0 + 24 * 60 * MIN }));
    one.admit();
    one.after(10 * MIN);
    one.admit();
    one.after(at + ms - one.clock().now - 1);
    return one;
  };

  test('hung again sooner than the policy allows, it is not resumed again', () => {
    const one = hungAgain(15 * MIN);
    expect(one.after(1)).toEqual([
      expect.stringMatching('STEP_SKIPPED resume requires'),
      'STEP_SKIPPED terminate requires',
      'ESCALATION_TRIGGERED hold',
    ]);
  });

  test.each([
    [60 * MIN - 1, 'STEP_SKIPPED resume requires'],
    [60 * MIN, 'asks resume destructive'],
  ])('%i ms after the first resume: %s', (ms, expected) => {
    const one = hungAgain(ms);
    expect(one.after(1)[0]).toBe(expected);
  });

  test('another instance of the agent has not been resumed', () => {
    const one = resumed();
    one.receive(lapsed('new_instance'));
    one.receive(filed(healing, { client, warrantId: 'warrant-2', episodeId: 'episode-2', instanceId: 'worker-1.i2' }));
    one.admit();
    one.after(10 * MIN);
    one.admit();
    expect(one.after(2 * MIN)).toEqual(['asks resume destructive']);
  });

  test('a renewal during the resume keeps its place in the plan', () => {
    const one = resumed();
    expect(one.receive(renewed(healing, { client }))).toEqual([]);
    expect(one.after(10 * MIN)).toEqual(['asks terminate destructive']);
  });
});

describe('unanswered: the text was delivered, or could not be, and no answer came', () => {
  const nudgedWith = (...outcomes: readonly Parameters<typeof receipt>[0][]) => {
    const one = agent();
    one.receive(filed([{ ...nudge, attempts: Math.max(1, outcomes.length) }, ends, recover]));
    one.admit();
    for (const [i, outcome] of outcomes.entries()) {
      one.receive(receipt(outcome, `case-warrant-1-${i + 1}`));
      if (i < outcomes.length - 1) {
        one.after(10 * MIN);
        one.admit();
      }
    }
    return one;
  };

  test.each([['delivered'], ['expired'], ['failed'], ['uncertain']] as const)('%s counts', (outcome) => {
    expect(nudgedWith(outcome).after(10 * MIN)).toEqual(['asks terminate destructive']);
  });

  test('one delivered and one expired count together', () => {
    expect(nudgedWith('delivered', 'expired').after(10 * MIN)).toEqual(['asks terminate destructive']);
  });

  test.each([['superseded'], ['UNKNOWN']] as const)('%s does not count: people are asked', (outcome) => {
    expect(nudgedWith(outcome).after(10 * MIN)).toEqual([
      'STEP_SKIPPED terminate requires',
      'ESCALATION_TRIGGERED hold',
    ]);
  });

  test('a nudge without a receipt does not count', () => {
    expect(nudgedWith().after(12 * MIN)).toEqual(['STEP_SKIPPED terminate requires', 'ESCALATION_TRIGGERED hold']);
  });

  test('an answer counts against it after any outcome of the nudges', () => {
    const one = nudgedWith('expired');
    one.receive(answered());
    expect(one.after(10 * MIN)).toEqual(['STEP_SKIPPED terminate requires', 'ESCALATION_TRIGGERED hold']);
  });

  test('a text that expired and is then reported as delivered is delivered', () => {
    const one = nudgedWith('expired');
    one.receive(receipt('delivered', 'case-warrant-1-1'));
    one.receive(receipt('expired', 'case-warrant-1-1'));
    expect(one.state().situation).toMatchObject({ activeCase: { nudges: [{ outcome: 'delivered' }] } });
  });
});

test('a receipt of another order moves nothing', () => {
  const one = resumed();
  expect(
    one.receive(example(Topic.orderReceipt, 'ORDER_RECEIPT', { outcome: 'failed', orderId: 'case-warrant-1-2' })),
  ).toEqual([]);
});
