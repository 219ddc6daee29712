import type { Agent, Mode } from './agents.ts';
import type { Host } from './hosts.ts';
import { confirmDeath, controlFleet, type Decision, decide, hold, release, request, review } from './people.ts';
import type { PolicyName } from './policies.ts';
import { Broken, clockText, type Law, Simulation } from './simulation.ts';

/**
 * One step of a story. `agent` is an index of the running agents, `of` of all that have ever run, `host` of the hosts;
 * all indexes wrap around.
 */
export type Step =
  | { readonly kind: 'wait'; readonly minutes: number }
  | { readonly kind: 'mode'; readonly agent: number; readonly mode: Mode }
  | { readonly kind: 'end'; readonly agent: number; readonly reason: 'finished' | 'crashed' }
  | { readonly kind: 'checkpoint'; readonly agent: number }
  /** the reactions of running agents, and of those that are started later */
  | { readonly kind: 'manners'; readonly answers: boolean; readonly leaves: boolean; readonly dies: boolean }
  | {
      readonly kind: 'host';
      readonly host: number;
      readonly what:
        | 'deaf'
        | 'mute'
        | 'cut'
        | 'heal'
        | 'heal_late'
        | 'fill'
        | 'free'
        | 'kill'
        | 'supervise'
        | 'crash'
        | 'double';
    }
  | { readonly kind: 'capacity'; readonly host: number; readonly agents: number; readonly failing: number }
  | { readonly kind: 'stop'; readonly agent: number }
  | {
      readonly kind: 'request';
      readonly agent: number;
      readonly step: 'nudge' | 'handoff' | 'terminate' | 'terminate_and_recover';
    }
  /** a person requests the recovery of the task of an agent that may have ended */
  | { readonly kind: 'recover'; readonly of: number }
  | { readonly kind: 'decide'; readonly question: number; readonly decision: Decision }
  | { readonly kind: 'hold' | 'release'; readonly agent: number }
  | { readonly kind: 'control'; readonly what: 'HALT_FLEET' | 'RESUME_FLEET' | 'LIFT_BRAKE' }
  | { readonly kind: 'gone'; readonly host: number }
  | { readonly kind: 'review'; readonly task: number; readonly decision: 'retry' | 'reset' | 'abandon' }
  /** a person starts an agent on the task of an ended one, under its old name or a new one */
  | { readonly kind: 'start'; readonly of: number; readonly host: number; readonly again: boolean }
  | { readonly kind: 'stall'; readonly reader: number; readonly seconds: number }
  | { readonly kind: 'restart'; readonly reader: number };

export type Story = {
  readonly policy: PolicyName;
  readonly steps: readonly Step[];
  /** the answer of people to every question at the end */
  readonly end: Decision;
};

const MINUTE = 60_000;

const at = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(1, list.length)];

const toHost = (simulation: Simulation, host: Host, what: Extract<Step, { kind: 'host' }>['what']) => {
  switch (what) {
    case 'deaf':
      host.canReceive = false;
      return;
    case 'mute':
      host.canSend = false;
      return;
    case 'cut':
      host.canReceive = false;
      host.canSend = false;
      return;
    case 'heal_late':
      host.reportsFrom = simulation.now + MINUTE;
      host.canReceive = true;
      host.canSend = true;
      return host.heartbeat(simulation.policy);
    case 'heal':
      host.canReceive = true;
      host.canSend = true;
      return host.look();
    case 'fill':
      host.hasRoomOnDisk = false;
      return;
    case 'free':
      host.hasRoomOnDisk = true;
      return host.look();
    case 'kill':
      return host.kill();
    case 'supervise':
      return host.supervise();
    case 'crash':
      return host.crash();
    case 'double':
      host.isDoubling = true;
  }
};

const startedBy = (simulation: Simulation, { of, host, again }: Extract<Step, { kind: 'start' }>) => {
  const before = at(simulation.agents, of) as Agent;
  const place = at(simulation.hosts, host) as Host;
  const isThere = simulation.living.some(({ agentId }) => agentId === before.agentId);
  if (!place.isSupervised || isThere) return;
  if (again) simulation.start(simulation.hostOf(before), before.agentId, before.taskId);
  else simulation.start(place, `person-${simulation.agents.length}`, before.taskId);
};

const toAgent = (simulation: Simulation, agent: Agent, step: Extract<Step, { agent: number }>) => {
  switch (step.kind) {
    case 'mode':
      agent.mode = step.mode;
      return;
    case 'end':
      return simulation.hostOf(agent).end(agent, step.reason, null);
    case 'checkpoint':
      agent.checkpoint = `${agent.instanceId}-${agent.sequence}`;
      return;
    case 'stop':
      return simulation.hostOf(agent).end(agent, 'explicit', null);
    case 'request':
      return request(simulation, agent, step.step);
    case 'hold':
      return hold(simulation, agent);
    case 'release':
      return release(simulation, agent.agentId);
  }
};

