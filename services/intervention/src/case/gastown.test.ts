import type { Step } from '@vigil/policy';
import { describe, expect, test } from 'vitest';
import { admitStep, fleet, lost, SEC } from '../governor/fleet.fixture.ts';
import { agent, escalate, filed, MIN, receipt, recover, renewed, terminate } from './story.fixture.ts';

/** Gas Town's `witness` and `deacon`, as a policy has them: STUCK after 10 min, FAILING after 45; people decide about every end. */
const toPeople = { ...escalate, timeoutMs: null };
const nudge = (message: string): Step => ({ step: 'nudge', attempts: 1, intervalMs: 10 * MIN, message });
const reminded: readonly Step[] = [nudge('{task}?'), nudge('URGENT: {task}?'), toPeople];
const worse: readonly Step[] = [toPeople];
const failing = (warrant: typeof filed | typeof renewed) => warrant(worse, { state: 'FAILING' });

const idleForTen = () => {
  const one = agent();
  one.receive(filed(reminded));
  return one;
};
const nudgedTwice = () => {
  const one = idleForTen();
  one.admit();
  one.after(10 * MIN);
  one.admit();
  return one;
};

describe('Gas Town’s table, what follows from each finding', () => {
  test('idle 10 min with work: one nudge', () => {
    expect(idleForTen().admit()).toEqual(['CASE_OPENED', 'order 1 NUDGE_AGENT', 'NUDGE_SENT 1/1']);
  });

  test('idle 20 min with work: another, with high urgency', () => {
    const one = idleForTen();
    one.admit();
    expect(one.after(10 * MIN)).toEqual(['asks nudge soft']);
    const emitted = one.drafts(one.admitted());
    expect(emitted.map(({ type }) => type)).toEqual(['NUDGE_AGENT', 'NUDGE_SENT']);
    expect(emitted[1]?.payload).toMatchObject({ message: expect.stringMatching(/^URGENT: /) });
  });

  test('two nudges unanswered, idle 30 min: escalate, not another nudge', () => {
    expect(nudgedTwice().after(10 * MIN)).toEqual(['ESCALATION_TRIGGERED hold']);
  });

  test('idle 45 min with work, and not looked at before: escalate at once', () => {
    const one = agent();
    expect(one.receive(failing(filed))).toEqual(['asks escalate soft']);
    expect(one.admit()).toEqual(['CASE_OPENED', 'ESCALATION_TRIGGERED hold']);
  });

  test('it gets worse between two nudges: escalate, not another nudge', () => {
    const one = idleForTen();
    one.admit();
    expect(one.receive(failing(renewed))).toEqual(['ESCALATION_TRIGGERED hold']);
    expect(one.after(10 * MIN)).toEqual([]);
  });

  test('once people have been asked, they are not asked again', () => {
    const one = nudgedTwice();
    one.after(10 * MIN);
    expect([...one.receive(renewed(reminded)), ...one.after(60 * MIN)]).toEqual([]);
  });

  test('alive and idle for half an hour, or a day: never ended', () => {
    const one = nudgedTwice();
    const emitted = [...one.after(10 * MIN), ...one.after(23 * 60 * MIN)];
    expect(emitted).toEqual(['ESCALATION_TRIGGERED hold']);
  });

  test('a dead session that counts as running: recovered, and no agent is killed or nudged', () => {
    for (const reason of ['ended: crashed, 2 min ago', 'ended: lost']) {
      const one = agent();
      const evidence = filed().payload.evidence.map((found) => ({ ...found, words: reason }));
      one.receive(filed([recover], { state: 'TERMINATED', endReason: 'crashed', evidence }));
      const emitted = one.drafts(one.admitted());
      expect(emitted.map(({ type }) => type)).toEqual(['CASE_OPENED', 'RECOVER_TASK', 'CASE_CLOSED']);
      expect(emitted[1]?.payload).toMatchObject({ reason: expect.stringContaining(reason) });
    }
  });

  test('a dog beyond five times its timeout: ended by its warrant, and not recovered', () => {
    const one = agent();
    one.receive(filed([terminate], { state: 'FAILING', hard: true }));
    one.admit();
    expect(one.admit()).toEqual(['order 1 TERMINATE_AGENT']);
    expect(one.receive(receipt('done', 'case-warrant-1-1'))).toEqual(['AGENT_TERMINATED', 'CASE_CLOSED executed']);
  });

  test('four sessions die within ten seconds: one incident, and an agent with a warrant is not ended then', () => {
    const one = fleet(40);
    one.receive(admitStep('a39'));
    const emitted = [0, 11, 22, 33].flatMap((i) => [
      ...one.receive(lost(`a${i}`, { host: `h${Math.floor(i / 10)}` })),
      ...one.after(SEC),
    ]);
    expect([...emitted, ...one.after(60 * SEC)]).toEqual(['BRAKE_ENGAGED fleet', 'withholds a39 brake']);
  });
});
