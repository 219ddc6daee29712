import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { alerts } from '../../alert/alerts.ts';
import { consoleOnly } from '../../alert/routing.ts';
import type { Notify } from '../notice.ts';
import { agentNotices } from '../notices.fixture.ts';

const drifted = (more: object = {}) =>
  agentNotices(
    example(Topic.agentHealth, 'CLOCK_DRIFTED', {
      ...{ agentId: 'worker-1', taskId: 'OMN-1', driftMs: 45_000, toleranceMs: 30_000 },
      ...more,
    }),
  );
const ended = () =>
  agentNotices(
    example(Topic.agentHealth, 'CLOCK_DRIFT_ENDED', {
      ...{ agentId: 'worker-1', taskId: 'OMN-2', driftMs: 20, why: 'its clock is right again' },
    }),
  );

test.each([
  [45_000, 'worker-1: its clock is 45 s behind'],
  [-45_000, 'worker-1: its clock is 45 s ahead'],
])('people receive whose clock is off by %i ms, and the tolerance', (driftMs, title) => {
  expect(drifted({ driftMs })).toMatchObject([
    {
      key: 'clock_drift:worker-1',
      payload: {
        ...{ route: 'clock_drift', action: 'raise', severity: 'warning', title, options: [] },
        text: 'its policy tolerates 30 s. Vigil does not judge by it; correct the clock of its host',
      },
    },
  ]);
});

test('a clock that is off has one alert, also where its agent has another task when it is over', () => {
  const alert = given(
    alerts({ groupWaitMs: 0, endWaitMs: 0, repeatMs: 14_400_000, routing: consoleOnly }),
    EXAMPLE_TIME,
  );
  const receive = ([notice]: readonly Notify[], eventId: string) =>
    alert.receive({ ...example(Topic.notify, 'NOTIFY', notice?.payload), key: notice?.key ?? '', eventId });
  const outputs = [receive(drifted(), 'n1'), receive(drifted(), 'n1'), receive(ended(), 'n2')];
  expect(outputs.map((events) => events.map(({ type }) => type))).toEqual([['ALERT_RAISED'], [], ['ALERT_RESOLVED']]);
});
