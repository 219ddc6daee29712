import path from 'node:path';
import { Topic } from '@vigil/events';
import type { HerdAgent } from '../support/herd/agent.ts';
import { type Herd, startHerd } from '../support/herd/herd.ts';
import type { HerdPlan } from '../support/herd/members.ts';
import { type Received, receive } from '../support/received.ts';
import { type TestSystem, until } from '../support/system.ts';
import type { Behaviour, PlannedAgent } from './behaviours.ts';
import type { Entry } from './chronicle.ts';

/** The seed of every random choice. It is printed with the figures, and can be set by VIGIL_SEED. */
export const seed = Number(process.env.VIGIL_SEED ?? Date.now() % 1_000_000);

/** The governor decides soon, and may decide twice on the same agent. */
const QUICK = {
  VIGIL_GOVERNOR_SETTLE_S: '1',
  VIGIL_GOVERNOR_COOLDOWN_S: '1',
  VIGIL_ALERT_GROUP_WAIT_MS: '0',
  VIGIL_ALERT_END_WAIT_MS: '0',
};

/** Variables of the services in every story. */
export const policies = { ...QUICK, VIGIL_POLICY_DIR: path.join(import.meta.dirname, 'policies') };

/** The shared parts of the stories of one system: the system, its events, and all facts for its judge. */
export type Ground = {
  readonly on: TestSystem;
  readonly received: Received;
  readonly random: () => number;
  readonly planned: PlannedAgent[];
  readonly diary: Entry[];
};

const FOLLOWED = [
  Topic.controlAgent,
  Topic.agentHealth,
  Topic.fleetPresence,
  Topic.agentIntervention,
  Topic.agentOrder,
  Topic.orderReceipt,
  Topic.stepRuling,
  Topic.fleetGovernance,
  Topic.taskRecovery,
  Topic.alert,
];

export const openGround = async (on: TestSystem, random: () => number): Promise<Ground> => ({
  on,
  received: await receive(on, FOLLOWED),
  random,
  planned: [],
  diary: [],
});

/** A failing story shows the latest events with its error. */
export const withEvents = async (ground: Ground, story: (ground: Ground) => Promise<void>): Promise<void> => {
  try {
    await story(ground);
  } catch (error) {
    throw new Error([String(error), ...ground.received.latest(60)].join('\n'), { cause: error });
  }
};

const entryOf = ({ what, agent: { agentId, instanceId, taskId }, at }: Herd['notes'][number]): Entry => ({
  ...{ what, agentId, instanceId, taskId, at, pid: 0 },
});

const BEHAVIOURS = { works: 'works', silent: 'hangs', loops: 'loops', crashes: 'crashes' } as const;

/** The behaviour of each agent that has no replacement. */
const plannedIn = (herd: Herd, behaviourOf: (agent: HerdAgent) => Behaviour): readonly PlannedAgent[] =>
  herd.agents
    .filter(({ attempt }) => attempt === null)
    .map((agent) => ({ name: agent.agentId, task: agent.taskId, behaviour: behaviourOf(agent), afterMs: 0 }));

const NONE = { silent: 0, crashes: 0, loops: 0 };

/**
 * A herd of known agents for the duration of the story; at the end all its running agents finish. Its runtime uses the
 * gateway.
 */
export const withHerd = async (
  ground: Ground,
  plan: Pick<HerdPlan, 'straight' | 'throughHttp'> & { readonly name: string },
  run: (herd: Herd) => Promise<void>,
  behaviourOf: (agent: HerdAgent) => Behaviour = ({ behaviour }) => BEHAVIOURS[behaviour],
): Promise<void> => {
  const herd = await startHerd(ground.on, { ...plan, behaviours: NONE, fromMs: 0, overMs: 0, executor: 'gateway' });
  try {
    const known = (): ReadonlySet<string> => new Set(named(ground, 'AGENT_PRESENT'));
    await until('all of the herd are known', async () => herd.agents.every(({ agentId }) => known().has(agentId)));
    await run(herd);
  } finally {
    await dissolve(ground, herd);
    ground.planned.push(...plannedIn(herd, behaviourOf));
    ground.diary.push(...herd.notes.map(entryOf));
  }
};

/** Also if the story has failed, so that the herd does not affect the next story. */
const dissolve = async (ground: Ground, herd: Herd): Promise<void> => {
  const living = herd.agents.filter(({ gone }) => !gone);
  await herd.finish();
  const lost = (): ReadonlySet<string> => new Set(named(ground, 'AGENT_LOST'));
  await until('all of the herd are gone', async () => living.every(({ agentId }) => lost().has(agentId)));
  await herd.stop();
};

/** The agents that events of a type concern. */
const named = ({ received }: Ground, type: 'AGENT_PRESENT' | 'AGENT_LOST'): readonly string[] =>
  received.of(Topic.fleetPresence).flatMap((event) => (event.type === type ? [event.payload.agentId] : []));

/** A random selection of this size. */
export const some = <T>({ random }: Ground, items: readonly T[], count: number): readonly T[] =>
  items
    .map((item) => ({ item, order: random() }))
    .toSorted((a, b) => a.order - b.order)
    .slice(0, count)
    .map(({ item }) => item);
