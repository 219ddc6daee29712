import { Topic } from '@vigil/events';
import type { HerdAgent } from '../support/herd/agent.ts';
import { until } from '../support/system.ts';
import type { Ground } from './ground.ts';

/** The types of what the governor says of the fleet from now on. */
export const governedFrom = ({ heard }: Pick<Ground, 'heard'>): (() => readonly string[]) => {
  const before = heard.of(Topic.fleetGovernance).length;
  return () =>
    heard
      .of(Topic.fleetGovernance)
      .slice(before)
      .map(({ type }) => type);
};

type Agent = Pick<HerdAgent, 'agentId' | 'taskId'>;

export const reminded = ({ heard }: Ground, agents: readonly Agent[]): Promise<boolean> =>
  until('all of them have been reminded', async () => {
    const sent = new Set(
      heard.of(Topic.agentIntervention).flatMap(({ type, key }) => (type === 'NUDGE_SENT' ? [key] : [])),
    );
    return agents.every(({ agentId }) => sent.has(agentId));
  });

/** Each has ended, as its runtime says, its case is closed, and its task is on another. */
export const replaced = ({ heard }: Ground, agents: readonly Agent[], limitMs?: number): Promise<boolean> =>
  until(
    'all of them are ended and replaced',
    async () => {
      const cases = heard.of(Topic.agentIntervention);
      const executed = new Set(
        cases.flatMap((said) => (said.type === 'CASE_CLOSED' && said.payload.ending === 'executed' ? [said.key] : [])),
      );
      const completed = new Set(
        heard.of(Topic.taskRecovery).flatMap(({ type, key }) => (type === 'RECOVERY_COMPLETED' ? [key] : [])),
      );
      return agents.every(({ agentId, taskId }) => executed.has(agentId) && completed.has(taskId));
    },
    limitMs,
  );

const openCases = ({ heard }: Pick<Ground, 'heard'>): readonly string[] => {
  const events = heard.of(Topic.agentIntervention);
  const closed = new Set(events.flatMap(({ type, payload }) => (type === 'CASE_CLOSED' ? [payload.caseId] : [])));
  return events.flatMap(({ type, payload }) =>
    type === 'CASE_OPENED' && !closed.has(payload.caseId) ? [payload.caseId] : [],
  );
};

export const hasNoOpenCase = (ground: Pick<Ground, 'heard'>): boolean => openCases(ground).length === 0;

/** While the hosts still run: a case waits for the receipt of its order, and no time passes once a test has stopped everything. */
export const casesClosed = (ground: Ground): Promise<boolean> =>
  until('every case is closed', async () => hasNoOpenCase(ground));
