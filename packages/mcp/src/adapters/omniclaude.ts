import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { AgentRow, TaskRow } from '@vigil/read-model';
import { z } from 'zod';
import { agentOfTask, explained, type Seen } from '../agents.ts';
import { type Api, ApiRefusal, commandOf, path } from '../api.ts';
import { isCurrent, knowledgeOf, knowledgeShape, stateText } from '../knowledge.ts';
import { register } from '../tool.ts';

const MINUTE_MS = 60_000;
const LONG_BASH_MS = 120_000;
const BASH_BUFFER_MS = 60_000;

const minutes = (ms: number): number => Math.round((ms / MINUTE_MS) * 100) / 100;

/** An agent that has made no call is idle since its start. Null: its calls are not known, because Vigil is blind. */
const idleMsOf = ({ agent, facts, knowledge }: Seen, now: number): number | null => {
  if (facts === null && !isCurrent(knowledge)) return null;
  return facts?.idleMs ?? Math.max(0, now - (agent.instanceSince ?? now));
};

/** omniclaude's `check_inactivity`: a long Bash call has its own limit and a minute more. */
const inactivity = (seen: Seen, timeoutMinutes: number, now: number) => {
  const { facts, agent } = seen;
  const limitMs = facts?.lastTool === 'Bash' ? (facts.lastCallLimitMs ?? 0) : 0;
  const timeout = limitMs > LONG_BASH_MS ? Math.max(timeoutMinutes, minutes(limitMs + BASH_BUFFER_MS)) : timeoutMinutes;
  const idleMs = idleMsOf(seen, now);
  const idle = idleMs === null ? null : minutes(idleMs);
  const lastCallAt = idle === null ? null : (facts?.lastCallAt ?? agent.instanceSince);
  return {
    stalled: idle !== null && idle > timeout,
    idle_minutes: idle,
    effective_timeout_minutes: timeout,
    last_tool_call: lastCallAt === null ? '' : new Date(lastCallAt).toISOString(),
    bash_timeout_exemption: timeout > timeoutMinutes,
  };
};

/**
 * Vigil keeps the share of the context; tokens are as the agent's last heartbeat reports them. An agent that does not
 * report those of its context has used its own total.
 */
const contextUsage = ({ agent, facts }: Seen, thresholdPct: number) => {
  const pct = facts?.contextPct ?? null;
  const { contextUsed, contextMax, tokens } = agent;
  return {
    stalled: pct !== null && pct > thresholdPct,
    usage_pct: pct,
    tokens_used: contextUsed ?? tokens,
    tokens_max: contextMax,
  };
};

/** "generate" and a count of 429 are none. */
const LIMITED = /\brate[ _-]?limit|\b(?:http|status|error|code)\W{0,3}429\b|\btoo many requests\b/i;

const isRateLimit = ({ errorClass, message }: AgentRow['errors'][number]): boolean =>
  errorClass === 'rate_limit' || LIMITED.test(message ?? '');

const rateLimits = ({ agent, facts }: Seen) => {
  const errors = agent.errors.filter(isRateLimit);
  const reported = errors.reduce((sum, { count }) => sum + count, 0);
  const count = Math.max(reported, facts === null || facts.rateLimitedAt === null ? 0 : 1);
  const last = errors.at(-1);
  return { stalled: count > 0, rate_limit_count: count, last_error: last?.message ?? last?.errorClass ?? '' };
};

const STALLED: ReadonlySet<string> = new Set(['STUCK', 'FAILING']);

/** The newest checkpoint that can be used. */
const checkpointOf = ({ checkpoints }: Pick<Seen, 'checkpoints'>) => checkpoints.find(({ valid }) => valid !== false);

/** While Vigil is blind, an agent was stalled, healthy or ended; its present state is unknown. */
const STATUSES = ['healthy', 'stalled', 'ended', 'was healthy', 'was stalled', 'was ended'] as const;
type Status = (typeof STATUSES)[number];
const REASONS = ['inactivity', 'context_overflow', 'rate_limit'] as const;
type Reason = (typeof REASONS)[number];

type Limits = { readonly timeout_minutes: number; readonly context_threshold_pct: number };

/** Whether it is stalled now: unknown while Vigil is blind. */
const aged = <Found extends { readonly stalled: boolean }>({ knowledge }: Seen, found: Found) => ({
  ...found,
  stalled: isCurrent(knowledge) ? found.stalled : null,
  knowledge: knowledgeOf(knowledge),
});

