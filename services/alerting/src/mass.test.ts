import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test, vi } from 'vitest';
import { CHANNELS, END_WAIT_MS, runAlerting } from './running.fixture.ts';

const AGENTS = Array.from({ length: 500 }, (_, n) => `w${n}`);
const GROUP_WAIT_MS = 30_000;

const turned = (agentId: string, to: 'STUCK' | 'HEALTHY') => ({
  ...example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', {
    ...{ agentId, taskId: `T-${agentId}`, to, leftTaskId: null, endReason: null },
  }),
  key: agentId,
});
const braked = example(Topic.fleetGovernance, 'BRAKE_ENGAGED', { scope: 'fleet', agentIds: AGENTS });
const released = example(Topic.fleetGovernance, 'BRAKE_RELEASED', { by: 'governor', why: 'they are back' });

test.each([
  ['without a brake', 'alert_group', false],
  ['under the brake', 'fleet_brake', true],
] as const)(
  '500 agents that are STUCK at once, %s, are one incident and one thread, until all are back',
  async (_, route, hasBrake) => {
    await using system = await runAlerting(GROUP_WAIT_MS);
    const { log, pager, chat, happens, passes, delivered } = system;
    if (hasBrake) await happens(0, braked);
    await happens(0, ...AGENTS.map((agent) => turned(agent, 'STUCK')));
    await passes(GROUP_WAIT_MS);
    await vi.waitFor(() => expect(delivered().toSorted()).toEqual(['chat', 'pager']), 60_000);
    await passes(60_000);
    await passes(59_000);
    expect(pager.incidents).toMatchObject([{ isOpen: true, summary: expect.stringContaining('500 agents') }]);
    await happens(1000, ...AGENTS.slice(1).map((agent) => turned(agent, 'HEALTHY')));
    await passes(END_WAIT_MS);
    expect(pager.incidents).toMatchObject([{ isOpen: true }]);
    await happens(1000, turned('w0', 'HEALTHY'));
    if (hasBrake) await happens(0, released);
    await passes(END_WAIT_MS);
    await vi.waitFor(() => expect(delivered()).toHaveLength(2 * CHANNELS.length), 60_000);
    expect([pager.actions, pager.dropped, chat.threads()]).toEqual([
      ['trigger', 'resolve'],
      [],
      [expect.stringContaining('Resolved')],
    ]);
    const alerts = log.events(Topic.alert);
    const keys = alerts.flatMap((one) => (one.type === 'ALERT_DELIVERED' ? [one.payload.alertKey] : []));
    expect([...new Set(keys)]).toEqual([expect.stringMatching(`^${route}:`)]);
    expect(alerts.filter(({ type }) => type === 'ALERT_RAISED').length).toBeGreaterThan(AGENTS.length);
  },
  180_000,
);

test('agents that join after the message are in the thread without a reply, and the end has all of them', async () => {
  await using system = await runAlerting(5000);
  const { pager, chat, happens, passes } = system;
  await happens(0, ...AGENTS.slice(0, 10).map((agent) => turned(agent, 'STUCK')));
  await passes(5000);
  const titles = (text: string) =>
    vi.waitFor(() => expect(chat.threads()).toEqual([expect.stringContaining(text)]), 60_000);
  await titles('10 agents are STUCK');
  await happens(1000, ...AGENTS.slice(10, 40).map((agent) => turned(agent, 'STUCK')));
  await passes(4000);
  await titles('40 agents are STUCK');
  await happens(1000, ...AGENTS.slice(0, 40).map((agent) => turned(agent, 'HEALTHY')));
  await passes(END_WAIT_MS);
  await titles('Resolved: 40 agents are STUCK');
  // One reply, that of the end.
  await vi.waitFor(() => expect(chat.messages).toHaveLength(2), 60_000);
  await vi.waitFor(() => expect(pager.actions).toEqual(['trigger', 'resolve']), 60_000);
}, 180_000);

const asked = (agentId: string) => ({
  ...example(Topic.agentIntervention, 'ESCALATION_TRIGGERED', {
    agentId,
    taskId: `T-${agentId}`,
    caseId: `c-${agentId}`,
  }),
  key: agentId,
});
const decided = (agentId: string) => ({
  ...example(Topic.agentIntervention, 'ESCALATION_DECIDED', {
    ...{ agentId, taskId: `T-${agentId}`, caseId: `c-${agentId}`, decision: 'pardon' },
  }),
  key: agentId,
});

test.each([
  [9, 9],
  [10, 1],
])(
  '%i questions of cases at once are %i incidents; each keeps its item and its choices',
  async (count, incidents) => {
    await using system = await runAlerting(GROUP_WAIT_MS);
    const { log, pager, happens, passes, delivered } = system;
    const agents = AGENTS.slice(0, count);
    await happens(0, ...agents.map(asked));
    await passes(2000);
    await passes(GROUP_WAIT_MS);
    await vi.waitFor(() => expect(delivered()).toHaveLength(incidents * CHANNELS.length), 60_000);
    expect(pager.incidents).toHaveLength(incidents);
    const title = count === 10 ? '10 agents wait for a decision' : 'waits for a decision';
    for (const { summary } of pager.incidents) expect(summary).toContain(title);
    const items = log
      .events(Topic.alert)
      .flatMap((event) =>
        event.type === 'ALERT_RAISED' && event.payload.options.length > 1 ? [event.payload.itemId] : [],
      );
    expect(items.toSorted()).toEqual(agents.map((agent) => `case/c-${agent}`).toSorted());
    for (const agent of agents) await happens(100, decided(agent), turned(agent, 'HEALTHY'));
    await passes(END_WAIT_MS);
    await passes(END_WAIT_MS);
    await vi.waitFor(() => expect(pager.incidents.filter(({ isOpen }) => isOpen)).toEqual([]), 60_000);
    expect([pager.incidents.length, pager.dropped]).toEqual([incidents, []]);
    const ends = log.events(Topic.alert).filter(({ type }) => type === 'ALERT_RESOLVED');
    expect(ends.filter(({ key }) => key.startsWith('stuck_agent:'))).toHaveLength(count);
  },
  180_000,
);
