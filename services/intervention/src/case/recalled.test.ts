import { describe, expect, test } from 'vitest';
import {
  agent,
  decides,
  died,
  escalate,
  filed,
  handoff,
  interrogate,
  interrupt,
  lapsed,
  MIN,
  nudge,
  receipt,
  recover,
  renewed,
  requests,
  resume,
  started,
  terminate,
  terminating,
} from './story.fixture.ts';

const TERMINATE = 'case-warrant-1-1';
const halted = (orderId = TERMINATE) => receipt('halted', orderId, { why: 'the fleet is halted' });

describe('an end that was ordered before a halt, and had not begun', () => {
  test('is asked for again, withheld like any step, and done when the halt is over', () => {
    const one = terminating();
    expect(one.receive(halted())).toEqual(['withdraws case-warrant-1-r2', 'asks terminate destructive']);
    expect(one.withhold('halted')).toEqual(['CASE_WITHHELD halted']);
    one.after(60 * MIN);
    expect(one.admit()).toEqual(['CASE_RESUMED', 'order 2 TERMINATE_AGENT']);
    expect(one.receive(receipt('done', 'case-warrant-1-2'))).toEqual([
      'AGENT_TERMINATED',
      'RECOVER_TASK',
      'CASE_CLOSED executed',
    ]);
  });

  test('is not asked for where the agent has progressed meanwhile, or a person holds it', () => {
    for (const [sign, ending] of [
      [lapsed('progress'), 'recovered'],
      [lapsed('held'), 'pardoned'],
    ] as const) {
      const one = terminating();
      expect(one.receive(sign)).toEqual([]);
      expect(one.receive(halted())).toEqual(['withdraws case-warrant-1-r2', `CASE_CLOSED ${ending}`]);
    }
  });

  test('is not asked for where the agent has ended by itself, or is alive as another instance', () => {
    for (const sign of [died(), died({ endReason: 'finished' }), started('worker-1.i2')]) {
      const one = terminating();
      one.receive(sign);
      expect(one.receive(halted())).toEqual(['withdraws case-warrant-1-r2', 'CASE_CLOSED superseded']);
    }
  });

  test('and that was done after all is a death, despite anything that the agent showed before', () => {
    const one = terminating();
    one.receive(lapsed('progress'));
    expect(one.receive(receipt('done', TERMINATE))).toEqual([
      'AGENT_TERMINATED',
      'RECOVER_TASK',
      'CASE_CLOSED executed',
    ]);
  });

  test('is not kept where it was asked for by hand: the case is closed as withheld', () => {
    const one = agent();
    one.receive(requests('terminate'));
    one.admit();
    one.admit();
    one.receive(halted('case-event-1-1'));
    expect(one.withhold('halted')).toEqual(['withdraws case-event-1-r3', 'CASE_CLOSED withheld']);
  });

  test('and that people had decided lapses like any decision that cannot be carried out', () => {
    const one = agent();
    one.receive(filed([escalate, terminate, recover], { voidAt: null as never }));
    one.admit();
    one.receive(decides('terminate_and_recover'));
    one.admit();
    one.receive(halted());
    one.withhold('halted');
    expect(one.after(15 * MIN)).toContain('DECISION_LAPSED');
  });
});

describe('a text that a halt has kept from the agent', () => {
  test('a nudge is sent again, and does not count as unanswered', () => {
    const one = agent();
    one.receive(
      filed([
        { ...nudge, attempts: 1 },
        { ...terminate, requires: ['unanswered'] },
      ]),
    );
    one.admit();
    expect(one.receive(halted())).toEqual(['asks nudge soft']);
    expect(one.withhold('halted')).toEqual(['CASE_WITHHELD halted']);
    expect(one.admit()).toEqual(['CASE_RESUMED', 'order 2 NUDGE_AGENT', 'NUDGE_SENT 1/1']);
    expect(one.after(12 * MIN)).toContain('STEP_SKIPPED terminate requires');
  });

  test('the second of two nudges is sent again; the first stays sent', () => {
    const one = agent();
    one.receive(filed([nudge]));
    one.admit();
    one.after(10 * MIN);
    one.admit();
    expect(one.receive(halted('case-warrant-1-2'))).toEqual(['asks nudge soft']);
    expect(one.admit()).toEqual(['order 3 NUDGE_AGENT', 'NUDGE_SENT 2/3']);
  });

  test.each([
    ['a probe', interrogate, 'interrogate', 'PROBE_AGENT'],
    ['an interrupt', interrupt, 'interrupt', 'INTERRUPT_AGENT'],
    ['a resumed session', resume, 'resume', 'RESUME_SESSION'],
    ['a handoff', handoff, 'handoff', 'HANDOFF_AGENT'],
  ] as const)('%s is ordered again', (_, step, name, order) => {
    const client = { name: 'claude-code', version: null, session_id: 's-1', model: null } as never;
    const one = agent();
    one.receive(filed([step], { client }));
    one.admit();
    if (name === 'resume') one.admit();
    expect(one.receive(halted()).at(-1)).toContain(`asks ${name}`);
    expect(one.admit()[0]).toBe(`order 2 ${order}`);
  });

  test('an earlier order than the newest changes nothing', () => {
    const one = agent();
    one.receive(filed([nudge]));
    one.admit();
    one.after(10 * MIN);
    one.admit();
    expect(one.receive(halted())).toEqual([]);
    expect(one.receive(renewed([nudge]))).toEqual([]);
  });
});
