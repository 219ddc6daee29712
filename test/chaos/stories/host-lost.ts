import { readFileSync } from 'node:fs';
import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { isAlive } from '../../support/alive.ts';
import { switchOff } from '../../support/runtimes.ts';
import { holds, until } from '../../support/system.ts';
import type { AgentBehaviour, PlannedAgent } from '../behaviours.ts';
import type { Entry } from '../chronicle.ts';
import type { Ground } from '../ground.ts';
import { type Hosts, openHosts } from '../hosts.ts';
import { casesClosed, governedFrom } from '../waits.ts';

const HOSTS = [
  { name: 'rack-1', labels: { team: 'core' } },
  { name: 'rack-2', labels: { team: 'core' } },
  { name: 'rack-3', labels: { team: 'web' } },
];
/** The number of losses that engages the brake in these stories. */
const LOST = 5;
const member = (name: string): PlannedAgent<AgentBehaviour> => ({
  name,
  task: `T-${name}`,
  behaviour: 'works',
  afterMs: 0,
});
const lost = Array.from({ length: LOST }, (_, place) => member(`lost-${place}`));
const near = member('near');
const far = member('far');
const members = [...lost, near, far];
const hostOf = (one: PlannedAgent): string => (one === near ? 'rack-2' : one === far ? 'rack-3' : 'rack-1');

const parentOf = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ')[0]);
};

/** A power failure ends its runtime, its agents and their terminal hosts at once. */
const loseHost = async (hosts: Hosts): Promise<void> => {
  const names = new Set(lost.map(({ name }) => name));
  const there = hosts.diary().filter(({ what, agentId }) => what === 'began' && names.has(agentId));
  const processes = there.flatMap(({ pid }) => [parentOf(pid), pid]);
  const off = switchOff(hosts.runtimes[0] as Hosts['runtimes'][number]);
  for (const pid of processes.filter(isAlive)) process.kill(pid, 'SIGKILL');
  await off;
};

/**
 * Nothing is spawned until a person reports the host gone. Then its tasks continue elsewhere, and its return does not
 * duplicate an agent. Its hosts run until `others` has ended: their stop engages the brake.
 */
export const hostLost = async (ground: Ground, others: Promise<unknown>): Promise<void> => {
  const hosts = openHosts(ground.on, 'host-lost', HOSTS, members, hostOf);
  try {
    await run(ground, hosts);
  } finally {
    await others;
    await hosts.stop();
    ground.planned.push(
      ...members.map((one) => ({ ...one, behaviour: lost.includes(one) ? ('lost' as const) : one.behaviour })),
    );
    ground.diary.push(...hosts.diary());
  }
};

const run = async (ground: Ground, hosts: Hosts): Promise<void> => {
  const { on, received } = ground;
  const instancesOf = (task: string): readonly Entry[] =>
    hosts.diary().filter(({ what, taskId, pid }) => what === 'began' && taskId === task && isAlive(pid));
  const isPresent = (): ReadonlySet<string> =>
    new Set(
      received
        .of(Topic.fleetPresence)
        .flatMap(({ type, payload }) => (type === 'AGENT_PRESENT' ? [payload.agentId] : [])),
    );
  const spawns = () =>
    received
      .of(Topic.agentOrder)
      .flatMap((order) =>
        order.type === 'SPAWN_AGENT' && lost.some(({ task }) => task === order.payload.taskId) ? [order] : [],
      );
  const withheld = (): ReadonlySet<string | null> =>
    new Set(received.of(Topic.stepRuling).flatMap(({ type, key }) => (type === 'STEP_WITHHELD' ? [key] : [])));
  const completed = (): ReadonlySet<string | null> =>
    new Set(received.of(Topic.taskRecovery).flatMap(({ type, key }) => (type === 'RECOVERY_COMPLETED' ? [key] : [])));

  const governed = governedFrom({ received });

  await until('all are known, and work', async () =>
    members.every(({ name, task }) => isPresent().has(name) && instancesOf(task).length === 1),
  );
  await loseHost(hosts);
  await until('the end of each has been asked for, and withheld', async () =>
    lost.every(({ name }) => withheld().has(name)),
  );
  expect(spawns()).toEqual([]);

  const gone = ['host', 'gone', 'rack-1', '--why', 'the rack has lost power', '--by', 'tester'];
  await until('the host is reported gone', async () => (await on.vigil(...gone)).code === 0);
  await until('its tasks are on others', async () => lost.every(({ task }) => completed().has(task)));
  await holds(() => expect(spawns().map(({ payload }) => payload.runtimeId)).toEqual(lost.map(() => 'rack-2')));
  await until('the brake is lifted', async () => governed().includes('BRAKE_RELEASED'));
  expect(governed()).toEqual(['BRAKE_ENGAGED', 'BRAKE_RELEASED']);

  const returned = hosts.again('rack-1');
  await until(
    'the host has reported the ends that it slept through, and the restarted agents have made way',
    async () => {
      const exited = new Set(
        received
          .of(Topic.controlAgent)
          .flatMap(({ type, payload }) => (type === 'AGENT_EXITED' ? [payload.instanceId] : [])),
      );
      return lost.every(({ name }) => {
        const instances = hosts.diary().filter(({ what, agentId }) => what === 'began' && agentId === name);
        return instances.length > 1 && instances.every(({ instanceId }) => exited.has(instanceId));
      });
    },
  );
  await until('each task is on one agent, its replacement', async () =>
    lost.every(({ name, task }) => {
      const [replacement, ...others] = instancesOf(task);
      return replacement !== undefined && replacement.agentId !== name && others.length === 0;
    }),
  );
  await casesClosed(ground);
  expect(returned.pid()).not.toBeNull();
  expect(spawns()).toHaveLength(lost.length);
};
