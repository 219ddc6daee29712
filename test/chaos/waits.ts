import { Topic } from '@vigil/events';
import type { HerdAgent } from '../support/herd/agent.ts';
import { until } from '../support/system.ts';
import type { Ground } from './ground.ts';

/** The types of the governor's events about the fleet from now on. */
export const governedFrom = ({ received }: Pick<Ground, 'received'>): (() => readonly string[]) => {
  const before = received.of(Topic.fleetGovernance).length;
  return () =>
    received
      .of(Topic.fleetGovernance)
      .slice(before)
      .map(({ type }) => type);
};

type Agent = Pick<HerdAgent, 'agentId' | 'taskId'>;

export const reminded = ({ received }: Ground, agents: readonly Agent[]): Promise<boolean> =>
  until('all of them have been reminded', async () => {
    const sent = new Set(
      received.of(Topic.agentIntervention).flatMap(({ type, key }) => (type === 'NUDGE_SENT' ? [key] : [])),
    );
    return agents.every(({ agentId }) => sent.has(agentId));
  });

/** Waits until each agent has ended by its runtime's report, its case is closed, and its task is on another agent. */
export const replaced = ({ received }: Ground, agents: readonly Agent[], limitMs?: number): Promise<boolean> =>
  until(
    'all of them are ended and replaced',
    async () => {
      const cases = received.of(Topic.agentIntervention);
      const executed = new Set(
        cases.flatMap((event) =>
          event.type === 'CASE_CLOSED' && event.payload.ending === 'executed' ? [event.key] : [],
        ),
      );
      const completed = new Set(
        received.of(Topic.taskRecovery).flatMap(({ type, key }) => (type === 'RECOVERY_COMPLETED' ? [key] : [])),
      );
      return agents.every(({ agentId, taskId }) => executed.has(agentId) && completed.has(taskId));
    },
    limitMs,
  );

const openCases = ({ received }: Pick<Ground, 'received'>): readonly string[] => {
  const events = received.of(Topic.agentIntervention);
  const closed = new Set(events.flatMap(({ type, payload }) => (type === 'CASE_CLOSED' ? [payload.caseId] : [])));
  return events.flatMap(({ type, payload }) =>
    type === 'CASE_OPENED' && !closed.has(payload.caseId) ? [payload.caseId] : [],
  );
};

export const hasNoOpenCase = (ground: Pick<Ground, 'received'>): boolean => openCases(ground).length === 0;

/**
 * Call it while the hosts still run: a case waits for the receipt of its order, and no time passes once a test has
 * stopped everything.
 */
export const casesClosed = (ground: Ground): Promise<boolean> =>
  until('every case is closed', async () => hasNoOpenCase(ground));
