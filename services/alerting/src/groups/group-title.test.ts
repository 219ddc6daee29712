import { catalogue, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { groupOf } from '../alert/gates.ts';
import { warrantNotices } from '../notices/agents/warrant-notices.ts';
import { notify } from '../notices/notice.ts';
import { agentNotices, fleetNotices } from '../notices/notices.fixture.ts';
import { noPolicies } from '../notices/policy-alerts.ts';
import { groupTitle } from './group-title.ts';

test.each([
  ['stuck_agent', '40 agents are STUCK or FAILING'],
  ['awaiting_input', '40 agents wait for input'],
  ['stuck_agent:questions', '40 agents wait for a decision'],
  ['of_later', '40 agents at once: of later'],
])('the title of a group of %s is in words', (group, title) => {
  expect(groupTitle(group, 40)).toBe(title);
});

const eventsOf = (topic: keyof typeof catalogue) =>
  catalogue[topic].events.map(({ type }) => example(topic, type as never));
const crashed = example(Topic.agentHealth, 'WARRANT_FILED', {
  ...{ agentId: 'worker-1', taskId: null, parentAgentId: null, endReason: 'crashed' },
  plan: [{ ...example(Topic.agentHealth, 'WARRANT_FILED').payload.plan[0], step: 'recover' } as never],
});

test('each route that has alerts about agents has words', () => {
  const ofAgents = [Topic.agentHealth, Topic.agentIntervention, Topic.agentRequest].flatMap(eventsOf);
  const notices = [
    ...[...ofAgents, crashed].flatMap((event) => [
      ...agentNotices(event as never),
      ...warrantNotices(event as never).map((one) => notify(one, null, noPolicies)),
    ]),
    ...eventsOf(Topic.spending).flatMap((event) => fleetNotices(event as never)),
  ];
  const groups = new Set(
    notices.flatMap(({ payload }) => (payload.action === 'raise' ? (groupOf(payload) ?? []) : [])),
  );
  expect(groups.size).toBeGreaterThan(6);
  for (const group of groups) expect(groupTitle(group, 40)).not.toContain('at once');
  expect(groups).toContain('agent_crashed');
});
