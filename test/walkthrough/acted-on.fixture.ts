import { Topic } from '@vigil/events';
import { expect, test } from 'vitest';
import {
  about,
  alive,
  changes,
  crashing,
  exemptions,
  inOrder,
  leftAlone,
  noticesOf,
  type Observed,
  orders,
  standing,
  types,
} from './observed.ts';

/** Agents that Vigil helps, or escalates to people. `observed` is set once a test runs. */
export const agentsActedOn = (observed: () => Observed): void => {
  test('loops repeats itself: it obeys the nudge, its case is closed as recovered, and it keeps running', async () => {
    expect(changes(observed(), 'loops').at(0)).toMatch(/^HEALTHY→(DEGRADED|STUCK)$/);
    expect(changes(observed(), 'loops').filter((change) => change.endsWith('→STUCK'))).toHaveLength(1);
    expect(changes(observed(), 'loops').at(-1)).toBe('STUCK→HEALTHY');
    expect(types(observed(), Topic.agentIntervention, 'loops')).toEqual(['CASE_OPENED', 'NUDGE_SENT', 'CASE_CLOSED']);
    expect(orders(observed(), 'loops')).toEqual(['NUDGE_AGENT']);
    expect(types(observed(), Topic.orderReceipt, 'loops')).toEqual(['ORDER_RECEIPT']);
    expect(alive(observed(), 'loops')).toEqual([true]);
    expect(await observed().rows.cases({ agentId: 'loops' })).toMatchObject([{ ending: 'recovered', waiting: false }]);
    expect(await standing(observed(), 'loops')).toMatchObject({ state: 'HEALTHY', endReason: null, exemption: null });
    const [stuck, breaker] = ['stuck_agent', 'circuit_breaker_open'].map((kind) =>
      noticesOf(observed(), 'DEMO-loops').filter((line) => line.endsWith(kind)),
    );
    expect(stuck).toEqual(['raised [warning] stuck_agent', 'resolved [warning] stuck_agent']);
    // five failures in a row open it; its first success closes it, which may be after the story
    expect(breaker?.[0]).toBe('raised [warning] circuit_breaker_open');
    const happened = ['the same call', 'case opened', 'nudged (1 of 2)', '→ HEALTHY', 'case closed as recovered'];
    expect(inOrder(observed().explained.get('loops'), happened)).toEqual(happened);
  });

  test('limited is refused by its model: paused, and resumed with a message; nothing is counted, HEALTHY throughout', async () => {
    expect(changes(observed(), 'limited')).toEqual([]);
    const begun = exemptions(observed(), 'limited').filter((exemption) => exemption !== 'starting');
    expect([...new Set(begun)]).toEqual(['rate_limited', 'paused']);
    const pauses = orders(observed(), 'limited').length / 2;
    const each = <T>(...words: T[]) => Array.from({ length: pauses }, () => words).flat();
    expect(pauses).toBeGreaterThanOrEqual(1);
    expect(orders(observed(), 'limited')).toEqual(each('PAUSE_AGENT', 'RESUME_AGENT'));
    const receipts = about(observed(), Topic.orderReceipt, 'limited').map(({ payload }) => payload);
    expect(receipts).toMatchObject(each({ outcome: 'done', why: null }, { outcome: 'done', why: null }));
    const steps = types(observed(), Topic.agentIntervention, 'limited').filter((type) => !type.startsWith('CASE'));
    expect(steps).toEqual(each('AGENT_PAUSED', 'AGENT_RESUMED'));
    for (const one of await observed().rows.cases({ agentId: 'limited' }))
      expect(one).toMatchObject({ ending: 'recovered' });
    expect(alive(observed(), 'limited')).toEqual([true]);
    expect(await standing(observed(), 'limited')).toMatchObject({ state: 'HEALTHY', endReason: null, exemption: null });
    expect(leftAlone(observed(), 'limited')).toMatchObject({ alerts: [], recoveries: [] });
    expect(noticesOf(observed(), 'DEMO-limited')).toEqual([]);
    const happened = ['exempt: rate_limited', 'case opened', 'exempt: paused', 'no longer exempt (paused)'];
    expect(inOrder(observed().explained.get('limited'), happened)).toEqual(happened);
  });

  test('hangs becomes silent: nudged, escalated, timed out, ended; a fresh agent continues from the checkpoint and finishes', async () => {
    expect(changes(observed(), 'hangs')).toEqual(['HEALTHY→STUCK', 'STUCK→TERMINATED']);
    expect(types(observed(), Topic.agentIntervention, 'hangs')).toEqual([
      ...['CASE_OPENED', 'NUDGE_SENT', 'NUDGE_SENT', 'ALERT_REQUESTED', 'ESCALATION_TRIGGERED'],
      ...['AGENT_TERMINATED', 'CASE_CLOSED'],
    ]);
    expect(orders(observed(), 'hangs')).toEqual(['NUDGE_AGENT', 'NUDGE_AGENT', 'TERMINATE_AGENT']);
    const [warrant] = about(observed(), Topic.agentHealth, 'hangs').filter(({ type }) => type === 'WARRANT_FILED');
    expect(warrant?.payload).toMatchObject({ axes: ['absence'], evidence: [{ signal: 'no_activity' }] });
    const receipts = about(observed(), Topic.orderReceipt, 'hangs').map(({ payload }) => payload);
    expect(receipts).toMatchObject([
      { outcome: 'delivered' },
      { outcome: 'delivered' },
      { outcome: 'done', confirmed: true },
    ]);
    expect(alive(observed(), 'hangs')).toEqual([false]);
    expect(await standing(observed(), 'hangs')).toMatchObject({ state: 'TERMINATED', endReason: 'explicit' });
    expect(noticesOf(observed(), 'DEMO-hangs')).toEqual([
      ...['raised [warning] stuck_agent', 'updated [warning] stuck_agent', 'resolved [warning] stuck_agent'],
    ]);
    const happened = [
      ...['HEALTHY → STUCK: no call', 'case opened', 'nudged (1 of 2)', 'nudged (2 of 2)', 'asks people'],
      ...['order 3: terminate', 'terminated: ', 'confirmed, checkpoint DEMO-hangs-0-5'],
      ...['order: spawn attempt 1 of 3 as hangs-r1', '\nCases'],
      ...['\nRecoveries', 'hangs-r1 from DEMO-hangs-0-5 on demo-runtime: over (finished)', 'resolved'],
    ];
    expect(inOrder(observed().explained.get('hangs'), happened)).toEqual(happened);
  });

  test('the replacement of hangs was ordered after the death was confirmed, once', async () => {
    const spawns = about(observed(), Topic.agentOrder, 'hangs-r1').flatMap((event) =>
      event.type === 'SPAWN_AGENT' ? [event] : [],
    );
    expect(spawns).toMatchObject([{ payload: { attempt: 1, deadAgentId: 'hangs' } }]);
    expect(spawns[0]?.payload.checkpoints[0]?.checkpointId).toBe('DEMO-hangs-0-5');
    const ended = about(observed(), Topic.agentIntervention, 'hangs').find(({ type }) => type === 'AGENT_TERMINATED');
    expect(ended?.payload).toMatchObject({ confirmed: true, checkpoint: 'DEMO-hangs-0-5' });
    expect(ended?.occurredAt).toBeLessThanOrEqual(spawns[0]?.occurredAt ?? 0);
    expect(changes(observed(), 'hangs-r1')).toEqual(['HEALTHY→TERMINATED']);
    expect(leftAlone(observed(), 'hangs-r1')).toMatchObject({ warrants: [], cases: [], alerts: [] });
    const [exit] = about(observed(), Topic.agentObservation, 'hangs-r1').filter(({ type }) => type === 'AGENT_EXITED');
    const parts = [6, 7, 8, 9, 10].map((step) => `part ${step} of 10`);
    const lastOutput = ['continuing after part 5', ...parts, 'all parts are done'];
    expect(exit?.payload).toMatchObject({ reason: 'finished', code: 0, lastOutput });
  });

  test('crashes ends with 1 each time: three attempts with back-off, then review and a critical alert, and no more', async () => {
    for (const instance of crashing) {
      expect(changes(observed(), instance)).toEqual(['HEALTHY→TERMINATED']);
      expect(await standing(observed(), instance)).toMatchObject({ state: 'TERMINATED', endReason: 'crashed' });
      expect(alive(observed(), instance)).toEqual([false]);
    }
    const requests = observed()
      .of(Topic.recoverTask)
      .filter(({ key }) => key === 'DEMO-crashes');
    const spawns = crashing.flatMap((instance) => about(observed(), Topic.agentOrder, instance));
    expect(spawns.map(({ type, payload }) => [type, (payload as { attempt?: number }).attempt])).toEqual(
      [1, 2, 3].map((attempt) => ['SPAWN_AGENT', attempt]),
    );
    for (const [n, delayMs] of [0, 2000, 4000].entries()) {
      const commands = requests[n]?.occurredAt ?? Number.NaN;
      expect(spawns[n]?.occurredAt, `back-off before attempt ${n + 1}`).toBeGreaterThanOrEqual(commands + delayMs);
    }
    const story = observed()
      .of(Topic.taskRecovery)
      .filter(({ key }) => key === 'DEMO-crashes');
    const attempt = ['RECOVERY_INITIATED', 'RECOVERY_COMPLETED'];
    expect(story.map(({ type }) => type).filter((type) => !type.startsWith('CIRCUIT'))).toEqual([
      ...[...attempt, ...attempt, ...attempt],
      ...['RECOVERY_FAILED', 'REVIEW_REQUIRED'],
    ]);
    expect(await observed().rows.tasks({ review: true })).toMatchObject([{ taskId: 'DEMO-crashes' }]);
    expect(noticesOf(observed(), 'DEMO-crashes').toSorted()).toEqual([
      ...[
        // the failure and its review are one message
        'raised [critical] recovery_failed',
        'raised [info] checkpoint_lost',
        // its last agent has ended; its recovery paused for seconds only
        'resolved [info] checkpoint_lost',
      ],
    ]);
    expect(await observed().rows.alerts({ open: true })).toContainEqual(
      expect.objectContaining({ severity: 'critical' }),
    );
    const happened = [
      ...['recovery   review required: 3 of 3 attempts used', 'HEALTHY → TERMINATED: ended: crashed'],
      ...['order: spawn attempt 1 of 3', 'attempt 3 of 3: crashes-r3 from task-start on demo-runtime: failed'],
      ...['crashes-r1 from task-start on demo-runtime: ended: crashed', 'Alerts', 'critical', '(open)'],
    ];
    expect(inOrder(observed().explained.get('crashes'), happened)).toEqual(happened);
  });
};
