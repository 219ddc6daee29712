import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { alerts } from '../alert/alert.ts';
import { consoleOnly } from '../alert/routing.ts';
import type { Notify } from './notice.ts';
import { agentNotices } from './notices.fixture.ts';

const DEADLINE = EXAMPLE_TIME + 600_000;
const asks = { requestId: 'r-1', agentId: 'worker-1', taskId: 'OMN-1' } as const;
const opened = (more: object = {}) =>
  agentNotices(
    example(Topic.agentRequest, 'REQUEST_OPENED', {
      ...{ ...asks, kind: 'permission', text: 'Bash: rm -rf build', open: 1, deadlineAt: DEADLINE, ...more },
    }),
  );
const answered = (open: number) =>
  agentNotices(example(Topic.agentRequest, 'REQUEST_ANSWERED', { ...asks, option: 'allow', by: 'ada', open }));

const play = (...notices: readonly (readonly Notify[])[]) => {
  const alert = given(alerts({ groupWaitMs: 0, repeatMs: 14_400_000, routing: consoleOnly }), EXAMPLE_TIME);
  return notices.map(([notice], n) =>
    notice === undefined
      ? []
      : alert
          .receive({ ...example(Topic.notify, 'NOTIFY', notice.payload), key: notice.key, eventId: `n${n}` })
          .map(({ type }) => type),
  );
};

test('people receive what is asked, the item of the inbox, the deadline, and what happens then', () => {
  expect(opened()[0]?.payload).toMatchObject({
    ...{ alertKey: 'awaiting_input:OMN-1:worker-1', route: 'awaiting_input', severity: 'warning' },
    title: 'worker-1 asks for a permission',
    text: `Bash: rm -rf build; request/r-1 of \`vigil inbox\`, until ${new Date(DEADLINE).toISOString()}, then the client decides itself`,
  });
  expect(opened({ kind: 'question', atDeadline: 'allow' })[0]?.payload).toMatchObject({
    title: 'worker-1 asks a question',
    text: expect.stringMatching(/then it is allowed$/),
  });
});

test('a flood of requests is one alert, that ends with the last of them', () => {
  const flood = Array.from({ length: 30 }, (_, n) => opened({ requestId: `r-${n}`, open: n + 1 }));
  const types = play(...flood, answered(1), answered(0));
  expect(types.flat().filter((type) => type === 'ALERT_RAISED')).toHaveLength(1);
  expect(types.at(-2)).toEqual([]);
  expect(types.at(-1)).toEqual(['ALERT_RESOLVED']);
});

test('a request and a wait that takes too long are the same alert', () => {
  const overdue = agentNotices(example(Topic.agentHealth, 'WAIT_OVERDUE', { agentId: 'worker-1', taskId: 'OMN-1' }));
  expect(overdue[0]?.key).toBe(opened()[0]?.key);
});

test('a refused answer, and a request too many, are no alert', () => {
  expect(agentNotices(example(Topic.agentRequest, 'ANSWER_REFUSED'))).toEqual([]);
  expect(agentNotices(example(Topic.agentRequest, 'REQUEST_REFUSED'))).toEqual([]);
});
