import type { Step } from '@vigil/policy';
import { describe, expect, test } from 'vitest';
import {
  agent,
  answered,
  answers,
  asking,
  changed,
  decides,
  died,
  escalate,
  filed,
  handoff,
  lapsed,
  MIN,
  nudge,
  pause,
  receipt,
  recover,
  renewed,
  requests,
  started,
  T0,
  terminate,
  terminating,
  words,
} from './story.fixture.ts';

/** The deadline of the newest question. */
const newest = (one: ReturnType<typeof agent>): { readonly deadlineAt: number | null } => {
  const asked = one.all().flatMap((draft) => (draft.type === 'ESCALATION_TRIGGERED' ? [draft.payload] : []));
  return { deadlineAt: asked.at(-1)?.deadlineAt ?? null };
};

const escalated = () => {
  const one = agent();
  one.receive(filed([escalate, terminate, recover]));
  one.admit();
  return one;
};

test('a pardon closes the case', () => {
  expect(escalated().receive(decides('pardon'))).toEqual(['ESCALATION_DECIDED pardon', 'CASE_CLOSED pardoned']);
});

test('terminate and recover skips the wait and the conditions, and names who decided', () => {
  const one = agent();
  one.receive(filed([escalate, { ...terminate, requires: ['hard'] }]));
  one.admit();
  expect(one.receive(decides('terminate_and_recover'))).toEqual([
    'ESCALATION_DECIDED terminate_and_recover',
    'asks terminate destructive',
  ]);
  one.admit();
  const [, order] = one.drafts(receipt('done', 'case-warrant-1-1'));
  expect(order?.payload).toMatchObject({ immediate: true, by: 'ada' });
});

test.each([
  ['terminate_and_recover', 'asks terminate destructive'],
  ['force_handoff', 'asks handoff soft'],
] as const)('%s holds for an agent that is paused, though its finding has lapsed meanwhile', (decision, asks) => {
  const one = agent();
  one.receive(filed([pause, terminate, recover]));
  one.admit();
  one.receive(lapsed('progress'));
  const emitted = one.receive(decides(decision));
  expect(emitted).toContain(asks);
  expect(emitted).not.toContain('CASE_CLOSED recovered');
});

test('more time moves the deadline, twice and not more', () => {
  const one = escalated();
  one.after(10 * MIN);
  expect(one.receive(decides('allow_more_time', { forMs: 20 * MIN }))).toEqual(['ESCALATION_DECIDED allow_more_time']);
  expect(one.after(20 * MIN - 1)).toEqual([]);
  one.receive(decides('allow_more_time'));
  expect(one.after(10 * MIN - 1)).toEqual([]);
  expect(one.receive(decides('allow_more_time'))[0]).toContain('more time 2 times without progress');
  expect(one.after(1)).toEqual(['asks terminate destructive']);
});