const health = (seen: Seen, { timeout_minutes, context_threshold_pct }: Limits, now: number) => {
  const { agent, knowledge } = seen;
  const idle = inactivity(seen, timeout_minutes, now);
  const context = contextUsage(seen, context_threshold_pct);
  const isOver = agent.state === 'TERMINATED';
  const isWaiting = agent.exemption !== null;
  // The order of its source. An agent that waits for a person or a declared deadline is not stalled.
  const reasons: readonly Reason[] = [
    ...(idle.stalled && !isWaiting ? (['inactivity'] as const) : []),
    ...(context.stalled ? (['context_overflow'] as const) : []),
    ...(rateLimits(seen).stalled ? (['rate_limit'] as const) : []),
    ...(STALLED.has(agent.state) ? (['inactivity'] as const) : []),
  ];
  const checkpoint = checkpointOf(seen);
  const status = isOver ? 'ended' : reasons.length > 0 ? 'stalled' : 'healthy';
  return {
    status: stateText(status, knowledge) as Status,
    stall_reason: isOver ? null : (reasons[0] ?? null),
    idle_minutes: idle.idle_minutes,
    context_usage_pct: context.usage_pct,
    completed_summary: [...(checkpoint?.completedWork ?? [])],
    remaining_tasks: [...(checkpoint?.remainingWork ?? [])],
    checkpoint_path: checkpoint?.uri ?? null,
    vigil_state: stateText(agent.state, knowledge),
    vigil_reason: agent.reason,
    knowledge: knowledgeOf(knowledge),
  };
};

const id = z.string().min(1).max(128);
const list = z.array(z.string().max(500)).max(100);
const requested = z.string().describe('the id of the command that Vigil received; its events report the outcome');

/** Throws ApiRefusal where the agent does not work on the ticket: it is not the agent that its caller means. */
const kill = async (api: Api, agentId: string, ticketId: string): Promise<string> => {
  const { taskId } = (await explained(api, agentId)).agent;
  if (taskId !== ticketId)
    throw new ApiRefusal(
      `${agentId} does not work on the ticket ${ticketId}: ${taskId === null ? 'it has none' : `it works on ${taskId}`}. Nothing is ended.`,
    );
  return api.command(commandOf('request_step', { agentId, step: 'terminate' }, `stall_detected on ${ticketId}`));
};

/** The task waits for a person: it is in review, or it becomes blocked, which notifies people and moves its issue in Linear. */
const escalate = async (api: Api, ticketId: string, checkpointPath: string, attempts: number) => {
  const task = await api.get<TaskRow>(path('tasks', ticketId)).catch((error: unknown) => {
    if (error instanceof ApiRefusal) return null;
    throw error;
  });
  if (task?.recovery === 'REVIEW_REQUIRED')
    return { status: 'Blocked', requested: null, comment: 'it is in review already' };
  const comment = `Auto-blocked: agent stalled ${attempts} times. Checkpoint: ${checkpointPath}. Requires manual investigation.`;
  const why = `agent stalled ${attempts} times`;
  const saved = checkpointPath === '' ? {} : { checkpoint: checkpointPath };
  const command = commandOf('block_task', { taskId: ticketId, attempts, ...saved }, why);
  return { status: 'Blocked', requested: await api.command(command), comment };
};

const redispatch = async (api: Api, ticketId: string, why: string): Promise<string> => {
  const task = await api.get<TaskRow>(path('tasks', ticketId));
  if (task.recovery === 'REVIEW_REQUIRED')
    return api.command(commandOf('review_task', { taskId: ticketId, decision: 'retry' }, why));
  const { agentId } = await agentOfTask(api, ticketId);
  return api.command(commandOf('request_step', { agentId, step: 'terminate_and_recover' }, why));
};

