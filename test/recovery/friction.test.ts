import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { frictionOf, usualPlace } from '../../services/alerting/src/adapters/omniclaude-friction.ts';
import { alerts } from '../../services/alerting/src/alert/alerts.ts';
import { CONSOLE, consoleOnly } from '../../services/alerting/src/alert/routing.ts';
import type { AlertEvent } from '../../services/alerting/src/delivery/sink.ts';
import { taskNotices } from '../../services/alerting/src/notices/notices.fixture.ts';
import type { Output } from '../../services/recovery/src/task/drafts.ts';
import { checkpoint, openStory, recoverTask, revive, TASK } from '../../services/recovery/src/task/story.fixture.ts';

type Death = NonNullable<Parameters<typeof recoverTask>[0]>;

/** omniclaude's two redispatches a task. */
const omniclaude = { maxAttempts: 2, delaysMs: [0], onProbationFailure: 'retry' } as const;

/** The alerts of a task by what recovery reports of it, as alerting's own processors make them. */
const alertsOf = (outputs: readonly Output[]): readonly AlertEvent[] => {
  const driver = given(alerts({ groupWaitMs: 0, endWaitMs: 0, repeatMs: 1e9, routing: consoleOnly }), EXAMPLE_TIME);
  const reported = outputs.flatMap((output) =>
    output.topic === Topic.taskRecovery ? [example(Topic.taskRecovery, output.type, output.payload as never)] : [],
  );
  return reported
    .flatMap((event) => taskNotices(event))
    .flatMap(({ key, payload }, n) =>
      driver.receive({ ...example(Topic.notify, 'NOTIFY', payload), key, eventId: `n${n}` } as never),
    )
    .filter((event): event is AlertEvent => event.type !== 'ALERT_DELIVERED');
};

/** The friction events of a task whose agents stall so many times, the last one in this way. */
const frictionAfter = (stalls: number, last: Death) => {
  const story = openStory();
  const outputs: Output[] = [];
  for (let n = 1; n <= stalls; n++) {
    const agentId = n === 1 ? 'worker-1' : `worker-1-r${n - 1}`;
    const death = { agentId, instanceId: `${agentId}.i1`, endedByItself: false, ...(n === stalls ? last : {}) };
    outputs.push(...story.receive(recoverTask(death, omniclaude)));
    if (n < stalls) outputs.push(...revive(story, n));
  }
  // The console is the channel to Linear here.
  return alertsOf(outputs).flatMap((alert) => frictionOf(alert, usualPlace, [CONSOLE]) ?? []);
};

const DAY = new Date(EXAMPLE_TIME).toISOString().slice(0, 10);
const saved = { ...checkpoint('c-7'), uri: 'file:///stage/.onex_state/pipeline_checkpoints/OMN-1234/recovery.yaml' };

/** The text of omniclaude's escalate_to_blocked. */
const textWith = (path: string): string => `# Agent Stall Escalation: ${TASK}
## Summary
Agent stalled 3 times on ${TASK}, exceeding the max redispatch
limit of 2. Ticket moved to Blocked in Linear.
## Stall History
- See dispatch log: .onex_state/dispatch-log/${DAY}.ndjson
- Recovery checkpoint: ${path}
## Root Cause Hypothesis
Agent likely hitting context exhaustion or encountering a blocking issue that
persists across redispatches (e.g., missing dependency, broken test, infra issue).
## Recommended Action
Manual investigation required. Read the checkpoint and dispatch log to determine
whether the issue is agent-side (scope too large) or environment-side (broken infra).
`;

test.each<[string, Death, string]>([
  ['an agent that is ended for its silence', { reason: 'no_calls', checkpoint: saved }, saved.uri],
  ['an agent that has saved nothing', { reason: 'no_calls' }, 'none'],
  ['an agent of another runtime', { runtimeId: 'host-2' }, 'none'],
  ['an agent without a runtime', { runtimeId: null }, 'none'],
])('the third stall of a task gives one friction event, to the letter: %s', (_, last, path) => {
  const friction = frictionAfter(3, last);
  expect(friction).toEqual([
    {
      path: `.onex_state/friction/${DAY}-agent-stall-escalation-omn-1234.md`,
      text: textWith(path),
      log: `.onex_state/dispatch-log/${DAY}.ndjson`,
      line: expect.stringContaining('"event":"escalated_to_blocked","ticket_id":"OMN-1234","attempt_count":3'),
    },
  ]);
});

test.each([1, 2])('stall %d of a task gives none: a fresh agent takes it', (stalls) => {
  expect(frictionAfter(stalls, { reason: 'crashed' })).toEqual([]);
});

test.each(['crashed', 'ended: crashed'])(
  'a third attempt that ends as %j is not a stall: the friction event does not claim one',
  (reason) => {
    const [friction, ...more] = frictionAfter(3, { reason, checkpoint: saved, endedByItself: true });
    expect(more).toEqual([]);
    expect(friction?.text).toContain(`No agent continues ${TASK}: 2 of 2 attempts used: ${reason}.`);
    expect(friction?.text).not.toMatch(/stalled|context exhaustion/);
  },
);
