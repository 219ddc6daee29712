import { asId, asIdPart, subagentId } from '@vigil/adapters/names';
import { type AgentReport, callsToSend, runningCalls, type SessionState } from '@vigil/adapters/session';
import type { BreakerReport, Heartbeat } from '@vigil/events';
import { applyReport, marked, noProgress, type Progress } from '@vigil/sdk/progress';

const LONGEST_ID = 128;
const SHORT_LENGTH = 16;

/** An agent of Vigil. */
export type AgentIds = { readonly agentId: string; readonly instanceId: string };

/** The ids of a sub-agent. `type`: the client's name of its sort. One that starts again is another instance. */
export const subagentIds = (parent: AgentIds, id: string, type: string | null, startedAt: number): AgentIds => {
  const suffix = asIdPart(`:${id.slice(-SHORT_LENGTH)}-${startedAt.toString(36)}`);
  return {
    agentId: subagentId(parent.agentId, type, id),
    instanceId: `${parent.instanceId.slice(0, LONGEST_ID - suffix.length)}${suffix}`,
  };
};

/** The variables that a hook reads, as docs/configuration.md describes them. */
export const HOOK_VARIABLES = {
  VIGIL_SOCKET: { values: 'path', description: 'The socket of the supervisor, for a supervised agent.' },
  VIGIL_SPOOL: { values: 'folder', description: 'Where the hooks of a supervised agent append their events.' },
  VIGIL_GATEWAY_URL: {
    values: 'HTTP address',
    description: 'The gateway, for a session without a supervisor; without both the hook reports nothing.',
  },
  VIGIL_GATEWAY_TOKEN: { values: 'text', isSecret: true, description: 'The token of the agent or runtime.' },
  VIGIL_GATEWAY_TOKEN_FILE: { values: 'file', description: 'Holds that token.' },
  VIGIL_AGENT: { values: 'id', description: 'The id of the agent, for a session without a supervisor.' },
  VIGIL_AGENT_ID: {
    values: 'id',
    default: 'client and session with `-` between',
    description: 'The same, where `VIGIL_AGENT` is not set.',
  },
  VIGIL_TASK_ID: { values: 'id', description: 'The task of that agent.' },
  VIGIL_STATE_DIR: {
    values: 'folder',
    default: '~/.local/state/vigil',
    description: 'Hooks without a supervisor keep their state in its folder `hooks`.',
  },
  VIGIL_HOOK_DEBUG: { values: 'file', description: 'Records what each hook did, and for how long.' },
} as const;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Who a session is to Vigil where no supervisor runs. */
export type Who = AgentIds & {
  readonly taskId: string | null;
  readonly client: string;
  readonly session: string;
};

export const whoIs = (client: string, session: string, env: Environment): Who => ({
  agentId: asId(env.VIGIL_AGENT || env.VIGIL_AGENT_ID || `${client}-${session}`),
  instanceId: asId(session),
  taskId: env.VIGIL_TASK_ID ? asId(env.VIGIL_TASK_ID) : null,
  client,
  session,
});

/** The state of one agent of a session that is kept between heartbeats. */
export type ReportedAgent = AgentIds & {
  readonly sequence: number;
  readonly phase: string;
  readonly lastCallAt: number | null;
  readonly errors: number;
  /** what of it may end a finding about it */
  readonly progress: Progress;
};

const newAgent = (ids: AgentIds): ReportedAgent => ({
  ...ids,
  sequence: 0,
  phase: 'session',
  lastCallAt: null,
  errors: 0,
  progress: noProgress,
});

/** The agents of a session; the session's own by the name ''. */
export type ReportedAgents = Readonly<Record<string, ReportedAgent>>;

export const MAIN_AGENT = '';

/** The fields that the hook sends; an omitted field has the default of the schema. */
export type SentHeartbeat = Partial<Heartbeat> & Pick<Heartbeat, 'agent_id' | 'sequence'>;

/** No heartbeat follows between two events: a model may think, and a command may run, for this time. Milliseconds. */
const INTERVAL_MS = 600_000;

const idsFor = (who: Who, { agent, type }: AgentReport, now: number): AgentIds =>
  agent === null ? who : subagentIds(who, agent, type, now);

/** The heartbeat of one report, and its agent after it. `session`: as last sent; `now`: epoch milliseconds. */
const reported = (
  before: ReportedAgent,
  { agent, type, fields }: AgentReport,
  session: SessionState,
  breakers: readonly BreakerReport[],
  who: Who,
  now: number,
): { readonly after: ReportedAgent; readonly heartbeat: SentHeartbeat } => {
  const tool_calls = callsToSend(fields.tool_calls ?? [], runningCalls(session, agent));
  const sequence = before.sequence + 1;
  const after = {
    ...before,
    sequence,
    progress: marked(applyReport(before.progress, fields, sequence), ['heartbeat'], sequence),
    phase: fields.phase ?? before.phase,
    lastCallAt: tool_calls.length > 0 ? now : before.lastCallAt,
    errors: before.errors + tool_calls.filter(({ outcome }) => outcome === 'error').length,
  };
  const heartbeat: SentHeartbeat = {
    ...fields,
    agent_id: before.agentId,
    task_id: agent === null ? who.taskId : null,
    timestamp: now,
    phase: after.phase,
    last_tool_call: after.lastCallAt,
    error_count: after.errors,
    progress_indicator: after.phase,
    instance_id: before.instanceId,
    sequence,
    interval_ms: INTERVAL_MS,
    tool_calls,
    client: { name: who.client, session_id: who.session },
    ...(agent === null
      ? { breakers: [...breakers] }
      : {
          parent_agent_id: who.agentId,
          // Its use counts for the task of its parent.
          labels: { agent_type: type ?? 'agent', ...(who.taskId === null ? {} : { parent_task: who.taskId }) },
        }),
  };
  return { after, heartbeat };
};

/** What earlier heartbeats have carried: the agents, and the session that they were about. */
export type SentBefore = { readonly agents: ReportedAgents; readonly session: SessionState };

/** The agents after these reports, and a heartbeat for each. The end of a sub-agent is reported once. */
export const heartbeatsOf = (
  { agents: before, session }: SentBefore,
  reports: readonly AgentReport[],
  breakers: readonly BreakerReport[],
  who: Who,
  now: number,
): { readonly agents: ReportedAgents; readonly heartbeats: readonly SentHeartbeat[] } =>
  reports.reduce<{ readonly agents: ReportedAgents; readonly heartbeats: readonly SentHeartbeat[] }>(
    (so, report) => {
      const name = report.agent ?? MAIN_AGENT;
      const hasEnded = report.agent !== null && report.fields.exit != null;
      const known = so.agents[name];
      if (known === undefined && hasEnded) return so;
      const agent = known ?? newAgent(idsFor(who, report, now));
      const { after, heartbeat } = reported(agent, report, session, breakers, who, now);
      const { [name]: _, ...others } = so.agents;
      return {
        agents: hasEnded ? others : { ...others, [name]: after },
        heartbeats: [...so.heartbeats, heartbeat],
      };
    },
    { agents: before, heartbeats: [] },
  );
