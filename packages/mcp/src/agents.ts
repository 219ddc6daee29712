import type { AgentRow, Explanation, Knowledge } from '@vigil/read-model';
import { type Api, ApiRefusal, path } from './api.ts';

/** An agent with what the evaluator has of its work. */
export type Seen = Pick<Explanation, 'agent' | 'facts' | 'checkpoints' | 'task' | 'tickets'> & {
  readonly knowledge: Knowledge;
};

export const explained = (api: Api, agentId: string): Promise<Seen> =>
  api.get<Seen>(path('agents', agentId, 'explain'));

/** The agent that works on a task, or worked on it last. Throws ApiRefusal without one. */
export const agentOfTask = async (api: Api, taskId: string): Promise<AgentRow> => {
  const { agents } = await api.get<{ agents: readonly AgentRow[] }>('/v1/agents', { task: taskId });
  const newest = [...agents].sort((one, other) => (other.instanceSince ?? 0) - (one.instanceSince ?? 0));
  const found = newest.find(({ state }) => state !== 'TERMINATED') ?? newest[0];
  if (found === undefined)
    throw new ApiRefusal(
      `No agent has reported the task ${JSON.stringify(taskId)}: the inbox and the agents list what there is.`,
    );
  return found;
};
