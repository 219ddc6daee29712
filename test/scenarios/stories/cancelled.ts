import { readdirSync } from 'node:fs';
import path from 'node:path';
import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { holds, until } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/** A limited agent is paused, a dead one is replaced. */
export const policy = JSON.stringify({
  policy: 'cancelled',
  heartbeat: { interval: '1s', lost_after: '15s' },
  signals: {
    rate_limited: { for: '60s' },
    crashed: { is: 'exited', reasons: ['crashed', 'resource_limit', 'lost'] },
  },
  states: { DEGRADED: ['rate_limited'] },
  exemptions: { rate_limited: { for: '60s' } },
  warrant: { renew: '2s', void: '30s' },
  plans: [
    { when: 'crashed', do: ['recover'] },
    { when: 'rate_limited', do: [{ pause: { backoff: '60s' } }] },
  ],
  recovery: { delays: ['0s'], spawn_deadline: '40s', probation: '5s', stable: '60s' },
});

export const roles: readonly Role[] = [
  { name: 'withdrawn', part: 'limitedForLong', policy: 'cancelled' },
  { name: 'stopped', part: 'works', policy: 'cancelled' },
  { name: 'completed', part: 'finishes', policy: 'cancelled' },
];

const { agentHealth, agentIntervention, agentOrder, taskRecovery } = Topic;

/** hive #6148: cancelled sessions were resumed. Ended while it is paused, stopped on its host, or done: over, while others are replaced. */
export const staysCancelled = async (stage: Stage): Promise<void> => {
  const { vigil, all, comes, diary, folder, posts, types, isAlive } = stage;
  await comes(agentIntervention, 'withdrawn', 'AGENT_PAUSED');
  const command = { kind: 'request_step', agentId: 'withdrawn', step: 'terminate', by: 'ada', why: 'not needed' };
  await until('it is known', async () => (await posts(command)).status === 202);
  await comes(agentIntervention, 'withdrawn', 'AGENT_TERMINATED');
  await comes(agentHealth, 'stopped', 'INSTANCE_STARTED');
  const acts = readdirSync(folder).filter((name) => name.endsWith('-state'));
  const stop = (act: string) => vigil.vigil('stop', 'stopped', '--dir', path.join(folder, act));
  const stopped = await Promise.all(acts.map(stop));
  expect(stopped.filter(({ code }) => code === 0)).toHaveLength(1);
  const over = ['withdrawn', 'stopped', 'completed'];
  const last = (name: string) => all(agentHealth, name, 'HEALTH_STATE_CHANGED').at(-1);
  for (const name of over) await until(`${name} is over`, async () => last(name)?.to === 'TERMINATED');
  await comes(taskRecovery, 'T-stalls', 'PROBATION_PASSED');
  for (const name of over) {
    expect([name, ...types(taskRecovery, `T-${name}`)]).toEqual([name]);
    expect(diary(`${name}-r1`)).toEqual([]);
    expect([name, isAlive(name)]).toEqual([name, false]);
  }
  await holds(() => expect(types(agentOrder, 'withdrawn').at(-1)).toBe('TERMINATE_AGENT'));
};
