import { parsePayload, Topic } from '@vigil/events';
import type { ReadModel } from '@vigil/read-model';
import { found, Problem } from '../problem.ts';
import type { CommandDraft, Of } from './command.ts';

/** Ends every instance that was last seen on the host, as a person reports. */
export const hostGone = async (
  { host, by, why }: Of<'host_gone'>,
  model: ReadModel,
): Promise<readonly CommandDraft[]> => {
  const runtimes = (await model.runtimes()).filter((runtime) => runtime.host === host);
  const there = new Set(runtimes.map(({ runtimeId }) => runtimeId));
  const agents = (await model.agents({})).filter(
    (agent) =>
      agent.state !== 'TERMINATED' && (agent.host === host || (agent.runtimeId !== null && there.has(agent.runtimeId))),
  );
  if (agents.length === 0)
    throw new Problem(
      404,
      'unknown_host',
      `No living agent was seen on ${JSON.stringify(host)}: \`vigil health --json\` names the hosts.`,
    );
  return agents.map(({ agentId, instanceId }) => confirmDeath(agentId, instanceId, { by, why }, agents.length));
};

/** `of`: how many are written at once. */
export const confirmDeath = (
  agentId: string,
  instanceId: string | null,
  { by, why }: { by: string; why: string },
  of: number,
): CommandDraft => controlAgent('CONFIRM_DEATH', agentId, { instanceId, source: 'person', by, why, groupId: null, of });

/** A command that is written after the first of its group: the outcome of the first counts the answers to all. */
export const inGroup = (draft: CommandDraft, groupId: string): CommandDraft =>
  draft.type === 'CONFIRM_DEATH' ? { ...draft, payload: { ...draft.payload, groupId } } : draft;

type AgentControl = 'HOLD_AGENT' | 'RELEASE_AGENT' | 'CONFIRM_DEATH' | 'RESET_BREAKER' | 'FILE_TICKET';
export const controlAgent = (type: AgentControl, agentId: string, fields: object): CommandDraft =>
  ({
    topic: Topic.controlAgent,
    type,
    key: agentId,
    payload: parsePayload(Topic.controlAgent, type, { agentId, ...fields }),
  }) as CommandDraft;

/** `until`: epoch milliseconds; null: until it is released */
export const hold = async (
  { agentId, by, why }: Of<'hold'>,
  until: number | null,
  model: ReadModel,
): Promise<CommandDraft> => {
  const { state } = found(await model.agent(agentId), 'agent', agentId, '`vigil health`');
  if (state === 'TERMINATED')
    throw new Problem(409, 'agent_ended', `${agentId} has ended: only a running agent can be held.`);
  return controlAgent('HOLD_AGENT', agentId, { until, by, why });
};

export const release = async (
  { agentId, by, why }: Of<'release'>,
  model: ReadModel,
  now: number,
): Promise<CommandDraft> => {
  const { held, heldUntil } = found(await model.agent(agentId), 'agent', agentId, '`vigil health`');
  if (!held || (heldUntil !== null && heldUntil <= now))
    throw new Problem(409, 'not_held', `${agentId} is not held: there is nothing to release.`);
  return controlAgent('RELEASE_AGENT', agentId, { by, why });
};

export const resetBreaker = async (
  { agentId, name, by, why }: Of<'reset_breaker'>,
  model: ReadModel,
): Promise<CommandDraft> => {
  found(await model.agent(agentId), 'agent', agentId, '`vigil health`');
  return controlAgent('RESET_BREAKER', agentId, { name, by, why });
};

const MINUTE_MS = 60_000;

/** A ticket of an external judge, with what the read model has of its agent. `why` is the reasoning of the judge. */
export const fileTicket = async (command: Of<'file_ticket'>, model: ReadModel, now: number): Promise<CommandDraft> => {
  const { agentId, ticketId, severity, cause, by, why, stepsSinceAccept = 0, stallMs } = command;
  const agent = found(await model.agent(agentId), 'agent', agentId, '`vigil health`');
  const graph = agent.labels.graph ?? agent.taskId ?? agentId;
  const ticket = {
    ticket_id: ticketId,
    created_at: new Date(now).toISOString(),
    worker_agent_id: agentId,
    worker_session_id: agent.instanceId ?? agentId,
    worker_node_id: graph,
    worker_graph_id: graph,
    severity,
    cause,
    judge_reasoning: why,
    suggested_action: command.suggestedAction ?? 'human review',
    recent_verdicts: [],
    total_steps_checked: stepsSinceAccept,
    steps_since_last_accept: stepsSinceAccept,
    stall_minutes: stallMs === undefined ? null : stallMs / MINUTE_MS,
    evidence_snippet: command.evidence ?? cause.slice(0, 500),
  };
  return controlAgent('FILE_TICKET', agentId, { ticket, by });
};
