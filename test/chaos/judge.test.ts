import { Topic } from '@vigil/events';
import { expect, test } from 'vitest';
import type { Chronicle } from './chronicle.ts';
import { rules } from './judge.ts';
import { chronicle, emit, guilty, innocent, note, noted, numbered, seconds } from './story.fixture.ts';

/** The rules that a story breaks, each with its details. */
const broken = (stamped: Chronicle): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    Object.entries(rules).flatMap(([name, rule]) => {
      const found = rule(stamped);
      return found.length > 0 ? [[name, found]] : [];
    }),
  );

const [only, all, once, early, replacements, closed, versions, certain] = Object.keys(rules) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];
const second = { ...guilty, agentId: 'hangs-0-r2', deadAgentId: 'hangs-0-r1', deadInstanceId: 'hangs-0-r1.i1' };
const replacementDies = emit(33, Topic.controlAgent, 'AGENT_EXITED', {
  ...{ agentId: 'hangs-0-r1', instanceId: 'hangs-0-r1.i1', ...seconds(33) },
});
const spawn = (at: number) => emit(at, Topic.agentOrder, 'SPAWN_AGENT', { ...second, orderId: 'spawn-2' });
const spawned = (at: number) =>
  emit(at, Topic.spawnReceipt, 'SPAWN_RECEIPT', {
    ...{ ...second, orderId: 'spawn-2', instanceId: 'hangs-0-r2.i1', outcome: 'spawned', ...seconds(at) },
  });

test('no rule is broken if an agent hangs, is reminded, ended and replaced, and its replacement is replaced after its death', () => {
  expect(broken(chronicle())).toEqual({});
  const again = { events: [replacementDies, spawn(34), spawned(35)], diary: [note(35, 'began', 'hangs-0-r2')] };
  expect(broken(chronicle(again))).toEqual({});
});

test('an agent that works must not be judged unhealthy, ordered anything, or replaced while it runs', () => {
  const flagged = emit(20, Topic.agentHealth, 'HEALTH_STATE_CHANGED', { ...innocent, to: 'STUCK' });
  const nudged = emit(20, Topic.agentOrder, 'NUDGE_AGENT', innocent);
  const replaced = emit(20, Topic.recoverTask, 'RECOVER_TASK', innocent);
  for (const event of [flagged, nudged, replaced])
    expect(broken(chronicle({ events: [event] }))).toHaveProperty([only]);
});

test('an agent whose reports do not arrive may be judged unhealthy and reminded, and must not be ended', () => {
  const cut = (stamped: Chronicle): Chronicle => ({
    ...stamped,
    planned: [...stamped.planned.slice(0, 1), { name: 'works-0', task: 'T-works-0', behaviour: 'cut off', afterMs: 0 }],
  });
  const flagged = emit(20, Topic.agentHealth, 'HEALTH_STATE_CHANGED', { ...innocent, to: 'STUCK' });
  const nudged = emit(20, Topic.agentOrder, 'NUDGE_AGENT', innocent);
  expect(broken(cut(chronicle({ events: [flagged, nudged] })))).not.toHaveProperty([only]);
  const ended = emit(20, Topic.agentOrder, 'TERMINATE_AGENT', innocent);
  expect(broken(cut(chronicle({ events: [ended] })))[only]).toEqual(['works-0: TERMINATE_AGENT']);
});

test('a working agent may be replaced when it has died with its runtime', () => {
  const died = emit(20, Topic.controlAgent, 'AGENT_EXITED', { ...innocent, ...seconds(20) });
  const replaced = emit(21, Topic.recoverTask, 'RECOVER_TASK', innocent);
  expect(broken(chronicle({ events: [died, replaced] }))).toEqual({});
});

test('a failing agent must not run on, and its task must be on another', () => {
  const unended = chronicle({}, ({ topic }) => topic === Topic.orderReceipt || topic === Topic.controlAgent);
  expect(broken(unended)[all]).toEqual(['hangs-0: hangs-0.i1 still runs']);
  const forgotten = chronicle({}, ({ type }) => type === 'RECOVERY_COMPLETED');
  expect(broken(forgotten)).toEqual({ [all]: ['hangs-0: T-hangs-0 is on no agent'] });
  const another = chronicle({ diary: [note(40, 'began', 'hangs-0', { instanceId: 'hangs-0.i2' })] });
  expect(broken(another)).toEqual({ [all]: ['hangs-0: hangs-0.i2 still runs'] });
});

test('a receipt may come twice, but an order may not be answered twice', () => {
  const delivered = { ...guilty, orderId: 'nudge-1', kind: 'nudge', outcome: 'delivered', confirmed: false } as const;
  const same = emit(23, Topic.orderReceipt, 'ORDER_RECEIPT', { ...delivered, ...seconds(22) });
  expect(broken(chronicle({ events: [same] }))).toEqual({});
  const other = emit(23, Topic.orderReceipt, 'ORDER_RECEIPT', { ...delivered, ...seconds(23) });
  expect(broken(chronicle({ events: [other] }))).toEqual({ [once]: ['nudge-1: delivered, delivered'] });
});