test('more time never brings a deadline forward', () => {
  const one = escalated();
  one.receive(decides('allow_more_time', { forMs: 1 }));
  expect(one.after(15 * MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['asks terminate destructive']);
});

test('more time takes back a terminate that still waits for its ruling', () => {
  const one = escalated();
  one.after(15 * MIN);
  expect(one.receive(decides('allow_more_time', { forMs: MIN }))).toEqual([
    'ESCALATION_DECIDED allow_more_time',
    'withdraws case-warrant-1-r2',
  ]);
  expect(one.admit()).toEqual([]);
  expect(one.after(MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['asks terminate destructive']);
});

test('a question that no step follows waits after its deadline, and is announced so: nothing would be ended', () => {
  const one = agent();
  one.receive(filed([escalate], { voidAt: null as never }));
  const asked = one.admit();
  expect([...asked, ...one.after(1)].join()).not.toContain('ESCALATION_TRIGGERED terminate');
  expect(one.after(100 * MIN)).toEqual([]);
  expect(one.receive(decides('terminate_and_recover')).at(-1)).toBe('asks terminate destructive');
});

test('an escalation that holds waits for a person for ever', () => {
  const one = agent();
  one.receive(filed([{ ...escalate, onTimeout: 'hold' }, terminate], { voidAt: null as never }));
  one.admit();
  expect(one.after(100 * MIN)).toEqual([]);
  expect(one.receive(decides('terminate_and_recover')).at(-1)).toBe('asks terminate destructive');
});

test('a decision is refused, with the reason, where it names another case, a closed one, none, or comes too late', () => {
  const one = escalated();
  expect(one.receive(decides('pardon', { caseId: 'case-0' }))[0]).toContain(
    'the open case of worker-1 is case-warrant-1',
  );
  one.receive(decides('pardon'));
  expect(one.receive(decides('pardon'))).toEqual(['DECISION_REFUSED case case-warrant-1 is closed: it ended pardoned']);
  expect(agent().receive(decides('pardon'))[0]).toContain('no case of worker-1 is open');
  expect(terminating().receive(decides('pardon'))[0]).toContain('only its receipt moves the case');
  expect(escalated().receive(decides('allow_more_time', { forMs: 0 }))[0]).toContain('give a positive number');
  expect(escalated().receive(decides('UNKNOWN'))[0]).toContain(
    'choose one of allow_more_time, force_handoff, terminate_and_recover',
  );
});

test('a refused decision changes nothing', () => {
  const one = escalated();
  const before = one.state();
  one.receive(decides('pardon', { caseId: 'case-0' }));
  expect(one.state()).toEqual(before);
});

test('a person who holds the agent pardons it', () => {
  const one = escalated();
  expect(one.receive(lapsed('held'))).toEqual(['CASE_CLOSED pardoned']);
});

test('terminate and recover by hand opens a case of its own, and takes the place of an open one', () => {
  const one = agent();
  expect(one.receive(requests('terminate_and_recover'))).toEqual(['asks terminate soft']);
  expect(one.admit()).toEqual(['CASE_OPENED', 'asks terminate destructive']);
  expect(one.admit()).toEqual(['order 1 TERMINATE_AGENT']);
  expect(one.receive(receipt('done', 'case-event-1-1')).at(1)).toBe('RECOVER_TASK');
  const other = escalated();
  expect(other.receive(requests('terminate'))).toEqual(['CASE_CLOSED superseded', 'asks terminate soft']);
});

test('a nudge by hand is one nudge with the text of its sender', () => {
  const one = agent();
  one.receive(requests('nudge', { message: 'look at the tests' }));
  const [, order] = one.drafts(one.admitted());
  expect(order?.payload).toMatchObject({ message: 'look at the tests', attempt: 1 });
  expect(one.after(MIN)).toEqual(['CASE_CLOSED executed']);
});

test('recover by hand of an agent that has ended goes straight to recovery', () => {
  const one = agent();
  one.receive(died());
  one.receive(requests('terminate_and_recover'));
  expect(one.admit()).toEqual([
    'CASE_OPENED',
    'STEP_SKIPPED terminate no_instance',
    'RECOVER_TASK',
    'CASE_CLOSED executed',
  ]);
});

test('a request is refused, with the reason, for another instance, an ended one, an unknown step, or too late', () => {
  const one = agent();
  one.receive(started('worker-1.i2'));
  expect(one.receive(requests('terminate'))[0]).toContain('worker-1 is alive as worker-1.i2, not as worker-1.i1');
  const dead = agent();
  dead.receive(died());
  expect(dead.receive(requests('nudge'))[0]).toContain('has ended already');
  expect(agent().receive(requests('UNKNOWN'))[0]).toContain('cannot request the step UNKNOWN');
  expect(terminating().receive(requests('terminate'))[0]).toContain('only its receipt moves the case');
});

test('a living agent that was taken for dead can be ended on request', () => {
  const one = agent();
  one.receive(died({ endReason: 'lost' }));
  one.receive(changed({ from: 'TERMINATED', to: 'HEALTHY', endReason: null }));
  one.receive(requests('terminate'));
  const neverDead = agent();
  neverDead.receive(requests('terminate'));
  expect(one.admit()).toEqual(neverDead.admit());
});

test('a living agent that was taken for dead and replaced is acted on again', () => {
  const one = agent();
  one.receive(filed([terminate, recover], { endReason: 'lost' }));
  expect(one.admit()).toContain('RECOVER_TASK');
  one.receive(changed({ from: 'TERMINATED', to: 'HEALTHY', endReason: null }));
  expect(one.receive(filed([terminate], { warrantId: 'warrant-2', episodeId: 'episode-2' }))).not.toEqual([]);
});

test('a request that the governor withholds is refused to its sender', () => {
  const one = agent();
  one.receive(requests('terminate'));
  expect(one.withhold('halted')).toEqual(['withdraws case-event-1-r1', 'DECISION_REFUSED halted: the fleet is halted']);
  expect(one.situation()).toBe('quiet');
});

test('a finding made while a case by hand is open waits for its end', () => {
  const one = agent();
  one.receive(requests('nudge'));
  one.admit();
  expect(one.receive(filed([nudge]))).toEqual([]);
  expect(one.after(MIN)).toEqual(['CASE_CLOSED executed', 'asks nudge soft']);
});

test('a worse state does not replace what a person has decided', () => {
  const one = escalated();
  one.receive(decides('terminate_and_recover'));
  expect(one.receive(renewed([nudge], { state: 'FAILING' }))).toEqual([]);
  expect(one.admit()).toEqual(['order 1 TERMINATE_AGENT']);
});

describe('what people have decided is carried out despite anything that the agent does meanwhile', () => {
  const decided = (decision: 'terminate_and_recover' | 'force_handoff', voidAt = T0 + 24 * 60 * MIN) => {
    const one = agent();
    one.receive(filed([escalate, terminate, recover], { voidAt }));
    one.admit();
    one.receive(decides(decision));
    return one;
  };
  const progress = [lapsed('progress'), renewed([escalate, terminate, recover], { state: 'FAILING' })];

  test('an end is ordered though the agent progresses, or its finding is not renewed', () => {
    const one = decided('terminate_and_recover', T0 + 3 * MIN);
    for (const sign of progress) expect(one.receive(sign)).toEqual([]);
    expect(one.after(10 * MIN)).toEqual([]);
    expect(one.admit()).toEqual(['order 1 TERMINATE_AGENT']);
    expect(one.all().at(-1)?.payload).toMatchObject({ awaits: null, foldedSequence: null });
  });

  test('also where the governor withholds it for a while', () => {
    const one = decided('terminate_and_recover');
    expect(one.withhold('brake')).toEqual(['CASE_WITHHELD brake']);
    expect(one.receive(lapsed('progress'))).toEqual([]);
    expect(one.admit()).toEqual(['CASE_RESUMED', 'order 1 TERMINATE_AGENT']);
  });

  test('a handoff that only leads to a checkpoint is followed by the end', () => {
    const one = decided('force_handoff');
    one.admit();
    expect(one.receive(lapsed('progress'))).toEqual([]);
    expect(one.after(5 * MIN)).toEqual(['asks terminate destructive']);
  });

  test('unless a person holds the agent, or another instance of it is alive', () => {
    expect(decided('terminate_and_recover').receive(lapsed('held'))).toContain('CASE_CLOSED pardoned');
    expect(decided('terminate_and_recover').receive(started('worker-1.i2'))).toContain('CASE_CLOSED superseded');
  });
});

describe('the plan of a worse state', () => {
  const ops = { step: 'alert', channel: 'ops', severity: 'warning' } as const;
  const pager = { step: 'alert', channel: 'pager', severity: 'critical' } as const;
  const alerts = (one: ReturnType<typeof agent>) =>
    one.all().flatMap((draft) => (draft.type === 'ALERT_REQUESTED' ? [draft.payload.channel] : []));
  const under = (worse: readonly Step[]) => {
    const one = agent();
    one.receive(filed([ops, nudge], { state: 'DEGRADED', planName: 'DEGRADED' }));
    one.admit();
    one.admit();
    one.receive(renewed(worse, { state: 'FAILING', planName: 'FAILING' }));
    return one;
  };

  test('notifies the people that it names, also where others were notified before; the same people are notified once', () => {
    expect(alerts(under([pager, escalate]))).toEqual(['ops', 'pager']);
    expect(alerts(under([ops, escalate]))).toEqual(['ops']);
  });

  const nudgeWith = (message: string) => ({ ...nudge, attempts: 2, message });
  const texts = (one: ReturnType<typeof agent>) =>
    one.all().flatMap((draft) => (draft.type === 'NUDGE_AGENT' ? [draft.payload.message] : []));
  const nudgedUnder = (worse: readonly Step[]) => {
    const one = agent();
    one.receive(filed([nudgeWith('A'), escalate], { state: 'DEGRADED', planName: 'DEGRADED' }));
    one.admit();
    one.receive(renewed(worse, { state: 'FAILING', planName: 'FAILING' }));
    for (const _ of [1, 2, 3, 4]) {
      one.admit();
      one.after(10 * MIN);
    }
    return one;
  };

  test('nudges with its own text, as often as it is set to, though the agent has been nudged before', () => {
    expect(texts(nudgedUnder([nudgeWith('B'), escalate]))).toEqual(['A', 'B', 'B']);
  });

  test('continues with a text that is under way, and does not begin it again', () => {
    expect(texts(nudgedUnder([nudgeWith('A'), escalate]))).toEqual(['A', 'A']);
  });

  test('does not nudge an agent that has answered', () => {
    const one = agent();
    one.receive(filed([nudgeWith('A'), escalate], { state: 'DEGRADED', planName: 'DEGRADED' }));
    one.admit();
    one.receive(answered());
    const worse = renewed([nudgeWith('B'), escalate], { state: 'FAILING', planName: 'FAILING' });
    expect(one.receive(worse)).toEqual(['ESCALATION_TRIGGERED hold']);
  });

  /** The orders and alerts of a case that has done the first plan and is then judged worse; each step is admitted, and nothing is answered. */
  const acted = (first: readonly Step[], worse: readonly Step[]) => {
    const one = agent();
    one.receive(filed(first, { state: 'DEGRADED', planName: 'DEGRADED', voidAt: null as never }));
    for (let i = 0; i < first.length; i++) {
      one.admit();
      one.after(10 * MIN);
    }
    const before = one.all().length;
    one.receive(renewed(worse, { state: 'FAILING', planName: 'FAILING', voidAt: null as never }));
    for (let i = 0; i < worse.length; i++) {
      one.admit();
      if (!one.all().some(({ type }) => type === 'TERMINATE_AGENT')) one.after(10 * MIN);
    }
    return words(one.all().slice(before)).filter((word) => /order|ALERT|ESCALATION|CASE/.test(word));
  };
  const once = { ...nudge, attempts: 1, message: 'A' };
  const people = { ...escalate, onTimeout: 'hold' } as const;

  test('leaves out what the agent has had, at any place in the plan', () => {
    expect(acted([once, people], [pager, once, terminate])).toEqual(['ALERT_REQUESTED', 'order 2 TERMINATE_AGENT']);
    expect(acted([once, handoff, people], [pager, handoff, once, terminate])).toEqual([
      'ALERT_REQUESTED',
      'order 3 TERMINATE_AGENT',
    ]);
    expect(acted([ops, once, people], [pager, ops, terminate])).toEqual(['ALERT_REQUESTED', 'order 2 TERMINATE_AGENT']);
  });

  test('gives the agent another text, and a step that it has twice is done twice', () => {
    const other = { ...once, message: 'B' };
    expect(acted([once, people], [pager, other, once, other])).toEqual([
      'ALERT_REQUESTED',
      'order 2 NUDGE_AGENT',
      'order 3 NUDGE_AGENT',
      'CASE_CLOSED executed',
    ]);
  });

  test('asks people again about the worse state where its own steps come first', () => {
    expect(acted([escalate, ops, people], [pager, people])).toEqual(['ALERT_REQUESTED', 'ESCALATION_TRIGGERED hold']);
  });

  test('orders no second end', () => {
    const one = terminating([terminate, escalate]);
    one.receive(receipt('done', 'case-warrant-1-1'));
    const emitted = one.receive(renewed([pager, terminate, recover], { state: 'FAILING' }));
    expect(emitted).not.toContain('asks terminate destructive');
    expect(one.all().filter(({ type }) => type === 'TERMINATE_AGENT')).toHaveLength(1);
  });

  test('does not keep a handoff from an agent for which a person decides it', () => {
    const one = agent();
    one.receive(filed([handoff, people], { state: 'DEGRADED', voidAt: null as never }));
    one.admit();
    one.after(10 * MIN);
    one.receive(renewed([pager, people], { state: 'FAILING', voidAt: null as never }));
    expect(one.receive(decides('force_handoff'))).toContain('asks handoff soft');
    expect(one.admit()).toContain('order 2 HANDOFF_AGENT');
  });

  test('still leaves that out where its case was withheld, and the next one continues from there', () => {
    const one = agent();
    one.receive(filed([once, people], { state: 'DEGRADED', planName: 'DEGRADED', voidAt: null as never }));
    one.admit();
    one.after(10 * MIN);
    const other = { ...once, message: 'B' };
    const worse = [pager, other, once, terminate];
    one.receive(renewed(worse, { state: 'FAILING', planName: 'FAILING', voidAt: null as never }));
    one.admit();
    one.receive(requests('nudge', { message: 'C' }));
    one.admit();
    one.after(MIN);
    one.receive(
      renewed(worse, { warrantId: 'warrant-2', state: 'FAILING', planName: 'FAILING', voidAt: null as never }),
    );
    for (let i = 0; i < 4; i++) {
      one.admit();
      one.after(10 * MIN);
    }
    expect(texts(one)).toEqual(['A', 'B', 'C']);
    expect(one.all().filter(({ type }) => type === 'TERMINATE_AGENT')).toHaveLength(1);
  });

  test('withdraws a nudge that has been asked for, and asks for its own', () => {
    const one = agent();
    one.receive(filed([ops, nudgeWith('A'), escalate], { state: 'DEGRADED', planName: 'DEGRADED' }));
    one.admit();
    const worse = renewed([ops, nudgeWith('B'), escalate], { state: 'FAILING', planName: 'FAILING' });
    expect(one.receive(worse)).toEqual(['withdraws case-warrant-1-r2', 'asks nudge soft']);
    one.admit();
    expect(texts(one)).toEqual(['B']);
  });
});

describe('a decision that cannot be carried out yet', () => {
  const FRESH = 15 * MIN;
  const decided = (decision: 'terminate_and_recover' | 'force_handoff') => {
    const one = agent();
    one.receive(filed([escalate, terminate, recover], { voidAt: null as never }));
    one.admit();
    one.receive(decides(decision));
    return one;
  };
  const lapse = ['withdraws case-warrant-1-r2', 'DECISION_LAPSED', 'CASE_CLOSED withheld'];

  test('is carried out when that ends within a quarter of an hour', () => {
    const one = decided('terminate_and_recover');
    one.withhold('halted');
    expect(one.after(FRESH - 1)).toEqual([]);
    expect(one.admit()).toEqual(['CASE_RESUMED', 'order 1 TERMINATE_AGENT']);
  });

  test('is not carried out after that, and people are notified of the reason, also where the agent has progressed meanwhile', () => {
    for (const why of ['halted', 'brake'] as const) {
      const one = decided('terminate_and_recover');
      one.withhold(why);
      one.receive(lapsed('progress'));
      one.after(FRESH - 1);
      expect(one.after(1)).toEqual(lapse);
      expect(one.admit()).toEqual([]);
      const event = one.all().find((draft) => draft.type === 'DECISION_LAPSED');
      expect(event?.payload).toMatchObject({
        decision: 'terminate_and_recover',
        by: 'ada',
        step: 'terminate',
        why: `${why}: the fleet is halted`,
      });
    }
  });

  test('is not carried out by an admission that comes after that', () => {
    const one = decided('terminate_and_recover');
    one.withhold('halted');
    const late = { ...one.admitted({ validUntil: T0 + 2 * FRESH }), occurredAt: T0 + FRESH };
    expect(one.receive(late)).toEqual(lapse);
  });

  test('counts from the end of the handoff that it began with', () => {
    const one = decided('force_handoff');
    one.admit();
    expect(one.after(5 * MIN)).toEqual(['asks terminate destructive']);
    one.withhold('brake');
    expect(one.after(FRESH - 1)).toEqual([]);
    expect(one.after(1)).toContain('DECISION_LAPSED');
  });

  test('counts from the end of the time that people have given since', () => {
    const one = decided('terminate_and_recover');
    one.withhold('brake');
    one.receive(decides('allow_more_time', { forMs: 10 * MIN }));
    expect(one.after(10 * MIN)).toEqual(['asks terminate destructive']);
    expect(one.after(FRESH - 1)).toEqual([]);
    expect(one.after(1)).toContain('DECISION_LAPSED');
  });

  test('leaves what the plan does by itself as it was: a finding that still holds opens the next case', () => {
    const one = decided('terminate_and_recover');
    one.withhold('halted');
    one.after(FRESH);
    expect(one.receive(renewed([escalate, terminate, recover]))).toEqual(['asks terminate soft']);
  });
});

describe('an answer to a question, by a link or a token', () => {
  const question = { deadlineAt: T0 + 15 * MIN };
  const over = (one: ReturnType<typeof agent>, decision: Parameters<typeof decides>[0]) => {
    const drafts = one.drafts(decides(decision, { question }));
    return drafts.map((draft) => (draft.type === 'DECISION_REFUSED' ? draft.payload.reason : draft.type)).join(', ');
  };

  test('answers the open question', () => {
    expect(escalated().receive(decides('pardon', { question }))).toEqual([
      'ESCALATION_DECIDED pardon',
      'CASE_CLOSED pardoned',
    ]);
  });

  test('answers it once: the second answer is refused, also while more time runs', () => {
    const one = escalated();
    one.receive(decides('allow_more_time', { question }));
    expect(over(one, 'pardon')).toContain('more time has been given, and the first answer decides');
  });

  test.each([
    ['allow_more_time', 'terminate_and_recover', 'more time has been given'],
    ['terminate_and_recover', 'allow_more_time', 'terminate_and_recover has been decided'],
    ['terminate_and_recover', 'pardon', 'terminate_and_recover has been decided'],
    ['force_handoff', 'pardon', 'force_handoff has been decided'],
    ['pardon', 'terminate_and_recover', 'is closed: it ended pardoned'],
  ] as const)('of %s and %s, the first decides, and the second is refused with it', (first, second, reason) => {
    const one = escalated();
    expect(one.receive(decides(first, { question }))).toContain(`ESCALATION_DECIDED ${first}`);
    expect(over(one, second)).toContain(reason);
  });

  test.each([1, 1000])('is refused also after the short time that was given first (%s ms)', (forMs) => {
    const one = escalated();
    one.receive(decides('allow_more_time', { question, forMs }));
    one.after(forMs);
    expect(over(one, 'terminate_and_recover')).toContain('more time has been given');
  });

  test('is one of the options that were offered', () => {
    const one = agent();
    one.receive(filed([{ ...escalate, options: ['allow_more_time', 'terminate_and_recover'] }, terminate, recover]));
    one.admit();
    expect(over(one, 'pardon')).toBe('pardon was not offered; choose one of allow_more_time, terminate_and_recover');
    expect(one.receive(decides('allow_more_time', { question }))).toEqual(['ESCALATION_DECIDED allow_more_time']);
  });

  test('does not prevent a decision by hand, which names no question', () => {
    const one = escalated();
    one.receive(decides('allow_more_time', { question }));
    expect(one.receive(decides('pardon'))).toEqual(['ESCALATION_DECIDED pardon', 'CASE_CLOSED pardoned']);
  });

  test('counts for a question that is put again after more time was given', () => {
    const one = asking();
    const { deadlineAt } = newest(one);
    one.receive(decides('allow_more_time', { question: { deadlineAt }, forMs: MIN }));
    one.after(2 * MIN);
    one.receive(answers('blockers', 'no access to the repository'));
    const again = newest(one);
    expect(again.deadlineAt).not.toBe(deadlineAt);
    const { deadlineAt: later } = again;
    expect(one.receive(decides('pardon', { question: { deadlineAt: later } }))).toContain('ESCALATION_DECIDED pardon');
  });

  test('answers a question that holds, by the deadline that people were given, also after it', () => {
    const one = agent();
    one.receive(filed([{ ...escalate, onTimeout: 'hold' }, terminate, recover]));
    one.admit();
    one.after(20 * MIN);
    expect(one.receive(decides('pardon', { question }))).toEqual(['ESCALATION_DECIDED pardon', 'CASE_CLOSED pardoned']);
  });

  test.each([null, T0 + 15 * MIN + 1])('answers no question with another deadline (%s)', (deadlineAt) => {
    const drafts = escalated().drafts(decides('pardon', { question: { deadlineAt } }));
    expect(drafts.map(({ type }) => type)).toEqual(['DECISION_REFUSED']);
  });
});
