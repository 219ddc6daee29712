import { expect, test } from 'vitest';
import { type Alert, initial } from './alert-state.ts';
import { tellFrom } from './due.ts';
import { upgraded, withTimes } from './upgrade.ts';

const routing = { defaults: ['console', 'ops'], configured: ['console', 'ops'] };
const content = {
  ...{ agentId: 'worker-1', taskId: null, episodeId: null, caseId: 'case-1', labels: {}, route: 'stuck_agent' },
  ...{ severity: 'critical', title: 'worker-1 waits', text: 'no call', options: ['pardon'], deadlineAt: 5 },
};
/** As it was stored before there were channels. */
const stored = (toldAs: string | null): Alert => {
  const open = { alertId: 'a', raisedAt: 1, content, toldAs, tellAt: 100, acknowledgedBy: null };
  return { ...initial, alertKey: 'stuck_agent:worker-1', open } as unknown as Alert;
};

test.each([['critical'], [null]])(
  'an alert from before there were channels tells nobody twice (told as %s)',
  (toldAs) => {
    const alert = upgraded(stored(toldAs), routing);
    expect(alert.open).toMatchObject({
      toldTo: toldAs === null ? [] : ['console', 'ops'],
      content: { channels: ['default'] },
    });
    expect(alert.open && tellFrom(alert, alert.open, routing)).toBe(100);
    expect(upgraded(alert, routing)).toBe(alert);
  },
);

test('a key without an open alert stays as it is', () => {
  expect(upgraded(initial, routing)).toBe(initial);
});

test('an alert that kept the names of its agents only is open for each of them', () => {
  const older = { ...initial, times: { raised: 5, over: 1 }, agents: ['w1'] } as unknown as Alert;
  expect(withTimes(older).agents).toEqual([{ agentId: 'w1', times: { raised: 5, over: 1 }, isOpen: true }]);
  expect(withTimes(initial)).toEqual(initial);
});
