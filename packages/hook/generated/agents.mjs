// Generated from packages/hook/src/agents.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import { asId } from './adapters/session/names.mjs';
import { agentSaid, marked, noProgress,               } from './sdk/progress.mjs';
import {                subagentIds } from './subagent.mjs';
/** Who a session is to Vigil where no supervisor runs. */
export const whoIs = (client        , session        , env             )      => ({
  agentId: asId(env.VIGIL_AGENT || env.VIGIL_AGENT_ID || `${client}-${session}`),
  instanceId: asId(session),
  taskId: env.VIGIL_TASK_ID ? asId(env.VIGIL_TASK_ID) : null,
  client,
  session,
});
/** What is remembered of one agent of a session from one heartbeat to the next. */
const newAgent = (ids          )                => ({
  ...ids,
  sequence: 0,
  phase: 'session',
  lastCallAt: null,
  errors: 0,
  progress: noProgress,
});
/** The agents of a session; the session's own by the name ''. */
export const mainAgent = '';
/** As the hook sends one: what is left out has the default of the schema. */
/** No heartbeat follows between two events: a model may think, and a command may run, for so long. Milliseconds. */
const intervalMs = 600_000;
const mostCalls = 100;
const idsFor = (who     , { agent, type }             , now        )           =>
  agent === null ? who : subagentIds(who, agent, type, now);
/** The heartbeat of one report, and its agent after it. `now`: epoch milliseconds. */
const reported = (
  before               ,
  { agent, type, fields }             ,
  breakers                          ,
  who     ,
  now        ,
)                                                                       => {
  const tool_calls = (fields.tool_calls ?? []).slice(-mostCalls);
  const sequence = before.sequence + 1;
  const after = {
    ...before,
    sequence,
    progress: marked(agentSaid(before.progress, fields, sequence), ['heartbeat'], sequence),
    phase: fields.phase ?? before.phase,
    lastCallAt: tool_calls.length > 0 ? now : before.lastCallAt,
    errors: before.errors + tool_calls.filter(({ outcome }) => outcome === 'error').length,
  };
  const heartbeat                = {
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
    interval_ms: intervalMs,
    tool_calls,
    client: { name: who.client, session_id: who.session },
    ...(agent === null
      ? { breakers: [...breakers] }
      : {
          parent_agent_id: who.agentId,
          // What it uses counts for the task of its parent.
          labels: { agent_type: type ?? 'agent', ...(who.taskId === null ? {} : { parent_task: who.taskId }) },
        }),
  };
  return { after, heartbeat };
};
/** The agents after these reports, and a heartbeat for each. The end of a sub-agent is reported once. */
export const heartbeatsOf = (
  before                ,
  reports                        ,
  breakers                          ,
  who     ,
  now        ,
)                                                                                     =>
  reports.reduce                                                                                    (
    (so, report) => {
      const name = report.agent ?? mainAgent;
      const hasEnded = report.agent !== null && report.fields.exit != null;
      const known = so.agents[name];
      if (known === undefined && hasEnded) return so;
      const { after, heartbeat } = reported(known ?? newAgent(idsFor(who, report, now)), report, breakers, who, now);
      const { [name]: _, ...others } = so.agents;
      return {
        agents: hasEnded ? others : { ...others, [name]: after },
        heartbeats: [...so.heartbeats, heartbeat],
      };
    },
    { agents: before, heartbeats: [] },
  );
