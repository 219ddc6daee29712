import { describe, expect, test } from 'vitest';
import {
  agent,
  changed,
  decides,
  died,
  filed,
  handoff,
  lapsed,
  MIN,
  RECEIPT_DUE,
  receipt,
  recover,
  requests,
  started,
  terminate,
  terminating,
} from './story.fixture.ts';

const ORDER = 'case-warrant-1-1';
const FOUND_WITH = filed([]).payload.checkpoint;
const healthy = () => changed({ from: 'STUCK', to: 'HEALTHY', endReason: null });
const finished = died({ endReason: 'finished' });
/** A person stops it: no order of a case. */
const stopped = died({ endReason: 'explicit' });
const byOrder = (endOrderId = ORDER) => died({ endReason: 'explicit', endOrderId });

/** Its host was cut off while a terminate was out, and its end is not confirmed. */
const unconfirmed = (plan: Parameters<typeof terminating>[0] = [terminate, recover]) => {
  const one = terminating(plan);
  one.after(RECEIPT_DUE);
  expect(one.situation()).toBe('unconfirmed');
  return one;
};

describe('an agent whose end was ordered and never confirmed', () => {
  test.each([
    ['progresses', lapsed('progress')],
    ['is HEALTHY', healthy()],
    ['is held by a person', lapsed('held')],
  ])('and that %s has its case behind it: no later end of its own is recovered by it', (_, sign) => {
    for (const end of [finished, stopped, died({ endReason: 'crashed' })]) {
      const one = unconfirmed();
      expect(one.receive(sign)).toEqual([]);
      expect(one.situation()).toBe('quiet');
      expect(one.receive(end)).toEqual(['CASE_CLOSED superseded']);
    }
  });

  test('and that finishes, or is stopped by a person, is not recovered: its case is closed again, which ends its alert', () => {
    for (const end of [finished, stopped]) {
      const one = unconfirmed();
      expect(one.drafts(end)).toMatchObject([
        { type: 'CASE_CLOSED', payload: { ending: 'superseded', instanceEnded: true } },
      ]);
      expect(one.situation()).toBe('quiet');
      expect(one.receive(end)).toEqual([]);
    }
  });

  test('and that ends by that order after all is recovered, once, also when it has shown progress in between', () => {
    for (const end of [byOrder(), receipt('done', ORDER)]) {
      const one = unconfirmed();
      one.receive(lapsed('progress'));
      expect(one.receive(end).slice(0, 2)).toEqual(['AGENT_TERMINATED', 'RECOVER_TASK']);
      expect(one.receive(end)).not.toContain('RECOVER_TASK');
    }
  });

  test('and that ends by that order after another case has taken its place is recovered', () => {
    const one = unconfirmed();
    one.receive(requests('nudge'));
    one.admit();
    expect(one.receive(byOrder())).toEqual(['CASE_CLOSED superseded', 'AGENT_TERMINATED', 'RECOVER_TASK']);
  });

  test('and that ends by that order while the next case has a handoff out is recovered, once', () => {
    for (const end of [byOrder(), receipt('done', ORDER)]) {
      const one = unconfirmed();
      one.receive(healthy());
      one.receive(filed([handoff], { warrantId: 'warrant-2', episodeId: 'episode-2' }));
      expect(one.admit()).toContain('order 2 HANDOFF_AGENT');
      one.receive(decides('pardon', { caseId: 'case-warrant-2' }));
      expect(one.receive(end).slice(0, 2)).toEqual(['AGENT_TERMINATED', 'RECOVER_TASK']);
      expect(one.receive(end)).not.toContain('RECOVER_TASK');
    }
    const activeCase = unconfirmed();
    activeCase.receive(healthy());
    activeCase.receive(filed([handoff], { warrantId: 'warrant-2', episodeId: 'episode-2' }));
    activeCase.admit();
    expect(activeCase.receive(byOrder())).toEqual(['CASE_CLOSED superseded', 'AGENT_TERMINATED', 'RECOVER_TASK']);
  });

  test('and that finishes while the next case has a handoff out is not recovered', () => {
    const one = unconfirmed();
    one.receive(healthy());
    one.receive(filed([handoff], { warrantId: 'warrant-2', episodeId: 'episode-2' }));
    one.admit();
    expect(one.receive(finished)).toEqual(['CASE_CLOSED superseded']);
    expect(one.receive(byOrder())).toEqual([]);
  });

  test('and that is lost, and confirmed dead by a late receipt, is recovered once', () => {
    const one = unconfirmed();
    expect(one.receive(died({ endReason: 'lost' }))).toContain('RECOVER_TASK');
    expect(one.receive(receipt('done', ORDER))).toEqual([]);
    expect(one.receive(byOrder())).toEqual([]);
  });

  test('and that is alive as another instance is not recovered by it', () => {
    const one = unconfirmed();
    one.receive(lapsed('progress'));
    one.receive(started('worker-1.i2'));
    expect(one.receive(receipt('done', ORDER))).toEqual([]);
  });

  test('opens the next case when it progresses and is found again', () => {
    const one = unconfirmed();
    one.receive(lapsed('progress'));
    expect(one.receive(filed([terminate], { warrantId: 'warrant-2', episodeId: 'episode-2' }))).toEqual([
      'asks terminate soft',
    ]);
  });
});

