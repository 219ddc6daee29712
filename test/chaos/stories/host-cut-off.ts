import { Topic } from '@vigil/events';
import { isAlive } from '../../support/alive.ts';
import { until } from '../../support/system.ts';
import type { AgentBehaviour, PlannedAgent } from '../behaviours.ts';
import type { Ground } from '../ground.ts';
import { type Hosts, openHosts } from '../hosts.ts';
import { casesClosed } from '../waits.ts';

const HOSTS = [
  { name: 'island', labels: { team: 'sea' } },
  { name: 'mainland', labels: { team: 'sea' } },
];
const members = ['cut-0', 'cut-1'].map(
  (name): PlannedAgent<AgentBehaviour> => ({ name, task: `T-${name}`, behaviour: 'works', afterMs: 0 }),
);

/**
 * A host is reported gone but was only cut off. Its agents continue to work beside their replacements, and are ended
 * when it is back.
 */
export const hostCutOff = async (ground: Ground): Promise<void> => {
  const hosts = openHosts(ground.on, 'host-cut-off', HOSTS, members, () => 'island');
  try {
    await run(ground, hosts);
  } finally {
    hosts.runtimes[0]?.kill('SIGCONT');
    await hosts.stop();
    ground.planned.push(...members.map((one) => ({ ...one, behaviour: 'taken for gone' as const })));
    ground.diary.push(...hosts.diary());
  }
};

const run = async (ground: Ground, hosts: Hosts): Promise<void> => {
  const { on, received } = ground;
  const [island] = hosts.runtimes;
  const instancesOf = (task: string): readonly string[] =>
    hosts
      .diary()
      .flatMap(({ what, taskId, pid, agentId }) =>
        what === 'began' && taskId === task && isAlive(pid) ? [agentId] : [],
      );
  const present = (type: 'AGENT_PRESENT' | 'AGENT_LOST'): ReadonlySet<string> =>
    new Set(received.of(Topic.fleetPresence).flatMap((event) => (event.type === type ? [event.payload.agentId] : [])));
  const completed = (): ReadonlySet<string | null> =>
    new Set(received.of(Topic.taskRecovery).flatMap(({ type, key }) => (type === 'RECOVERY_COMPLETED' ? [key] : [])));

  await until('all are known, and work', async () =>
    members.every(({ name, task }) => present('AGENT_PRESENT').has(name) && instancesOf(task).length === 1),
  );
  island?.kill('SIGSTOP');
  await until('the host is silent', async () => members.every(({ name }) => present('AGENT_LOST').has(name)));
  const gone = ['host', 'gone', 'island', '--why', 'no answer from there', '--by', 'tester'];
  await until('the host is reported gone', async () => (await on.vigil(...gone)).code === 0);
  await until('each task has a replacement', async () => members.every(({ task }) => completed().has(task)));
  await until('two work on each task', async () => members.every(({ task }) => instancesOf(task).length === 2));
  island?.kill('SIGCONT');
  await until('each task is on one agent, its replacement', async () =>
    members.every(({ name, task }) => {
      const [replacement, ...others] = instancesOf(task);
      return replacement !== undefined && replacement !== name && others.length === 0;
    }),
  );
  await casesClosed(ground);
};
