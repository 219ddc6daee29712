import { type EventOf, Topic } from '@vigil/events';
import { versionsOf } from '../support/versions.ts';
import { type Behaviour, deserves } from './behaviours.ts';
import { type Chronicle, of, type Stamped } from './chronicle.ts';
import { repeatedEffects, unreportedEffects } from './effects.ts';
import { endsOf, instancesOf, replacementsOf } from './ends.ts';

/** Names each violation of a rule; empty without one. */
export type Rule = (chronicle: Chronicle) => readonly string[];

const UNHEALTHY: ReadonlySet<string> = new Set(['DEGRADED', 'STUCK', 'FAILING']);
type Order = EventOf<typeof Topic.agentOrder>;

const ENDING: ReadonlySet<string> = new Set(['TERMINATE_AGENT', 'HANDOFF_AGENT']);

/** An agent outside the plan is a replacement, which works and may get nothing. */
const behavioursIn = ({ planned }: Chronicle): ((agentId: string | null) => (typeof deserves)[Behaviour]) => {
  const behaviours = new Map<string | null, Behaviour>(planned.map(({ name, behaviour }) => [name, behaviour]));
  return (agentId) => deserves[behaviours.get(agentId) ?? 'works'];
};

/**
 * No agent is judged unhealthy, ordered anything or ended without a cause. A task goes to another agent only when its
 * agent has ended.
 */
const onlyFailingAgents: Rule = (chronicle) => {
  const deserved = behavioursIn(chronicle);
  const flagged = of(chronicle, Topic.agentHealth, 'HEALTH_STATE_CHANGED')
    .filter(({ payload }) => !deserved(payload.agentId).flagged && UNHEALTHY.has(payload.to))
    .map(({ payload }) => `${payload.agentId}: ${payload.to}, ${payload.reason}`);
  const orders = chronicle.events.filter((event): event is Order & Stamped => event.topic === Topic.agentOrder);
  const ordered = orders
    .filter(({ type, payload }) => {
      const { flagged, ended } = deserved(payload.agentId);
      return type !== 'SPAWN_AGENT' && !(ENDING.has(type) ? ended : flagged);
    })
    .map(({ type, payload }) => `${payload.agentId}: ${type}`);
  const ends = endsOf(chronicle);
  const replaced = of(chronicle, Topic.recoverTask, 'RECOVER_TASK')
    .filter(({ payload }) => !deserved(payload.agentId).ended && !ends.has(String(payload.instanceId)))
    .map(({ payload }) => `${payload.agentId}: RECOVER_TASK of an instance that has not ended`);
  return [...flagged, ...ordered, ...replaced];
};

/** Each failing agent is ended, and its task is on a replacement that works. */
const everyFailingAgent: Rule = (chronicle) => {
  const ends = endsOf(chronicle);
  const recovered = new Set(of(chronicle, Topic.taskRecovery, 'RECOVERY_COMPLETED').map(({ key }) => key));
  const instances = Map.groupBy(instancesOf(chronicle), ({ agentId }) => agentId);
  return chronicle.planned
    .filter(({ behaviour }) => deserves[behaviour].ended)
    .flatMap(({ name, task }) => {
      const own = instances.get(name);
      if (own === undefined) return [`${name}: it has never begun`];
      const living = own
        .filter(({ instanceId }) => !ends.has(instanceId))
        .map((instance) => `${name}: ${instance.instanceId} still runs`);
      return recovered.has(task) ? living : [...living, `${name}: ${task} is on no agent`];
    });
};

/** The task of a dead instance is spawned again only after a reliable source has reported its death. */
const noneBeforeADeath: Rule = (chronicle) => {
  const ends = endsOf(chronicle);
  return of(chronicle, Topic.agentOrder, 'SPAWN_AGENT').flatMap(({ payload, stampedAt }) => {
    const end = ends.get(String(payload.deadInstanceId));
    if (end !== undefined && end.knownAt <= stampedAt) return [];
    const when = end === undefined ? 'has no end' : `ends ${end.knownAt - stampedAt} ms later`;
    return [`${payload.agentId}: ${payload.deadAgentId} (${payload.deadInstanceId}) ${when}`];
  });
};

/**
 * By the reports of runtimes, and by the record of each replacement at its start, no other process runs, except an
 * agent that a person reported gone.
 */
const oneReplacementAtATime: Rule = (chronicle) => {
  const ends = endsOf(chronicle);
  const tasks = Map.groupBy(replacementsOf(chronicle), ({ taskId }) => taskId);
  const overlapping = [...tasks].flatMap(([taskId, replacements]) =>
    replacements.slice(1).flatMap((replacement, place) => {
      const before = replacements[place];
      const end = ends.get(String(before?.instanceId))?.at ?? Number.POSITIVE_INFINITY;
      return end <= replacement.at ? [] : [`${taskId}: ${replacement.agentId} beside ${before?.agentId}`];
    }),
  );
  const first = new Set(chronicle.planned.map(({ name }) => name));
  const behaviourOf = new Map(chronicle.planned.map(({ name, behaviour }) => [name, behaviour]));
  const expected = new Set(
    chronicle.diary
      .filter(({ what, agentId }) => what === 'began' && behaviourOf.get(agentId) === 'taken for gone')
      .map(({ pid }) => pid),
  );
  const noticed = chronicle.diary
    .filter(({ what, agentId, beside }) => what === 'began' && !first.has(agentId) && typeof beside === 'number')
    .filter(({ beside }) => !expected.has(Number(beside)))
    .map(({ taskId, agentId, beside }) => `${taskId}: ${agentId} found process ${beside} still there`);
  return [...overlapping, ...noticed];
};

const everyCaseClosed: Rule = (chronicle) => {
  const closed = new Set(of(chronicle, Topic.agentIntervention, 'CASE_CLOSED').map(({ payload }) => payload.caseId));
  return of(chronicle, Topic.agentIntervention, 'CASE_OPENED')
    .filter(({ payload }) => !closed.has(payload.caseId))
    .map(({ payload }) => `${payload.caseId} of ${payload.agentId}`);
};

const versionsWhole: Rule = ({ events }) => {
  const { gaps, repeats } = versionsOf(events);
  return [...gaps.map((gap) => `missing: ${gap}`), ...repeats.map((repeat) => `twice: ${repeat}`)];
};

/** The rules that hold after any kill at any time, by name. */
export const rules: Readonly<Record<string, Rule>> = {
  'only failing agents are acted on': onlyFailingAgents,
  'each failing agent is acted on, and its task continues': everyFailingAgent,
  'no order is done twice': repeatedEffects,
  'nothing is spawned before the end of the one before it is confirmed': noneBeforeADeath,
  'at most one replacement of a task runs at a time': oneReplacementAtATime,
  'every case is closed': everyCaseClosed,
  'versions have neither gaps nor repeats': versionsWhole,
  'what is not certain is reported so': unreportedEffects,
};
