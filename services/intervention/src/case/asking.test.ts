import type { Step } from '@vigil/policy';
import { expect, test } from 'vitest';
import {
  agent,
  answered,
  decides,
  died,
  escalate,
  filed,
  handoff,
  interrogate,
  lapsed,
  MIN,
  nudge,
  pause,
  recover,
  renewed,
  requests,
  T0,
  terminate,
  words,
} from './story.fixture.ts';

/** The nonce of the newest probe. */
const nonceIn = (one: ReturnType<typeof agent>): string => {
  const probe = one.all().findLast((draft) => draft.type === 'PROBE_AGENT');
  if (probe?.type !== 'PROBE_AGENT') throw new Error('nothing has been probed');
  return probe.payload.nonce;
};

const interrogated = () => {
  const one = agent();
  one.receive(filed([interrogate, terminate]));
  one.admit();
  return one;
};

test('the dance asks three times and waits 60, 120 and 240 seconds; only then the end is asked for', () => {
  const one = agent();
  one.receive(filed([interrogate, terminate]));
  expect(one.admit()).toEqual(['CASE_OPENED', 'order 1 PROBE_AGENT']);
  for (const [wait, number] of [
    [1 * MIN, 2],
    [2 * MIN, 3],
  ] as const) {
    expect(one.after(wait - 1)).toEqual([]);
    expect(one.after(1)).toEqual(['asks interrogate soft']);
    expect(one.admit()).toEqual([`order ${number} PROBE_AGENT`]);
  }
  expect(one.after(4 * MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['asks terminate destructive']);
});

test('each probe carries its own nonce, number and time, and is valid for as long as the case waits for it', () => {
  const one = interrogated();
  one.after(1 * MIN);
  one.admit();
  const probes = one.all().flatMap((draft) => (draft.type === 'PROBE_AGENT' ? [draft.payload] : []));
  expect(probes.map(({ ttlMs, waitMs }) => [ttlMs, waitMs])).toEqual([
    [1 * MIN, 1 * MIN],
    [2 * MIN, 2 * MIN],
  ]);
  expect(probes[0]?.nonce).not.toBe(probes[1]?.nonce);
  expect(probes[1]?.message).toBe(`say ${probes[1]?.nonce} within 120 s, 2 of 3`);
});

test('a reply with a nonce of ours pardons, also to an earlier probe; any other answer does not', () => {
  const one = interrogated();
  expect(one.receive(answered('another'))).toEqual([]);
  expect(one.receive(answered(null))).toEqual([]);
  expect(one.receive(answered(nonceIn(one)))).toEqual(['CASE_CLOSED pardoned']);
  const late = interrogated();
  const first = nonceIn(late);
  late.after(1 * MIN);
  late.admit();
  expect(late.receive(answered(first))).toEqual(['CASE_CLOSED pardoned']);
});

test('progress after the probe closes the dance early, and nothing is ended', () => {
  expect(interrogated().receive(lapsed('progress'))).toEqual(['CASE_CLOSED recovered']);
});

test('an agent that stops after its handoff is not ended: its task goes to a new agent', () => {
  const one = agent();
  one.receive(filed([handoff, terminate, recover]));
  expect(one.admit()).toEqual(['CASE_OPENED', 'order 1 HANDOFF_AGENT', 'HANDOFF_REQUESTED']);
  expect(one.receive(died({ endReason: 'explicit', endOrderId: 'case-warrant-1-1' }))).toEqual([
    'STEP_SKIPPED terminate no_instance',
    'RECOVER_TASK',
    'CASE_CLOSED executed',
  ]);
});

test('a checkpoint written for the handoff closes no case: the task continues when the agent stops, and the case closes where it does not', () => {
  const one = agent();
  one.receive(filed([handoff, terminate, recover]));
  one.admit();
  expect(one.receive(lapsed('progress'))).toEqual([]);
  expect(one.receive(died({ endReason: 'explicit', endOrderId: 'case-warrant-1-1' }))).toContain('RECOVER_TASK');
  const stays = agent();
  stays.receive(filed([handoff, terminate, recover], { voidAt: T0 + 3 * MIN }));
  stays.admit();
  stays.receive(lapsed('progress'));
  expect(stays.after(5 * MIN - 1)).toEqual([]);
  expect(stays.after(1)).toEqual(['CASE_CLOSED recovered']);
});

test('an agent that finishes its work while it is to hand off is done: nothing is recovered', () => {
  const one = agent();
  one.receive(filed([handoff, terminate, recover]));
  one.admit();
  expect(one.receive(died({ endReason: 'finished' }))).toEqual(['CASE_CLOSED superseded']);
});

test('an agent that does not hand off by its deadline is ended', () => {
  const one = agent();
  one.receive(filed([handoff, terminate, recover]));
  one.admit();
  expect(one.after(5 * MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['asks terminate destructive']);
});

test('a person may force a handoff: handed off, else ended, and recovered either way', () => {
  const one = agent();
  one.receive(filed([escalate, { ...terminate, requires: ['hard'] }]));
  one.admit();
  expect(one.receive(decides('force_handoff'))).toEqual(['ESCALATION_DECIDED force_handoff', 'asks handoff soft']);
  expect(one.admit()).toEqual(['order 1 HANDOFF_AGENT', 'HANDOFF_REQUESTED']);
  expect(one.after(5 * MIN)).toEqual(['asks terminate destructive']);
});

test('a handoff by hand asks for nothing but the handoff', () => {
  const one = agent();
  expect(one.receive(requests('handoff'))).toEqual(['asks handoff soft']);
  expect(one.admit()).toEqual(['CASE_OPENED', 'order 1 HANDOFF_AGENT', 'HANDOFF_REQUESTED']);
  expect(one.after(5 * MIN)).toEqual(['CASE_CLOSED executed']);
});

test('an agent that was handed off by hand and stops has no successor: a person continues its task', () => {
  const one = agent();
  one.receive(requests('handoff'));
  one.admit();
  expect(one.receive(died({ endReason: 'explicit', endOrderId: 'case-event-1-1' }))).toEqual(['CASE_CLOSED executed']);
});

const paused = (plan = [pause] as readonly (typeof pause | typeof recover | typeof terminate)[]) => {
  const one = agent();
  one.receive(filed(plan));
  expect(one.admit()).toEqual(['CASE_OPENED', 'order 1 PAUSE_AGENT', 'AGENT_PAUSED']);
  return one;
};

test('a paused agent is set going again when its back-off is over, without a ruling, with the text of the policy', () => {
  const one = paused();
  expect(one.after(1 * MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['order 2 RESUME_AGENT', 'AGENT_RESUMED']);
  expect(one.all().findLast((draft) => draft.type === 'RESUME_AGENT')?.payload).toMatchObject({
    message: expect.stringMatching(/^go on with /),
  });
});

test('a back-off is waited out though the limit is over meanwhile; then the case is closed as recovered', () => {
  const one = paused();
  expect(one.receive(lapsed('progress'))).toEqual([]);
  expect(one.after(1 * MIN)).toEqual(['order 2 RESUME_AGENT', 'AGENT_RESUMED', 'CASE_CLOSED recovered']);
});

test('a limit that outlasts the pause leads to the next, each twice as long, at most sixteen times the first', () => {
  const one = paused();
  const lengths: number[] = [];
  for (let n = 2; n <= 7; n++) {
    const until = one.all().findLast((draft) => draft.type === 'AGENT_PAUSED')?.payload as { until: number };
    one.after(until.until - one.clock().now);
    one.receive(renewed([pause]));
    expect(one.after(1 * MIN)).toEqual(['asks pause soft']);
    expect(one.after(2 * MIN), 'however late its ruling comes').toEqual([]);
    expect(one.admit().at(-1)).toBe('AGENT_PAUSED');
    const order = one.all().findLast((draft) => draft.type === 'PAUSE_AGENT')?.payload as { forMs: number };
    lengths.push(order.forMs / MIN);
  }
  expect(lengths).toEqual([2, 4, 8, 16, 16, 16]);
});

test('a pause long after the last one is a first one again, also in the next case', () => {
  const one = paused();
  one.receive(lapsed('progress'));
  one.after(1 * MIN);
  one.after(1 * MIN + 1);
  one.receive(filed([pause], { warrantId: 'warrant-2', episodeId: 'e2' }));
  one.admit();
  expect(one.all().findLast((draft) => draft.type === 'PAUSE_AGENT')?.payload).toMatchObject({ forMs: 1 * MIN });
  one.receive(lapsed('progress', 'warrant-2'));
  one.after(1 * MIN);
  one.after(1 * MIN);
  one.receive(filed([pause], { warrantId: 'warrant-3', episodeId: 'e3' }));
  one.admit();
  expect(one.all().findLast((draft) => draft.type === 'PAUSE_AGENT')?.payload).toMatchObject({ forMs: 2 * MIN });
});

test('nothing leaves an agent paused: a pardon, a request by hand, a void warrant or another step sets it going first', () => {
  expect(paused().receive(decides('pardon'))).toEqual([
    'ESCALATION_DECIDED pardon',
    'order 2 RESUME_AGENT',
    'AGENT_RESUMED',
    'CASE_CLOSED pardoned',
  ]);
  expect(paused().receive(requests('nudge')).slice(0, 3)).toEqual([
    'order 2 RESUME_AGENT',
    'AGENT_RESUMED',
    'CASE_CLOSED superseded',
  ]);
  expect(paused().receive(decides('terminate_and_recover')).slice(0, 3)).toEqual([
    'ESCALATION_DECIDED terminate_and_recover',
    'order 2 RESUME_AGENT',
    'AGENT_RESUMED',
  ]);
  const leased = agent();
  leased.receive(filed([{ ...pause, backoffMs: 10 * MIN }], { voidAt: T0 + 3 * MIN }));
  leased.admit();
  expect(leased.after(3 * MIN)).toEqual(['order 2 RESUME_AGENT', 'AGENT_RESUMED', 'CASE_CLOSED expired']);
});

test('an agent that ends while it is paused is not set going', () => {
  expect(paused().receive(died())).toEqual(['CASE_CLOSED superseded']);
});

test('an agent without a controllable runtime is not paused and not handed off: the case reports that and continues', () => {
  const one = agent();
  one.receive(filed([pause, handoff], { runtimeId: null }));
  expect(one.admit()).toEqual([
    'CASE_OPENED',
    'withdraws case-warrant-1-r1',
    'STEP_SKIPPED pause no_runtime',
    'STEP_SKIPPED handoff no_runtime',
    'CASE_CLOSED executed',
  ]);
});

/** A service that comes back reads an hour in a second; the rulings that it is given on the way are of now. */
const comingBack = (plan: readonly Step[]) => {
  const one = agent();
  one.receive(filed(plan));
  const given = { ...one.admitted(), occurredAt: T0 + 60 * MIN };
  return { one, emitted: words(one.drafts(given)) };
};

test('a question that is asked while the time of a case lags has its whole time to be answered: waits run from its real time', () => {
  const { one, emitted } = comingBack([nudge, terminate]);
  expect(emitted).toEqual(['CASE_OPENED', 'order 1 NUDGE_AGENT', 'NUDGE_SENT 1/3']);
  expect(one.after(70 * MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['asks nudge soft']);
});

test('people who are asked while the time of a case runs behind have their whole time too', () => {
  const { one, emitted } = comingBack([escalate, terminate]);
  expect(emitted).toEqual(['CASE_OPENED', 'ESCALATION_TRIGGERED terminate']);
  expect(one.after(75 * MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['asks terminate destructive']);
});

test('the second of two pauses follows the first, and what comes behind follows the second', () => {
  const one = paused([pause, { ...pause, backoffMs: 3 * MIN } as unknown as typeof pause, terminate]);
  one.after(1 * MIN);
  expect(one.after(1 * MIN)).toEqual(['asks pause soft']);
  expect(one.admit()).toEqual(['order 3 PAUSE_AGENT', 'AGENT_PAUSED']);
  one.after(60 * MIN);
  expect(one.all().at(-1)).toMatchObject({ type: 'ADMIT_STEP', payload: { step: 'terminate' } });
});
