import { expect, test } from 'vitest';
import { ALONE, changes, exemptions, leftAlone, standing, type Told, toldPeople } from './told.ts';

/** Those whom nobody has to help. `told` is there once a test runs. */
export const leftAloneFates = (told: () => Told): void => {
  test('steady works: HEALTHY throughout, and nobody is told anything of it', async () => {
    expect(changes(told(), 'steady')).toEqual([]);
    expect(leftAlone(told(), 'steady')).toEqual(ALONE);
    expect(await standing(told(), 'steady')).toMatchObject({ state: 'HEALTHY', exemption: null, policyName: 'demo' });
    expect(await told().vigil('health', 'steady')).toMatchObject({
      code: 0,
      text: expect.stringMatching(/^steady HEALTHY/),
    });
    expect(told().explained.get('steady')).toMatch(
      /^steady is HEALTHY since .*\n {2}because {4}nothing speaks against it\n {2}exempt {5}no\n {2}policy {5}demo /,
    );
    expect(told().explained.get('steady')).toMatch(/\n {2}no_activity +at \S+ +\S+ +no call.*; limit 8 s\n/);
    expect(told().explained.get('steady')).not.toMatch(/Cases|Recoveries|Alerts|Orders/);
  });

  test('finishes completes: TERMINATED finished, which is no trouble, and nothing is recovered', async () => {
    expect(changes(told(), 'finishes')).toEqual(['HEALTHY→TERMINATED']);
    expect(leftAlone(told(), 'finishes')).toEqual(ALONE);
    expect(await standing(told(), 'finishes')).toMatchObject({
      state: 'TERMINATED',
      endReason: 'finished',
      exemption: null,
    });
    expect(await told().vigil('health', 'finishes')).toMatchObject({ code: 0 });
    expect(told().explained.get('finishes')).toMatch(/because {4}ended: finished/);
  });

  test('waits asks a question: exempt, never typed into, and people are told once', async () => {
    expect(changes(told(), 'waits')).toEqual([]);
    expect(leftAlone(told(), 'waits')).toEqual({ ...ALONE, alerts: expect.arrayContaining(['ALERT_RAISED']) });
    expect(toldPeople(told(), 'DEMO-waits')).toEqual(['raised [warning] awaiting_input']);
    expect(told().console.find((line) => line.includes('DEMO-waits'))).toMatch(
      /: waits waits for an answer \(since \S+, for more than 30 s: .*Overwrite it\? \[y\/N\]\)/,
    );
    expect(exemptions(told(), 'waits').filter((exemption) => exemption !== 'starting')).toEqual(['awaiting_input']);
    expect(await standing(told(), 'waits')).toMatchObject({ state: 'HEALTHY', exemption: 'awaiting_input' });
    expect(told().explained.get('waits')).toMatch(/exempt {5}awaiting_input until \S+, absence not counted/);
  });
};
