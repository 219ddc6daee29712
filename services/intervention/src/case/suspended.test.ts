import { describe, expect, test } from 'vitest';
import {
  agent,
  asking,
  decides,
  died,
  filed,
  ladder,
  MIN,
  receipt,
  recover,
  renewed,
  terminate,
} from './story.fixture.ts';

const waits = (plan = ladder) => renewed(plan, { suspendedBy: 'awaiting_input' });
const works = () => renewed(ladder, { suspendedBy: null });

/** The deadline of the newest question. */
const deadlineOf = (one: ReturnType<typeof agent>): number | null => {
  const asked = one.all().flatMap((draft) => (draft.type === 'ESCALATION_TRIGGERED' ? [draft.payload] : []));
  return asked.at(-1)?.deadlineAt ?? null;
};

/** Its first nudge is sent. */
const nudged = () => {
  const one = agent();
  one.receive(filed(ladder));
  expect(one.admit()).toContain('NUDGE_SENT 1/3');
  return one;
};

describe('a wait suspends the plan', () => {
  test('no step begins in the wait, and the next nudge comes after the time that was left', () => {
    const one = nudged();
    one.after(4 * MIN);
    expect(one.receive(waits())).toEqual([]);
    expect(one.after(60 * MIN)).toEqual([]);
    expect(one.receive(works())).toEqual([]);
    expect(one.after(6 * MIN - 1)).toEqual([]);
    expect(one.after(1)).toEqual(['asks nudge soft']);
    expect(one.admit()).toEqual(['order 2 NUDGE_AGENT', 'NUDGE_SENT 2/3']);
  });

  test('an agent that asks again and again gets its three nudges, and then people are asked', () => {
    const one = nudged();
    const seen: string[] = [];
    for (let minute = 0; minute < 40; minute += 1) {
      seen.push(...one.receive(waits()), ...one.after(1000), ...one.receive(works()));
      const emitted = one.after(MIN - 1000);
      seen.push(...emitted, ...(emitted.some((line) => line.startsWith('asks')) ? one.admit() : []));
    }
    expect(seen.filter((line) => line.startsWith('NUDGE_SENT'))).toEqual(['NUDGE_SENT 2/3', 'NUDGE_SENT 3/3']);
    expect(seen.filter((line) => line.startsWith('ESCALATION_TRIGGERED')).length).toBe(1);
  });

  test('an admission that comes in the wait is given back, and asked for again after it', () => {
    const one = nudged();
    expect(one.after(10 * MIN)).toEqual(['asks nudge soft']);
    one.receive(waits());
    expect(one.admit()).toEqual(['withdraws case-warrant-1-r2']);
    expect(one.after(60 * MIN)).toEqual([]);
    expect(one.receive(works())).toEqual(['asks nudge soft']);
  });

  test('the deadline of a question to people is suspended; if it passes in the wait, they are asked again', () => {
    const one = asking();
    one.after(5 * MIN);
    expect(one.receive(waits())).toEqual([]);
    expect(one.after(60 * MIN)).toEqual([]);
    expect(one.receive(works())).toEqual([expect.stringContaining('ESCALATION_TRIGGERED')]);
    expect(one.after(10 * MIN - 1)).toEqual([]);
    expect(one.after(1)).toEqual(['asks terminate destructive']);
  });

  test('people keep the deadline that they were given if it has not passed', () => {
    const one = asking();
    const deadlineAt = deadlineOf(one);
    one.receive(waits());
    one.after(5 * MIN);
    expect(one.receive(works())).toEqual([]);
    expect(one.receive(decides('pardon', { question: { deadlineAt } }))).toContain('ESCALATION_DECIDED pardon');
  });

  test('no case opens in the wait', () => {
    const one = agent();
    expect(one.receive(waits())).toEqual([]);
    expect(one.receive(works())).toEqual(['asks nudge soft']);
  });

  test('a case that was asked for before the wait opens, and sends nothing', () => {
    const one = agent();
    one.receive(filed(ladder));
    one.receive(waits());
    const emitted = one.admit();
    expect(emitted.filter((line) => line.startsWith('order'))).toEqual([]);
    expect(one.after(60 * MIN)).toEqual([]);
    one.receive(works());
    expect(one.admit().some((line) => line.startsWith('NUDGE_SENT 1/3'))).toBe(true);
  });
});

describe('what a wait does not suspend', () => {
  test("a person's decision", () => {
    const one = asking();
    one.receive(waits());
    expect(one.receive(decides('terminate_and_recover'))).toContain('asks terminate destructive');
    expect(one.admit()).toContain('order 4 TERMINATE_AGENT');
  });

  test('the end of the agent', () => {
    const one = asking();
    one.receive(waits());
    expect(one.receive(died())).toEqual([expect.stringContaining('CASE_CLOSED')]);
  });

  test('an order to terminate that is out', () => {
    const one = agent();
    one.receive(filed([terminate, recover]));
    one.admit();
    one.admit();
    one.receive(waits([terminate, recover]));
    expect(one.receive(receipt('done', 'case-warrant-1-1'))).toContain('AGENT_TERMINATED');
  });
});
