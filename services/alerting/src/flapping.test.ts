import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test, vi } from 'vitest';
import { CHANNELS, END_WAIT_MS, runAlerting } from './running.fixture.ts';

const FLAPS = 100;

/** After so much time the agent is in this state. */
const turning =
  ({ happens }: Pick<Awaited<ReturnType<typeof runAlerting>>, 'happens'>) =>
  (afterMs: number, to: 'STUCK' | 'HEALTHY') =>
    happens(afterMs, example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { to, leftTaskId: null, endReason: null }));

test.each([0, 30_000])(
  `${FLAPS} flaps of an agent, with a group wait of %d ms, are one incident of PagerDuty and one thread of Slack`,
  async (groupWaitMs) => {
    await using system = await runAlerting(groupWaitMs);
    const { pager, chat, passes, delivered } = system;
    const turns = turning(system);
    await turns(0, 'STUCK');
    await passes(groupWaitMs);
    await vi.waitFor(() => expect(delivered().toSorted()).toEqual(['chat', 'pager']), 30_000);
    for (let flap = 0; flap < FLAPS; flap += 1) {
      await turns(20_000, 'HEALTHY');
      await turns(END_WAIT_MS - 1, 'STUCK');
    }
    await turns(20_000, 'HEALTHY');
    await passes(END_WAIT_MS - 1);
    expect(pager.actions).toEqual(['trigger']);
    await passes(1);
    await vi.waitFor(() => expect(delivered()).toHaveLength(2 * CHANNELS.length), 30_000);
    expect(pager.actions).toEqual(['trigger', 'resolve']);
    expect(pager.incidents).toMatchObject([{ isOpen: false }]);
    expect(pager.dropped).toEqual([]);
    expect(chat.threads()).toEqual([expect.stringContaining('Resolved')]);
  },
  60_000,
);

test('an agent that is well for as long as an end waits, and stalls again, is another incident', async () => {
  await using system = await runAlerting(0);
  const { pager, chat, passes, delivered } = system;
  const turns = turning(system);
  for (const incident of [1, 2]) {
    await turns(1000, 'STUCK');
    await turns(1000, 'HEALTHY');
    await passes(END_WAIT_MS);
    await vi.waitFor(() => expect(delivered()).toHaveLength(incident * 2 * CHANNELS.length), 30_000);
  }
  expect(pager.actions).toEqual(['trigger', 'resolve', 'trigger', 'resolve']);
  expect(new Set(pager.incidents.map(({ dedupKey }) => dedupKey)).size).toBe(2);
  expect(chat.threads()).toHaveLength(2);
}, 60_000);
