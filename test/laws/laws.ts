import type { HealthEvent } from '@vigil/events';
import type { Order } from '../../packages/supervisor/src/orders/order.ts';
import type { Agent } from './agents.ts';
import { decisionLaws } from './decision-laws.ts';
import { isOfferedInHalt, REPEATED_MS } from './hosts.ts';
import { Broken, type Law, type Simulation } from './simulation.ts';

const MINUTE = 60_000;

const isSeen = ({ facts }: Simulation, { instanceId }: Agent): boolean => facts.seen.has(instanceId);
const isReportedDead = ({ facts }: Simulation, { instanceId }: Agent): boolean => facts.ended.has(instanceId);

/** Whether the log has been read without delay for this long. */
const isWithoutStall = ({ now, lastStallAt }: Simulation, ms: number): boolean => now - lastStallAt >= ms;

const typed = <K extends HealthEvent['type']>(event: HealthEvent, type: K): Extract<HealthEvent, { type: K }> | null =>
  event.type === type ? (event as Extract<HealthEvent, { type: K }>) : null;

/** Nothing is started beside an agent that was seen working and has no reported end. */
const oneAgentATask: Law = {
  name: 'a task has at most one living agent that Vigil started',
  onEvent(event, simulation) {
    const order = typed(event, 'SPAWN_AGENT');
    if (!order || !isWithoutStall(simulation, 10_000)) return;
    const { taskId } = order.payload;
    const beside = simulation.living.find(
      (one) => one.taskId === taskId && isSeen(simulation, one) && !isReportedDead(simulation, one),
    );
    if (beside)
      throw new Broken(this.name, `a spawn for ${taskId} is ordered while ${beside.instanceId} runs`, simulation.now);
  },
};

/** An agent that has taken the task by hand under another name is left alone. */
const isAttempt = ({ agentId }: Agent): boolean => !agentId.startsWith('person-');

/** Two agents that Vigil started may run for a while if the first was assumed dead. The older one is ended. */
const rivalsEnd = (): Law => {
  const since = new Map<string, number>();
  return {
    name: 'of two attempts at a task that live, one is ended within 20 minutes',
    onMoment(simulation) {
      const { isHalted, isBraked, held } = simulation.facts;
      const countable = simulation.living.filter(
        (one) =>
          isAttempt(one) &&
          one.manners.dies &&
          simulation.hostOf(one).isWell &&
          isSeen(simulation, one) &&
          !held.has(one.agentId),
      );
      const tasks = Map.groupBy(countable, ({ taskId }) => taskId);
      for (const task of since.keys()) if ((tasks.get(task)?.length ?? 0) < 2) since.delete(task);
      for (const [task, agents] of tasks) {
        if (agents.length < 2 || !agents.some((one) => one.byVigil)) continue;
        if (isHalted || isBraked || !since.has(task)) since.set(task, simulation.now);
        if (simulation.now - (since.get(task) ?? 0) > 20 * MINUTE && isWithoutStall(simulation, 20 * MINUTE))
          throw new Broken(
            this.name,
            `${agents.map(({ instanceId }) => instanceId).join(' and ')} live on ${task}`,
            simulation.now,
          );
      }
    },
  };
};

/** How long the last report may excuse a silent agent, and the latest time at which its silence is found. */
const LONGEST_TRUST: Readonly<Record<string, number>> = { vigil: 22 * MINUTE, coditect: 46 * MINUTE };
const silenceIsFoundAfter = (policy: string): number =>
  policy === 'botbox' ? Number.POSITIVE_INFINITY : (LONGEST_TRUST[policy] ?? 8 * MINUTE);

/**
 * When the task was last finished, or its agent ended as intended; 0: never. A finish that is reported late covers every agent that took
 * the task before the report.
 */
const intendedAt = ({ facts, agents }: Simulation, task: string): number => {
  const isIntended = ({ instanceId, end }: Agent) =>
    facts.ended.get(instanceId)?.isIntended ||
    facts.stopping.has(instanceId) ||
    (end?.reason === 'finished' && facts.finished.has(task));
  const intended = agents.filter((one) => one.taskId === task && one.end !== null && isIntended(one));
  const knownFrom = ({ instanceId, end }: Agent): number => {
    const reported = facts.ended.get(instanceId);
    return Math.max(end?.at ?? 0, reported?.reason === 'finished' ? reported.at : 0);
  };
  return Math.max(0, ...intended.map(knownFrom));
};

/** When Vigil can have the end of an agent: at its report, or when its silence is found. */
const knownAt = ({ facts, policy }: Simulation, { agentId, instanceId, end }: Agent): number => {
  const reported = facts.ended.get(instanceId)?.at ?? Number.POSITIVE_INFINITY;
  if (end === null || facts.held.has(agentId)) return reported;
  const from = Math.max(end.at, facts.releasedAt.get(agentId) ?? 0);
  return Math.min(reported, from + silenceIsFoundAfter(policy));
};

