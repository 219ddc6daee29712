import { type Draft, Topic } from '@vigil/events';
import type { Agent } from './agents.ts';
import type { Simulation } from './simulation.ts';

const BY = 'ada';
const WHY = 'a person decides it';

type Requested = 'nudge' | 'handoff' | 'terminate' | 'terminate_and_recover';
export type Decision = 'allow_more_time' | 'force_handoff' | 'terminate_and_recover' | 'pardon';

/** The actions of people, as drafts that the dashboard's API writes. */
export const request = (simulation: Simulation, agent: Agent, step: Requested): void => {
  const { agentId, instanceId, taskId } = agent;
  const about = { agentId, instanceId, taskId, runtimeId: simulation.hostOf(agent).runtimeId, labels: {} };
  const payload = { ...about, step, message: null, by: BY, why: WHY, recovery: null, askedAt: null };
  simulation.log.write({ topic: Topic.decideCase, type: 'REQUEST_STEP', key: agentId, payload } as Draft);
};

export const decide = (simulation: Simulation, caseId: string, agentId: string, decision: Decision): void => {
  const payload = { caseId, agentId, decision, forMs: null, by: BY, why: WHY, question: null };
  simulation.log.write({ topic: Topic.decideCase, type: 'DECIDE_CASE', key: agentId, payload } as Draft);
};

export const hold = (simulation: Simulation, { agentId }: Agent): void =>
  simulation.log.write({
    topic: Topic.controlAgent,
    type: 'HOLD_AGENT',
    key: agentId,
    payload: { agentId, until: null, by: BY, why: WHY },
  } as Draft);

export const release = (simulation: Simulation, agentId: string): void =>
  simulation.log.write({
    topic: Topic.controlAgent,
    type: 'RELEASE_AGENT',
    key: agentId,
    payload: { agentId, by: BY, why: WHY },
  } as Draft);

export const controlFleet = (simulation: Simulation, type: 'HALT_FLEET' | 'RESUME_FLEET' | 'LIFT_BRAKE'): void =>
  simulation.log.write({ topic: Topic.controlFleet, type, key: 'fleet', payload: { by: BY, why: WHY } } as Draft);

export const confirmDeath = (simulation: Simulation, { agentId, instanceId }: Agent): void => {
  const payload = { agentId, instanceId, source: 'person', by: BY, why: WHY };
  simulation.log.write({ topic: Topic.controlAgent, type: 'CONFIRM_DEATH', key: agentId, payload } as Draft);
};

export const review = (simulation: Simulation, taskId: string, decision: 'retry' | 'reset' | 'abandon'): void =>
  simulation.log.write({
    topic: Topic.reviewTask,
    type: 'REVIEW_TASK',
    key: taskId,
    payload: { taskId, decision, by: BY, why: WHY },
  } as Draft);