describe('an agent that ends by itself while a terminate is under way', () => {
  test.each([
    ['finishes', finished],
    ['is stopped by a person', stopped],
  ])('and %s is not recovered where the receipt never comes', (_, end) => {
    const one = terminating();
    expect(one.receive(end)).toEqual([]);
    expect(one.after(RECEIPT_DUE - 1)).toEqual([]);
    expect(one.after(1)).toEqual(['CASE_CLOSED superseded']);
  });

  test('is recovered where it ended by that order', () => {
    const one = terminating();
    one.receive(byOrder());
    expect(one.after(RECEIPT_DUE)).toEqual(['AGENT_TERMINATED', 'RECOVER_TASK', 'CASE_CLOSED executed']);
  });
});

/** A handoff has been ordered. */
const handingOff = () => {
  const one = agent();
  one.receive(filed([handoff, terminate, recover]));
  one.admit();
  return one;
};

const handoffOf = (one: ReturnType<typeof agent>): string => {
  const order = one.all().findLast((draft) => draft.type === 'HANDOFF_AGENT');
  return order?.type === 'HANDOFF_AGENT' ? order.payload.orderId : '';
};

/** A person has decided so about a request of theirs. */
const handingOffOnRequest = () => {
  const one = agent();
  one.receive(requests('terminate_and_recover'));
  one.admit();
  one.receive(decides('force_handoff', { caseId: 'case-event-1' }));
  one.admit();
  return one;
};