test('no nudge may be received more often than it was sent, and no instance started more often than it was ordered', () => {
  expect(broken(chronicle({ diary: [note(23, 'received nudge', 'hangs-0')] }))[once]).toEqual([
    'hangs-0.i1: received 2 of 1 nudges',
  ]);
  const twice = note(32, 'began', 'hangs-0-r1', { instanceId: 'hangs-0-r1.i2' });
  expect(broken(chronicle({ diary: [twice] }))).toEqual({ [once]: ['hangs-0-r1: 2 instances of 1 orders'] });
});

test('an order may not be written twice', () => {
  const again = emit(29, Topic.agentOrder, 'SPAWN_AGENT', {
    ...second,
    orderId: 'spawn-1',
    deadInstanceId: 'hangs-0.i1',
  });
  expect(broken(chronicle({ events: [again] }))).toHaveProperty([once]);
});

test('no replacement may be spawned without a known end, or before that end', () => {
  expect(broken(chronicle({ events: [spawn(34)] }))[early]).toEqual([
    'hangs-0-r2: hangs-0-r1 (hangs-0-r1.i1) has no end',
  ]);
  expect(broken(chronicle({ events: [spawn(32), replacementDies] }))[early]).toEqual([
    'hangs-0-r2: hangs-0-r1 (hangs-0-r1.i1) ends 1000 ms later',
  ]);
});

test('no two replacements may run at once, by the reports of runtimes or by their own records', () => {
  const early = { events: [spawned(32), replacementDies], diary: [note(32, 'began', 'hangs-0-r2')] };
  expect(broken(chronicle(early))[replacements]).toEqual(['T-hangs-0: hangs-0-r2 beside hangs-0-r1']);
  const found = note(36, 'began', 'hangs-0-r2', { beside: 30 });
  expect(broken(chronicle({ diary: [found] }))[replacements]).toEqual([
    'T-hangs-0: hangs-0-r2 found process 30 still there',
  ]);
  const [first] = noted();
  const beside = chronicle({ diary: [note(36, 'began', 'hangs-0-r2', { beside: first?.pid ?? null })] });
  const planned = beside.planned.map((one) => ({ ...one, behaviour: 'taken for gone' as const }));
  expect(broken(beside)[replacements]).toEqual(['T-hangs-0: hangs-0-r2 found process 1 still there']);
  expect(broken({ ...beside, planned })).not.toHaveProperty([replacements]);
  const besideReplacement = chronicle({ diary: [found] });
  expect(broken({ ...besideReplacement, planned })[replacements]).toEqual([
    'T-hangs-0: hangs-0-r2 found process 30 still there',
  ]);
});

test('an agent that its host starts again beside its replacement is not a second replacement, and must be ended', () => {
  const back = note(36, 'began', 'hangs-0', { instanceId: 'hangs-0.i2', beside: 30 });
  expect(broken(chronicle({ diary: [back] }))).toEqual({ [all]: ['hangs-0: hangs-0.i2 still runs'] });
});

test('no case may stay open', () => {
  const open = chronicle({}, ({ type }) => type === 'CASE_CLOSED');
  expect(broken(open)).toEqual({ [closed]: ['case-1 of hangs-0'] });
});

test('no version may be missing or written twice', () => {
  const lapsed = emit(29, Topic.agentHealth, 'WARRANT_LAPSED', guilty);
  const at = (version: number) => broken(chronicle({ events: [{ ...lapsed, ...numbered(version) }] }));
  expect(at(3)).toEqual({});
  expect(at(4)).toEqual({ [versions]: ['missing: health-evaluator hangs-0@7: 3'] });
  expect(at(2)).toEqual({ [versions]: ['twice: health-evaluator hangs-0@7: 2'] });
});

test('each received nudge, each running instance and each ordered or reported death must be reported', () => {
  const without = (orderId: string) =>
    broken(
      chronicle(
        {},
        ({ topic, payload }) => topic.includes('receipt') && 'orderId' in payload && payload.orderId === orderId,
      ),
    );
  expect(without('nudge-1')).toEqual({ [certain]: ['hangs-0.i1: a nudge that it received is in no receipt'] });
  expect(without('spawn-1')).toEqual({ [certain]: ['hangs-0-r1: it runs, and no receipt reports it'] });
  const unseen = chronicle({}, ({ topic, type }) => type === 'AGENT_EXITED' || topic === Topic.orderReceipt);
  expect(broken(unseen)[certain]).toContain('hangs-0: reported dead, without a known end');
  expect(broken(unseen)[certain]).toContain('hangs-0: its terminate end-1 has neither receipt nor end');
});

test('an uncertain outcome is a report too, and so is an unconfirmed termination', () => {
  const isNudged = (payload: object): boolean => 'orderId' in payload && payload.orderId === 'nudge-1';
  const uncertain = emit(30, Topic.orderReceipt, 'ORDER_RECEIPT', {
    ...{ ...guilty, orderId: 'nudge-1', kind: 'nudge', outcome: 'uncertain', confirmed: false },
  });
  const story = chronicle(
    { events: [uncertain] },
    ({ topic, payload }) => topic === Topic.orderReceipt && isNudged(payload),
  );
  expect(broken(story)).toEqual({});
});