/** Whether the brake withholds the step that the task needs, and people are notified of the brake. */
const waitsForBrake = ({ facts }: Simulation, agents: readonly Agent[]): boolean => {
  const isBrakeNotified = [...facts.alerts.values()].some(
    ({ isNotified, route }) => isNotified && route === 'fleet_brake',
  );
  const hasCase = (agentId: string) => [...facts.cases.values()].some((one) => one.agentId === agentId);
  return isBrakeNotified && agents.some(({ agentId }) => facts.missing.includes(agentId) || hasCase(agentId));
};

const noTaskIsLeft: Law = {
  name: 'a task without an agent is recovered, reviewed or released, or a person is notified, within ten minutes',
  onMoment(simulation) {
    const { facts, now } = simulation;
    if (facts.isHalted || !isWithoutStall(simulation, 10 * MINUTE) || now - facts.haltedUntil < 10 * MINUTE) return;
    const tasks = Map.groupBy(simulation.agents, ({ taskId }) => taskId);
    for (const [task, all] of tasks) {
      const from = intendedAt(simulation, task);
      const agents = all.filter((one) => one.startedAt >= from && (isSeen(simulation, one) || one.end === null));
      const reportedAt = (one: Agent) => facts.ended.get(one.instanceId)?.at ?? Number.POSITIVE_INFINITY;
      if (agents.length === 0 || all.some((one) => one.end === null && !isReportedDead(simulation, one))) continue;
      // An open alert notifies people of the task. Its ten minutes begin when the alert is resolved.
      const since = Math.max(facts.notifiedUntil.get(task) ?? 0, ...agents.map((one) => knownAt(simulation, one)));
      if (now - since <= 10 * MINUTE) continue;
      const diedAt = Math.max(...agents.map((one) => Math.min(one.end?.at ?? now, reportedAt(one))));
      const isRecovered = (facts.initiated.get(task) ?? 0) > Math.max(diedAt, now - 10 * MINUTE);
      const isReleased = (facts.released.get(task)?.at ?? 0) >= diedAt;
      const isOpen = [...facts.alerts.values()].some((one) => one.isNotified && one.taskId === task);
      const isNotified = isOpen || (facts.notifiedAt.get(task) ?? 0) >= diedAt || waitsForBrake(simulation, agents);
      if (!isRecovered && !isReleased && !isNotified && !facts.reviews.has(task))
        throw new Broken(this.name, `${task} has had no agent for ten minutes, and no person is notified`, now);
    }
  },
};

const finishedIsFinished: Law = {
  name: 'a finished task ends its recovery; an agent that a person stopped is not started again',
  onEvent(event, simulation) {
    const order = typed(event, 'SPAWN_AGENT');
    if (!order || !isWithoutStall(simulation, 10_000)) return;
    const { facts } = simulation;
    const { taskId, deadInstanceId } = order.payload;
    const finished = [...facts.seen].find(
      ([instanceId, one]) => one.taskId === taskId && facts.ended.get(instanceId)?.reason === 'finished',
    );
    const finishedAt = simulation.agents.find(({ instanceId }) => instanceId === finished?.[0])?.end?.at ?? 0;
    const isBegunAgain = simulation.agents.some(
      (one) => one.taskId === taskId && !one.byVigil && one.startedAt >= finishedAt,
    );
    const isRequested = (facts.asked.get(taskId ?? '') ?? 0) >= finishedAt;
    if (finished && !isBegunAgain && !isRequested)
      throw new Broken(this.name, `${taskId} is done again: ${finished[0]} has finished it`, simulation.now);
    const end = facts.ended.get(deadInstanceId ?? '');
    const isRequestedSince = (facts.asked.get(taskId ?? '') ?? 0) >= (end?.at ?? 0);
    if (end?.reason === 'explicit' && end.orderId === null && !isRequestedSince)
      throw new Broken(
        this.name,
        `${deadInstanceId} was stopped by a person, and ${order.payload.agentId} takes its place`,
        simulation.now,
      );
  },
};

