import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { AgentRow, TicketRow } from '@vigil/read-model';
import { z } from 'zod';
import { explained } from '../agents.ts';
import { type Api, ApiRefusal, commandOf } from '../api.ts';
import { knowledgeOf, knowledgeShape, stateText } from '../knowledge.ts';
import { register } from '../tool.ts';

const MINUTE_MS = 60_000;
const LONGEST_EVIDENCE = 500;

const severity = z.enum(['low', 'medium', 'high', 'critical']);
const text = z.string().min(1).max(2000);

/** hive's EscalationTicket. Its two first fields may be left out; all others are required, so that a model does not escalate on an impulse. */
const escalationTicket = z.object({
  ticket_id: z.string().min(1).max(128).optional(),
  created_at: z.string().optional(),
  worker_agent_id: z.string().min(1).max(128),
  worker_session_id: z.string(),
  worker_node_id: z.string(),
  worker_graph_id: z.string(),
  severity,
  cause: text,
  judge_reasoning: text,
  suggested_action: text,
  recent_verdicts: z.array(z.string()),
  total_steps_checked: z.int().nonnegative(),
  steps_since_last_accept: z.int().nonnegative(),
  stall_minutes: z.number().nonnegative().nullable(),
  evidence_snippet: z.string().min(1).max(LONGEST_EVIDENCE),
});

/** Throws ApiRefusal, naming the field. */
const readTicket = (json: string): z.output<typeof escalationTicket> => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (error) {
    throw new ApiRefusal(`ticket_json is not JSON (${(error as Error).message}): send an EscalationTicket as JSON.`);
  }
  const read = escalationTicket.safeParse(parsed);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new ApiRefusal(`ticket_json.${issue?.path.join('.') ?? ''}: ${issue?.message}. A partial ticket is refused.`);
};

/** A session by its id; `auto`: of those in progress the one that began last. Throws ApiRefusal without one. */
const sessionOf = async (api: Api, sessionId: string): Promise<AgentRow> => {
  const { agents } = await api.get<{ agents: readonly AgentRow[] }>('/v1/agents');
  const found =
    sessionId === 'auto'
      ? agents
          .filter(({ state }) => state !== 'TERMINATED')
          .sort((one, other) => (other.instanceSince ?? 0) - (one.instanceSince ?? 0))[0]
      : agents.find(({ instanceId, agentId }) => instanceId === sessionId || agentId === sessionId);
  if (found === undefined)
    throw new ApiRefusal(
      sessionId === 'auto'
        ? 'No session is in progress.'
        : `session ${JSON.stringify(sessionId)} does not exist; list them with \`vigil health\``,
    );
  return found;
};

/** How often a new ticket is looked for, and the pause between, milliseconds: 5 s in all. */
const LOOKS = 20;
const LOOK_MS = 250;

/** Until triage has decided the ticket, `notify_operator` refuses it. A failed look is ignored: the ticket is filed. */
const untilTriaged = async ({ api, pause }: HiveDeps, agentId: string, ticketId: string): Promise<void> => {
  for (let look = 0; look < LOOKS; look += 1) {
    const { tickets } = await api
      .get<{ tickets: readonly TicketRow[] }>('/v1/tickets', { agent: agentId })
      .catch(() => ({ tickets: [] }));
    if (tickets.some((one) => one.ticketId === ticketId && one.alertKey !== null)) return;
    await pause(LOOK_MS);
  }
};

/** `newId`: for a ticket without one; `pause`: ends after so many milliseconds */
type HiveDeps = {
  readonly api: Api;
  readonly newId: () => string;
  readonly pause: (ms: number) => Promise<void>;
};

/** The tools of hive's judge and of its operator, by its names, arguments and result fields. */
export const registerHiveTools = (server: McpServer, deps: HiveDeps): void => {
  const { api, newId } = deps;
  register(server, {
    name: 'get_worker_health_summary',
    description: 'The judged steps of a session; without an id those of the newest session in progress.',
    acts: false,
    input: { session_id: z.string().default('auto') },
    output: {
      session_id: z.string(),
      session_status: z.string(),
      worker_agent_id: z.string(),
      worker_graph_id: z.string(),
      total_steps: z.number(),
      recent_verdicts: z.array(z.string()),
      steps_since_last_accept: z.number(),
      stall_minutes: z.number().nullable(),
      evidence_snippet: z.string(),
      knowledge: knowledgeShape,
    },
    run: async ({ session_id }) => {
      const session = await sessionOf(api, session_id);
      const { agent, facts, knowledge } = await explained(api, session.agentId);
      const { agentId, instanceId, taskId, labels, tail, state } = agent;
      const stallMs = facts?.stallMs ?? null;
      return {
        session_id: instanceId ?? agentId,
        session_status: stateText(state === 'TERMINATED' ? 'ended' : 'in_progress', knowledge),
        worker_agent_id: agentId,
        worker_graph_id: labels.graph ?? taskId ?? agentId,
        total_steps: facts?.totalSteps ?? 0,
        recent_verdicts: [...(facts?.recentVerdicts ?? [])],
        steps_since_last_accept: facts?.stepsSinceAccept ?? 0,
        stall_minutes: stallMs === null ? null : Math.round((stallMs / MINUTE_MS) * 100) / 100,
        evidence_snippet: tail.join('\n').slice(-LONGEST_EVIDENCE),
        knowledge: knowledgeOf(knowledge),
      };
    },
  });
  register(server, {
    name: 'emit_escalation_ticket',
    description:
      'Files a complete EscalationTicket about a worker, and waits up to 5 s for triage, which decides whether people are notified. Needs the role responder.',
    acts: true,
    input: { ticket_json: z.string().max(20_000) },
    output: { ticket_id: z.string(), requested: z.string() },
    run: async ({ ticket_json }) => {
      const ticket = readTicket(ticket_json);
      const ticketId = ticket.ticket_id ?? newId();
      const { worker_agent_id: agentId, cause, suggested_action, evidence_snippet, steps_since_last_accept } = ticket;
      const stall = ticket.stall_minutes === null ? {} : { stallMs: Math.round(ticket.stall_minutes * MINUTE_MS) };
      const fields = {
        ...{ agentId, ticketId, severity: ticket.severity, cause, suggestedAction: suggested_action, ...stall },
        ...{ evidence: evidence_snippet, stepsSinceAccept: steps_since_last_accept },
      };
      const requested = await api.command(commandOf('file_ticket', fields, ticket.judge_reasoning));
      await untilTriaged(deps, agentId, ticketId);
      return { ticket_id: ticketId, requested };
    },
  });
  register(server, {
    name: 'notify_operator',
    description: 'Notifies people of a ticket, also of one that triage has dismissed. Needs the role responder.',
    acts: true,
    input: { ticket_id: z.string().min(1).max(128), analysis: text, urgency: severity },
    output: { ticket_id: z.string(), requested: z.string() },
    run: async ({ ticket_id, analysis, urgency }) => ({
      ticket_id,
      requested: await api.command(commandOf('notify_operator', { ticketId: ticket_id, urgency }, analysis)),
    }),
  });
};