const happen = (simulation: Simulation, step: Step) => {
  switch (step.kind) {
    case 'wait':
      return simulation.pass(step.minutes * MINUTE);
    case 'mode':
    case 'end':
    case 'checkpoint':
    case 'stop':
    case 'request':
    case 'hold':
    case 'release': {
      const agent = at(simulation.living, step.agent);
      return agent && toAgent(simulation, agent, step);
    }
    case 'manners': {
      const { answers, leaves, dies } = step;
      simulation.manners = { answers, leaves, dies };
      for (const agent of simulation.living) agent.manners = simulation.manners;
      return;
    }
    case 'host':
      return toHost(simulation, at(simulation.hosts, step.host) as Host, step.what);
    case 'capacity': {
      const host = at(simulation.hosts, step.host) as Host;
      host.capacity = step.agents;
      host.failingSpawns = step.failing;
      return;
    }
    case 'recover': {
      const agent = at(simulation.agents, step.of);
      return agent && request(simulation, agent, 'terminate_and_recover');
    }
    case 'decide': {
      const asked = at([...simulation.facts.cases.values()], step.question);
      return asked && decide(simulation, asked.caseId, asked.agentId, step.decision);
    }
    case 'control':
      return controlFleet(simulation, step.what);
    case 'gone': {
      const host = at(simulation.hosts, step.host) as Host;
      for (const agent of host.agents) if (!agent.isEndReported) confirmDeath(simulation, agent);
      return;
    }
    case 'review': {
      const task = at([...simulation.facts.reviews], step.task);
      return task === undefined ? undefined : review(simulation, task, step.decision);
    }
    case 'start':
      return startedBy(simulation, step);
    case 'stall':
      return simulation.stall(step.reader, step.seconds * 1000);
    case 'restart':
      return at(simulation.log.units, step.reader)?.restart();
  }
};

/** Repairs everything, and lets people answer all questions. */
const repair = (simulation: Simulation) => {
  if (simulation.facts.isHaltRequested) controlFleet(simulation, 'RESUME_FLEET');
  for (const agentId of [...simulation.facts.held]) release(simulation, agentId);
  simulation.manners = { answers: true, leaves: true, dies: true };
  for (const host of simulation.hosts) {
    host.capacity = 8;
    host.failingSpawns = 0;
    host.canReceive = true;
    host.canSend = true;
    host.hasRoomOnDisk = true;
    host.isDoubling = false;
    host.supervise();
    host.look();
  }
  for (const agent of simulation.living) {
    agent.manners = simulation.manners;
    agent.mode = 'works';
  }
};

const answerAll = (simulation: Simulation, decision: Decision) => {
  for (const { caseId, agentId, options } of [...simulation.facts.cases.values()])
    if (options.length > 0) decide(simulation, caseId, agentId, options.includes(decision) ? decision : 'pardon');
  for (const task of [...simulation.facts.reviews])
    review(simulation, task, decision === 'pardon' ? 'abandon' : 'retry');
};

const begin = (simulation: Simulation) => {
  const [first, second] = simulation.hosts as [Host, Host, Host];
  simulation.start(first, 'w1', 'T-1');
  simulation.start(first, 'w2', 'T-2');
  simulation.start(first, 'w3', 'T-3');
  simulation.start(second, 'w4', 'T-4');
  simulation.pass(2 * MINUTE);
};

/**
 * The brake lifts by itself if all awaited agents report again, or have ended as intended. Otherwise people lift it, as
 * its alert requests. A crash is not an intended end, even if a person had ordered an end, because its task has no
 * agent.
 */
const liftBrake = (simulation: Simulation) => {
  const { missing, ended } = simulation.facts;
  const isBack = (task: string) =>
    simulation.living.some(({ taskId, startedAt }) => taskId === task && startedAt < simulation.now - 3 * MINUTE);
  const isSettled = (agentId: string) => {
    const instances = simulation.agents.filter((one) => one.agentId === agentId);
    const isOver = (instanceId: string) =>
      ended.get(instanceId)?.isIntended && ended.get(instanceId)?.reason !== 'crashed';
    return instances.some(({ taskId, instanceId }) => isBack(taskId) || isOver(instanceId));
  };
  if (missing.every(isSettled))
    throw new Broken('the brake lifts by itself when no agent is missing any more', missing.join(', '), simulation.now);
  controlFleet(simulation, 'LIFT_BRAKE');
};

/** The time for a person to answer and a plan to end. */
const ROUNDS = 8;

const finish = (simulation: Simulation, decision: Decision) => {
  repair(simulation);
  for (let round = 0; round < ROUNDS; round += 1) {
    simulation.pass(5 * MINUTE);
    answerAll(simulation, decision);
  }
  if (simulation.facts.isBraked) liftBrake(simulation);
  for (const agent of simulation.living) simulation.hostOf(agent).end(agent, 'finished', null);
  simulation.pass(5 * MINUTE);
  for (const agent of simulation.living) simulation.hostOf(agent).end(agent, 'finished', null);
  answerAll(simulation, 'pardon');
  simulation.pass(5 * MINUTE);
  simulation.end();
};

/** Plays a story, and throws as soon as a law is broken. */
export const play = (
  { policy, steps, end }: Story,
  laws: readonly Law[],
  onStep: (text: string) => void = () => {},
): Simulation => {
  const simulation = new Simulation(policy, laws);
  begin(simulation);
  for (const step of steps) {
    onStep(`${clockText(simulation.now)}: ${JSON.stringify(step)}`);
    happen(simulation, step);
    simulation.pass(1000);
  }
  finish(simulation, end);
  return simulation;
};

/** The story as the code of a test. */
export const asTest = (story: Story, broken: string): string =>
  `test(${JSON.stringify(broken)}, () => {
  play({
    policy: '${story.policy}',
    end: '${story.end}',
    steps: [
${story.steps.map((step) => `      ${JSON.stringify(step)},`).join('\n')}
    ],
  }, laws());
});`;