const livingIsKnown = (): Law => {
  const since = new Map<string, number>();
  return {
    name: 'no agent is left running unknown: one that runs and reports is known to run',
    onMoment(simulation) {
      for (const agent of simulation.agents) {
        const host = simulation.hostOf(agent);
        // An agent that a person reported dead is present again with its next heartbeat.
        const isDoubted = simulation.facts.ended.get(agent.instanceId)?.byPerson;
        const isPlain = agent.end === null && !isDoubted && host.isWell && host.reportsFrom <= simulation.now;
        if (!isPlain) since.delete(agent.instanceId);
        else if (!since.has(agent.instanceId)) since.set(agent.instanceId, simulation.now);
        const from = since.get(agent.instanceId);
        if (from === undefined || simulation.now - from < 2 * MINUTE || !isWithoutStall(simulation, 2 * MINUTE))
          continue;
        const known = simulation.log.unit('health-evaluator').entries.get(agent.agentId)?.state as Known | undefined;
        const isKnown = known?.history?.identity.instanceId === agent.instanceId && known.history.end === null;
        if (!isKnown)
          throw new Broken(this.name, `${agent.instanceId} runs and reports, and is taken for dead`, simulation.now);
      }
    },
  };
};
type Known = {
  readonly history?: { readonly identity: { readonly instanceId: string | null }; readonly end: unknown };
};

const silenceIsNoExcuse: Law = {
  name: "silence of a host is not excused by its agent's last report for longer than the policy's limit",
  onMoment(simulation) {
    const { facts, now, policy } = simulation;
    if (!isWithoutStall(simulation, 8 * MINUTE)) return;
    const limit = silenceIsFoundAfter(policy);
    for (const [instanceId, { agentId, lastAt }] of facts.seen) {
      const from = Math.max(lastAt, facts.releasedAt.get(agentId) ?? 0);
      if (facts.ended.has(instanceId) || facts.held.has(agentId) || now - from <= limit) continue;
      const isCurrent = [...facts.seen].every(([, one]) => one.agentId !== agentId || one.lastAt <= lastAt);
      if (isCurrent && (facts.states.get(agentId) ?? 'HEALTHY') === 'HEALTHY')
        throw new Broken(
          this.name,
          `${instanceId} last reported ${Math.round((now - lastAt) / MINUTE)} min ago, and is HEALTHY`,
          now,
        );
    }
  },
};

const everythingEnds: Law = {
  name: 'every open question, alert, case, brake and review has an end that can be reached',
  onEnd({ facts, now }) {
    const open = [
      ...[...facts.cases.values()].map((one) => `${one.caseId} (${one.planName}) of ${one.agentId}`),
      ...[...facts.alerts.keys()].map((key) => `alert ${key}`),
      ...[...facts.reviews].map((task) => `review of ${task}`),
      ...(facts.isBraked ? [`the brake for ${facts.missing.join(', ')}`] : []),
    ];
    if (open.length > 0) throw new Broken(this.name, `open for ever: ${open.join('; ')}`, now);
  },
};

/** A host that is cut off may begin orders that were offered just before the halt. */
const haltReachesOrders = (): Law => {
  const ordered = new Map<string, number>();
  let haltedAt: number | null = null;
  return {
    name: 'after a halt is acknowledged nothing that was ordered before is begun',
    onEvent(event, { now }) {
      if (event.type === 'FLEET_HALTED') haltedAt = now;
      if (event.type === 'FLEET_RESUMED') haltedAt = null;
      if (event.topic === 'onex.cmd.agent-runtime.agent-order.v1') ordered.set(event.payload.orderId, now);
    },
    onBegun(order, { now, hosts }) {
      const { orderId, runtimeId } = order.payload;
      if (haltedAt === null || (ordered.get(orderId) ?? now) > haltedAt || isOfferedInHalt(order)) return;
      const isCutOff = hosts.some((host) => host.runtimeId === runtimeId && !host.canReceive);
      if (!isCutOff || now > haltedAt + REPEATED_MS) throw new Broken(this.name, `${order.type} ${orderId}`, now);
    },
  };
};

/** By a receipt, or by the end of its agent, even after a full disk or a killed supervisor. */
const begunIsReported = (): Law => {
  const begun = new Map<string, { readonly order: Order; since: number }>();
  return {
    name: 'what a host has begun is reported within two minutes in which it is well',
    onEvent(event) {
      if (event.type === 'ORDER_RECEIPT' || event.type === 'SPAWN_RECEIPT') begun.delete(event.payload.orderId);
    },
    onBegun(order, { now }) {
      begun.set(order.payload.orderId, { order, since: now });
    },
    onMoment({ facts, now, hosts }) {
      for (const [orderId, one] of begun) {
        const { type, payload } = one.order;
        const host = hosts.find(({ runtimeId }) => runtimeId === payload.runtimeId);
        if (!host?.isWell || host.reportsFrom > now) one.since = now;
        if (facts.ended.has(payload.instanceId ?? '')) begun.delete(orderId);
        else if (now - one.since > 2 * MINUTE) throw new Broken(this.name, `${type} ${orderId}`, now);
      }
    },
  };
};

export const laws = (): readonly Law[] => [
  oneAgentATask,
  rivalsEnd(),
  noTaskIsLeft,
  finishedIsFinished,
  livingIsKnown(),
  silenceIsNoExcuse,
  ...decisionLaws(),
  everythingEnds,
  haltReachesOrders(),
  begunIsReported(),
];
