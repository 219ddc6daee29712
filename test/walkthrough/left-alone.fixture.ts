import { expect, test } from 'vitest';
import { ALONE, changes, exemptions, leftAlone, noticesOf, type Observed, standing } from './observed.ts';

/** Agents that need no help. `observed` is set once a test runs. */
export const agentsLeftAlone = (observed: () => Observed): void => {
  test('steady works: HEALTHY throughout, and no person is notified of it', async () => {
    expect(changes(observed(), 'steady')).toEqual([]);
    expect(leftAlone(observed(), 'steady')).toEqual(ALONE);
    expect(await standing(observed(), 'steady')).toMatchObject({
      state: 'HEALTHY',
      exemption: null,
      policyName: 'demo',
    });
    expect(await observed().vigil('health', 'steady')).toMatchObject({
      code: 0,
      text: expect.stringMatching(/^steady HEALTHY/),
    });
    expect(observed().explained.get('steady')).toMatch(
      /^steady is HEALTHY since .*\n {2}because {4}no signal fires\n {2}exempt {5}no\n {2}policy {5}demo /,
    );
    expect(observed().explained.get('steady')).toMatch(/\n {2}no_activity +\S+ +at \S+ +\S+ +no call.*; limit 8 s\n/);
    expect(observed().explained.get('steady')).not.toMatch(/Cases|Recoveries|Alerts|Orders/);
  });

  test('finishes completes: TERMINATED finished, without a finding, and nothing is recovered', async () => {
    expect(changes(observed(), 'finishes')).toEqual(['HEALTHY→TERMINATED']);
    expect(leftAlone(observed(), 'finishes')).toEqual(ALONE);
    expect(await standing(observed(), 'finishes')).toMatchObject({
      state: 'TERMINATED',
      endReason: 'finished',
      exemption: null,
    });
    expect(await observed().vigil('health', 'finishes')).toMatchObject({ code: 0 });
    expect(observed().explained.get('finishes')).toMatch(/because {4}ended: finished/);
  });

  test('waits asks a question: exempt, never typed into, and people are notified once', async () => {
    expect(changes(observed(), 'waits')).toEqual([]);
    expect(leftAlone(observed(), 'waits')).toEqual({ ...ALONE, alerts: expect.arrayContaining(['ALERT_RAISED']) });
    expect(noticesOf(observed(), 'DEMO-waits')).toEqual(['raised [warning] awaiting_input']);
    expect(observed().console.find((line) => line.includes('DEMO-waits'))).toMatch(
      /: waits waits for an answer \(since [\d-]+ [\d:]+ UTC, for more than 30 s: .*Overwrite it\? \[y\/N\]; agent\/waits of `vigil inbox`\)/,
    );
    expect(exemptions(observed(), 'waits').filter((exemption) => exemption !== 'starting')).toEqual(['awaiting_input']);
    expect(await standing(observed(), 'waits')).toMatchObject({ state: 'HEALTHY', exemption: 'awaiting_input' });
    expect(observed().explained.get('waits')).toMatch(/exempt {5}awaiting_input, absence not counted/);
  });
};
