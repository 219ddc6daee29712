import { SERVICES } from '@vigil/dev';
import { Topic } from '@vigil/events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAlive } from '../support/alive.ts';
import { type Faults, killAll, randomFrom } from '../support/faults.ts';
import { type Received, receive } from '../support/received.ts';
import { standStill } from '../support/settled.ts';
import { openSystem, ownServers, ROOM, soak, type TestSystem, until } from '../support/system.ts';
import { deserves, type PlannedAgent, plannedAgents } from './behaviours.ts';
import { type Chronicle, readEvents } from './chronicle.ts';
import { policies, seed } from './ground.ts';
import { type Hosts, openHosts } from './hosts.ts';
import { rules } from './judge.ts';
import { hasNoOpenCase } from './waits.ts';

const ROUNDS = soak(1, 12);
const FLEET = soak(
  { works: 4, busy: 2, hangs: 4, loops: 4, crashes: 3 },
  { works: 12, busy: 4, hangs: 16, loops: 12, crashes: 12 },
);
const FAILS = { fromMs: 5000, toMs: soak(25_000, 400_000) };

describe.skipIf(!ownServers)('every service and every runtime killed at random moments', () => {
  const faults: Faults = { done: [], random: randomFrom(seed) };
  const planned = plannedAgents(FLEET, FAILS, faults.random);
  let on: TestSystem;
  let received: Received;
  let hosts: Hosts;
  let chronicle: Chronicle;

  /** Whether no failing agent still runs, and each task is on a running agent. */
  const isOver = (): boolean => {
    const diary = hosts.diary();
    const completed = new Set(
      received.of(Topic.taskRecovery).flatMap(({ type, key }) => (type === 'RECOVERY_COMPLETED' ? [key] : [])),
    );
    const isDone = ({ name, task, behaviour }: PlannedAgent): boolean => {
      const instances = diary.filter(({ what, taskId, pid }) => what === 'began' && taskId === task && isAlive(pid));
      if (instances.length !== 1) return false;
      return !deserves[behaviour].ended || (completed.has(task) && instances[0]?.agentId !== name);
    };
    return planned.every(isDone) && hasNoOpenCase({ received });
  };

  beforeAll(
    async () => {
      on = await openSystem({ name: 'chaos-killed', policy: 'killed', env: { ...ROOM, ...policies } });
      received = await receive(on, [Topic.agentIntervention, Topic.taskRecovery]);
      hosts = openHosts(on, 'killed', [{ name: 'host-a' }, { name: 'host-b' }], planned);
      const all = [...SERVICES.map((name) => on.system.service(name)), ...hosts.runtimes];
      await killAll(faults, all, { rounds: ROUNDS, apartMs: soak(2500, 6000) });
      await until('each failing agent has ended, and each task is worked on', async () => isOver(), 300_000);
      const diary = hosts.diary();
      await standStill(on);
      chronicle = { planned, diary, events: await readEvents(on) };
      console.log(
        JSON.stringify({ seed, faults: faults.done, instances: diary.length, events: chronicle.events.length }),
      );
    },
    soak(900_000, 1_800_000),
  );
  afterAll(async () => {
    received?.stop();
    await hosts?.stop();
    await on?.stop();
  });

  test('each process was killed as often as planned', () => {
    expect(faults.done).toHaveLength(ROUNDS * (SERVICES.length + 2));
  });

  test.each(Object.keys(rules))('%s', (rule) => {
    expect(rules[rule]?.(chronicle)).toEqual([]);
  });
});