describe('an agent that was asked to hand off', () => {
  test('and that a person stops is not started again', () => {
    expect(handingOff().receive(stopped)).toEqual(['CASE_CLOSED superseded']);
    const late = handingOff();
    late.after(5 * MIN);
    expect(late.receive(stopped)).toContain('CASE_CLOSED superseded');
  });

  test.each([
    ['pardons it', decides('pardon')],
    ['holds it', lapsed('held')],
  ])('and stops as asked after a person %s has its task recovered', (_, word) => {
    const one = handingOff();
    expect(one.receive(word)).toContain('CASE_CLOSED pardoned');
    expect(one.receive(byOrder())).toEqual(['RECOVER_TASK']);
    expect(one.receive(byOrder())).toEqual([]);
  });

  test.each([
    ['by a warrant', handingOff],
    ['by hand', () => handingOffOnRequest()],
  ])('%s and stops as asked while its terminate waits for its admission has its task recovered at once', (_, begin) => {
    const one = begin();
    expect(one.after(5 * MIN)).toEqual(['asks terminate destructive']);
    const emitted = one.receive(byOrder(handoffOf(one)));
    expect(emitted[0]).toMatch(/^withdraws/);
    expect(emitted).toContain('RECOVER_TASK');
    expect(one.withhold('brake')).toEqual([]);
  });

  test('and that writes a checkpoint for it is continued from that one, and not from the one at the finding', () => {
    const last = { ...(FOUND_WITH as NonNullable<typeof FOUND_WITH>), checkpointId: 'written-for-the-handoff' };
    const end = died({ endReason: 'explicit', endOrderId: ORDER, endCheckpoint: last });
    expect(handingOff().drafts(end)).toContainEqual(
      expect.objectContaining({ type: 'RECOVER_TASK', payload: expect.objectContaining({ checkpoint: last }) }),
    );
    const closed = handingOff();
    closed.receive(decides('pardon'));
    expect(closed.drafts(end)).toMatchObject([{ type: 'RECOVER_TASK', payload: { checkpoint: last } }]);
    const none = handingOff().drafts(died({ endReason: 'explicit', endOrderId: ORDER, endCheckpoint: null }));
    const recovery = none.find(({ type }) => type === 'RECOVER_TASK');
    expect(recovery?.payload).toMatchObject({ checkpoint: FOUND_WITH });
  });

  test('and is taken for dead from afar, comes back and stops as asked has its task recovered', () => {
    const one = handingOff();
    expect(one.receive(died({ endReason: 'lost' }))).toEqual(['CASE_CLOSED superseded']);
    one.receive(
      filed([{ step: 'alert', channel: 'ops', severity: 'warning' }], { warrantId: 'warrant-2', endReason: 'lost' }),
    );
    one.receive(changed({ from: 'TERMINATED', to: 'HEALTHY', endReason: null }));
    expect(one.receive(byOrder())).toContain('RECOVER_TASK');
  });

  const back = () => changed({ from: 'TERMINATED', to: 'HEALTHY', endReason: null });
  /** A person has decided on the handoff, and then on the death: its task is on the way to another agent. */
  const recoveredWhileLost = () => {
    const one = handingOff();
    one.receive(decides('force_handoff'));
    one.admit();
    expect(one.receive(died({ endReason: 'lost' }))).toContain('RECOVER_TASK');
    return one;
  };

  test('and is recovered as lost, comes back and stops as asked has its task recovered again, once', () => {
    const one = recoveredWhileLost();
    one.receive(back());
    expect(one.receive(byOrder())).toContain('RECOVER_TASK');
    expect(one.receive(byOrder())).toEqual([]);
  });

  test('and is recovered as lost by two persons, comes back and stops as asked has its task recovered again', () => {
    const one = recoveredWhileLost();
    one.receive(requests('terminate_and_recover'));
    expect(one.admit()).toContain('RECOVER_TASK');
    one.receive(back());
    expect(one.receive(byOrder())).toContain('RECOVER_TASK');
  });

  test.each([
    ['finishes', finished],
    ['is stopped', stopped],
  ])('and is recovered as lost, comes back and %s is left alone', (_, end) => {
    const one = recoveredWhileLost();
    one.receive(back());
    expect(one.receive(end)).toEqual([]);
    expect(one.receive(byOrder())).toEqual([]);
  });

  test('and stops as asked in the time that a person gave it has its task recovered at once', () => {
    const one = handingOff();
    one.receive(decides('allow_more_time'));
    expect(one.receive(byOrder())).toContain('RECOVER_TASK');
  });

  test('and stops as asked while a person has it nudged by hand has its task recovered', () => {
    const one = handingOff();
    one.receive(requests('nudge'));
    one.admit();
    expect(one.receive(byOrder())).toEqual(['CASE_CLOSED superseded', 'RECOVER_TASK']);
  });

  test('and stops as asked when its terminate has been ordered, and answered as superseded, has its task recovered', () => {
    const one = handingOff();
    one.after(5 * MIN);
    one.admit();
    expect(one.receive(receipt('superseded', 'case-warrant-1-2'))).toEqual(['CASE_CLOSED superseded']);
    expect(one.receive(byOrder())).toEqual(['RECOVER_TASK']);
  });

  test('and stops as asked before its terminate is carried out has its task recovered, whichever of the two is received first', () => {
    const one = handingOff();
    one.after(5 * MIN);
    one.admit();
    expect(one.receive(byOrder())).toEqual([]);
    expect(one.receive(receipt('superseded', 'case-warrant-1-2'))).toEqual([
      'AGENT_TERMINATED',
      'RECOVER_TASK',
      'CASE_CLOSED executed',
    ]);
  });

  test('twice, and stops by the first of the two orders, has its task recovered', () => {
    const one = handingOff();
    one.receive(decides('force_handoff'));
    expect(one.admit()).toContain('order 2 HANDOFF_AGENT');
    expect(one.receive(byOrder())).toContain('RECOVER_TASK');
  });

  test.each([
    ['finishes', finished],
    ['is stopped', stopped],
  ])('and %s after the pardon is left alone', (_, end) => {
    const one = handingOff();
    one.receive(decides('pardon'));
    expect(one.receive(end)).toEqual([]);
  });
});

test('a closed case records whether its agent has ended', () => {
  const closed = (one: ReturnType<typeof agent>) =>
    one.all().flatMap((draft) => (draft.type === 'CASE_CLOSED' ? [draft.payload.instanceEnded] : []));
  const pardoned = handingOff();
  pardoned.receive(decides('pardon'));
  expect(closed(pardoned)).toEqual([false]);
  const dead = handingOff();
  dead.receive(byOrder());
  expect(closed(dead)).toEqual([true]);
  const crashed = agent();
  crashed.receive(filed([{ step: 'alert', channel: 'ops', severity: 'warning' }], { endReason: 'crashed' }));
  crashed.admit();
  expect(closed(crashed)).toEqual([true]);
});