/** The functions of omniclaude's skill `agent_healthcheck`, by its names, arguments and result fields. `now`: epoch milliseconds. */
export const registerOmniclaudeTools = (server: McpServer, api: Api, now: () => number): void => {
  const stalled = z.boolean().nullable().describe('null: Vigil is blind, and the present state is unknown');
  register(server, {
    name: 'check_agent_health',
    description: 'Whether the agent of a ticket is stalled, and why, with its completed and remaining work.',
    acts: false,
    input: {
      ticket_id: id,
      agent_id: id,
      timeout_minutes: z.number().positive().default(2),
      context_threshold_pct: z.number().positive().default(80),
    },
    output: {
      status: z.enum(STATUSES),
      stall_reason: z.enum(REASONS).nullable(),
      idle_minutes: z.number().nullable().describe('null: not known while Vigil is blind'),
      context_usage_pct: z.number().nullable(),
      completed_summary: z.array(z.string()),
      remaining_tasks: z.array(z.string()),
      checkpoint_path: z.string().nullable(),
      vigil_state: z.string(),
      vigil_reason: z.string().nullable(),
      knowledge: knowledgeShape,
    },
    run: async ({ agent_id, ...limits }) => health(await explained(api, agent_id), limits, now()),
  });
  register(server, {
    name: 'check_inactivity',
    description: 'Whether an agent has made no tool call for longer than the timeout. A long Bash call extends it.',
    acts: false,
    input: { agent_id: id, timeout_minutes: z.number().positive().default(2) },
    output: {
      stalled,
      idle_minutes: z.number().nullable().describe('null: not known while Vigil is blind'),
      effective_timeout_minutes: z.number(),
      last_tool_call: z.string(),
      bash_timeout_exemption: z.boolean(),
      knowledge: knowledgeShape,
    },
    run: async ({ agent_id, timeout_minutes }) => {
      const seen = await explained(api, agent_id);
      return aged(seen, inactivity(seen, timeout_minutes, now()));
    },
  });
  register(server, {
    name: 'check_context_usage',
    description: 'How much of its context an agent has used; null where its client does not report it.',
    acts: false,
    input: { agent_id: id, threshold_pct: z.number().positive().default(80) },
    output: {
      stalled,
      usage_pct: z.number().nullable(),
      tokens_used: z.number().nullable(),
      tokens_max: z.number().nullable(),
      knowledge: knowledgeShape,
    },
    run: async ({ agent_id, threshold_pct }) => {
      const seen = await explained(api, agent_id);
      return aged(seen, contextUsage(seen, threshold_pct));
    },
  });
  register(server, {
    name: 'check_rate_limits',
    description: 'The rate-limit errors that an agent has reported.',
    acts: false,
    input: { agent_id: id },
    output: { stalled, rate_limit_count: z.number(), last_error: z.string(), knowledge: knowledgeShape },
    run: async ({ agent_id }) => {
      const seen = await explained(api, agent_id);
      return aged(seen, rateLimits(seen));
    },
  });
  register(server, {
    name: 'kill_stalled_agent',
    description:
      'Ends the agent of a ticket: a shutdown request, then signals. Refused where the agent has another ticket. Needs the role operator.',
    acts: true,
    input: { agent_id: id, ticket_id: id },
    output: { requested },
    run: async ({ agent_id, ticket_id }) => ({ requested: await kill(api, agent_id, ticket_id) }),
  });
  register(server, {
    name: 'write_recovery_checkpoint',
    description:
      'Requests a checkpoint of the agent of a ticket, which then stops. `path` is the newest checkpoint until then. Needs the role operator.',
    acts: true,
    input: {
      ticket_id: id,
      completed_work: list,
      remaining_work: list,
      stall_reason: z.string().min(1).max(500),
      redispatch_attempt: z.int().nonnegative().default(0),
    },
    output: { path: z.string().nullable(), timestamp: z.string(), requested },
    run: async ({ ticket_id, completed_work, remaining_work, stall_reason, redispatch_attempt }) => {
      const { agentId } = await agentOfTask(api, ticket_id);
      const seen = await explained(api, agentId);
      const message = [
        `Write a checkpoint now and stop: ${stall_reason} (attempt ${redispatch_attempt}).`,
        `Completed: ${completed_work.join('; ') || 'nothing'}.`,
        `Remaining: ${remaining_work.join('; ') || 'nothing'}.`,
      ].join('\n');
      const command = { agentId, step: 'handoff', message: message.slice(0, 4000) };
      return {
        path: checkpointOf(seen)?.uri ?? null,
        timestamp: new Date(now()).toISOString(),
        requested: await api.command(commandOf('request_step', command, stall_reason)),
      };
    },
  });
  register(server, {
    name: 'redispatch_agent',
    description:
      'Puts a fresh agent on a ticket, which continues from its checkpoint; beyond the limit the ticket is left to people. Needs the role operator; in review or beyond the limit responder is enough.',
    acts: true,
    input: {
      ticket_id: id,
      checkpoint_path: z.string().max(4096),
      remaining_tasks: list,
      redispatch_attempt: z.int().positive(),
      max_redispatches: z.int().nonnegative().default(2),
    },
    output: { action: z.enum(['redispatch', 'escalated_to_blocked']), requested: z.string().nullable() },
    run: async ({ ticket_id, checkpoint_path, remaining_tasks, redispatch_attempt, max_redispatches }) => {
      if (redispatch_attempt > max_redispatches) {
        const { requested } = await escalate(api, ticket_id, checkpoint_path, redispatch_attempt);
        return { action: 'escalated_to_blocked' as const, requested };
      }
      const why = `redispatch ${redispatch_attempt} of ${max_redispatches}; remaining: ${remaining_tasks.join('; ')}`;
      return { action: 'redispatch' as const, requested: await redispatch(api, ticket_id, why.slice(0, 2000)) };
    },
  });
  register(server, {
    name: 'escalate_to_blocked',
    description:
      'Moves a ticket that stalls again and again to Blocked, with a comment, and leaves it to people. Needs the role responder.',
    acts: true,
    input: { ticket_id: id, checkpoint_path: z.string().max(4096), attempt_count: z.int().nonnegative() },
    output: { status: z.string(), requested: z.string().nullable(), comment: z.string() },
    run: ({ ticket_id, checkpoint_path, attempt_count }) => escalate(api, ticket_id, checkpoint_path, attempt_count),
  });
};
