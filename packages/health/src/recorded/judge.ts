import { type HealthState, type Heartbeat, parseHeartbeat, Topic } from '@vigil/events';
import type { CompiledPolicy } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { Folding, type Recorded } from '../evaluator/evaluate.ts';
import type { Announcement, Observation } from '../evaluator/health.ts';
import { type Policies, policiesOf } from '../judgement/policies.ts';
import { type Rules, rulesOf } from '../judgement/rules.ts';
import { SIGNALS } from '../signals/all.ts';
import { hasTimes, withoutTimes } from './inputs.ts';
import { type Report, reportsOf } from './reports.ts';
import type { Hashing, RecordedRun } from './run.ts';

/**
 * A change of a run's state. `call`: the number of calls so far; `at`: seconds since the first; `signals`: the names of
 * the signals that made it.
 */
export type Change = {
  readonly to: HealthState;
  readonly call: number;
  readonly at: number;
  readonly signals: readonly string[];
};
/** `worst`: the worst state that the run was in. */
export type JudgedRun = { readonly worst: HealthState; readonly changes: readonly Change[] };

export type RunJudge = (run: RecordedRun) => JudgedRun;

/** The time to which a run's first report is shifted, so that recorded times may begin at zero. */
const BEGIN = Date.UTC(2026, 0, 1);
const WORST_FIRST: readonly HealthState[] = ['FAILING', 'STUCK', 'DEGRADED'];

/**
 * Judges recorded runs by the same fold as agents. `gapMs`: the time between calls if no times are recorded. It counts
 * for windows, such as the same error within 10 minutes. Silence is never judged by it.
 */
export const runJudge = (policy: CompiledPolicy, hashing: Hashing, gapMs: number): RunJudge => {
  const [judgeTimed, judgeUntimed] = [observationJudge(policy), observationJudge(withoutTimes(policy))];
  return (run) => {
    const isTimed = hasTimes(run);
    const judge = isTimed ? judgeTimed : judgeUntimed;
    const reports = reportsOf(run, hashing, gapMs);
    const shift = BEGIN - (reports[0]?.at ?? 0);
    const given = reports.map(
      (report): Given => ({
        at: report.at + shift,
        folded: report.folded,
        observation: heartbeatOf(run, report, shift),
        isClaim: false,
      }),
    );
    const until = run.ended_at === null || !isTimed ? null : run.ended_at + shift;
    return judge([...given, ...claimOf(run, reports, shift)], until).get(AGENT) ?? { worst: 'HEALTHY', changes: [] };
  };
};

/**
 * An observation with its time. `folded`: the number of its agent's calls up to it. `isClaim`: it reports only that the
 * agent has finished, so that nothing but a false completion follows from it.
 */
type Given = {
  readonly at: number;
  readonly folded: number;
  readonly observation: Observation;
  readonly isClaim: boolean;
};

/** A run whose last call has ended and that nothing cut off claims to have finished. */
const claimOf = (run: RecordedRun, reports: readonly Report[], shift: number): readonly Given[] => {
  const last = reports.at(-1);
  if (run.cut_off || last === undefined || last.call.outcome === 'running') return [];
  const at = last.at + shift;
  const claim = observed(`${run.run_id} finished`, {
    instance_id: run.run_id,
    task_id: run.task ?? run.run_id,
    timestamp: at,
    activity: 'finished',
  });
  return [{ at, folded: last.folded, observation: claim, isClaim: true }];
};

/** Judges observations in the order of their times. Returns the judgement of each agent by its key. */
const observationJudge = (
  policy: CompiledPolicy,
): ((given: readonly Given[], until: number | null) => ReadonlyMap<string, JudgedRun>) => {
  const judged = forRecords(policy);
  const [policies, rules] = [policiesOf([judged], judged.name), rulesOf(judged)];
  return (given, until) => {
    const changes = changesOf(policies, rules, given, until);
    return new Map([...changes].map(([key, some]) => [key, { worst: worstOf(some), changes: some }]));
  };
};

const worstOf = (changes: readonly Change[]): HealthState =>
  WORST_FIRST.find((state) => changes.some(({ to }) => to === state)) ?? 'HEALTHY';

/**
 * The policy without the parts that a record cannot show. Heartbeats are not recorded, so their absence is unknown. No
 * plan applies to a finished run. Exclusions are by name, and a run has no name.
 */
const forRecords = (policy: CompiledPolicy): CompiledPolicy => {
  const uses = policy.uses.map((use) =>
    use.signal === 'no_heartbeat' ? { ...use, limits: { ...(use.limits as object), after: NEVER } } : use,
  );
  return { ...policy, uses, heartbeat: { ...policy.heartbeat, trustedForMs: NEVER }, plans: [], exclude: [] };
};

/** After the last observation nothing is judged, unless the end of the run is known. */
const changesOf = (
  policies: Policies,
  rules: Rules,
  given: readonly Given[],
  until: number | null,
): ReadonlyMap<string, Change[]> => {
  const folding = new Folding(policies);
  const origin = given[0]?.at ?? 0;
  const changes = new Map<string, Change[]>(given.map(({ observation }) => [observation.key, []]));
  const folded = new Map<string, number>();
  const stateOf = (key: string) => changes.get(key)?.at(-1)?.to ?? 'HEALTHY';
  const fold = (now: number, input: Observation | null, isClaim: boolean) => {
    const record: Recorded = { clock: { now, watched: now, ingresses: {} }, input };
    const at = (now - origin) / 1000;
    for (const event of folding.fold(record).emitted) {
      if (event.type !== 'HEALTH_STATE_CHANGED' || event.payload.to === stateOf(event.payload.agentId)) continue;
      const { agentId, endReason } = event.payload;
      // A recorded run cannot be lost. The fold counts an agent as lost after a long gap, but the run continues.
      if (endReason === 'lost') continue;
      const change = changed(rules, event, folded.get(agentId) ?? 0, at);
      if (!isClaim || contradicts(rules, change)) changes.get(agentId)?.push(change);
    }
    // An agent is forgotten after a long silence, and a new agent is not announced as healthy.
    if (input !== null && !isClaim && stateOf(input.key) !== 'HEALTHY' && isHealthy(folding, input.key))
      changes.get(input.key)?.push({ to: 'HEALTHY', call: folded.get(input.key) ?? 0, at, signals: [] });
  };
  for (const { at, folded: calls, observation, isClaim } of given) {
    while (folding.dueAt < at) fold(folding.dueAt, null, false);
    folded.set(observation.key, Math.max(folded.get(observation.key) ?? 0, calls));
    fold(at, observation, isClaim);
  }
  while (until !== null && folding.dueAt <= until) fold(folding.dueAt, null, false);
  return changes;
};

const contradicts = ({ rules }: Rules, { signals }: Change): boolean =>
  rules.some(({ name, signal }) => signal === SIGNALS.false_completion && signals.includes(name));

const isHealthy = (folding: Folding, key: string): boolean => {
  const state = folding.stateOf(key);
  return state.kind === 'known' && state.announced.state === 'HEALTHY';
};

type StateChanged = Extract<Announcement, { type: 'HEALTH_STATE_CHANGED' }>;

const changed = ({ rules, states }: Rules, { payload }: StateChanged, call: number, at: number): Change => {
  const fires = new Set(payload.evidence.map(({ signal }) => signal));
  const names = (states.find(({ state }) => state === payload.to)?.anyOf ?? []).flatMap((together) => {
    const those = together.map((i) => rules[i]?.name ?? '');
    return those.every((name) => fires.has(name)) ? those : [];
  });
  return { to: payload.to, call, at, signals: [...new Set(names)] };
};

/** The agent id of recorded heartbeats. It is not the run's id, because some names are never judged. */
const AGENT = 'recorded';

/** The heartbeat that the agent would have sent with this report. `shift`: added to its times. */
const heartbeatOf = (run: RecordedRun, { at, call, tokens }: Report, shift: number): Observation => {
  const moved = (ms: number | null) => (ms === null ? null : ms + shift);
  const { started_at, ended_at, deadline_at } = call;
  const times = { started_at: moved(started_at), ended_at: moved(ended_at), deadline_at: moved(deadline_at) };
  return observed(run.run_id, {
    instance_id: run.run_id,
    task_id: run.task ?? run.run_id,
    timestamp: at + shift,
    last_tool_call: at + shift,
    token_count: tokens,
    tool_calls: [{ ...call, ...times }],
  });
};

/** A heartbeat with these fields; all others are unknown. `eventId`: its unique id. */
const observed = (eventId: string, fields: Partial<Heartbeat> & { readonly timestamp: number }): Observation => {
  const payload = { ...SILENT, ...fields };
  return {
    topic: Topic.agentObservation,
    type: 'AGENT_HEARTBEAT',
    key: payload.agent_id,
    payload,
    eventId,
    stateKey: null,
    version: null,
    epoch: null,
    occurredAt: payload.timestamp,
    correlationId: eventId,
    causationId: null,
    policy: null,
  };
};

/** A heartbeat without optional fields; agent and time are set for each. */
const SILENT = parseHeartbeat({
  agent_id: AGENT,
  task_id: null,
  timestamp: 0,
  phase: '',
  last_tool_call: null,
  token_count: null,
  error_count: 0,
  progress_indicator: '',
});

/**
 * A report that an agent of a session would have sent, and its time, epoch milliseconds. `parent`: null for the
 * session's own agent.
 */
export type SessionReport = {
  readonly at: number;
  readonly agent: string;
  readonly parent: string | null;
  readonly fields: Partial<Heartbeat>;
};

/** The judgement of one agent of a session. `calls`: the number of its calls with a known end. */
export type JudgedAgent = { readonly agent: string; readonly calls: number; readonly judged: JudgedRun };

/** `isTimed` false: the times are counted, not recorded. `finished`: the agents whose last turn ended by itself. */
export type SessionReports = {
  readonly id: string;
  readonly reports: readonly SessionReport[];
  readonly isTimed: boolean;
  readonly finished: readonly string[];
};

/** Judges the agents of recorded sessions, from reports in the order of their times. */
export const sessionJudge = (policy: CompiledPolicy): ((session: SessionReports) => readonly JudgedAgent[]) => {
  const [judgeTimed, judgeUntimed] = [observationJudge(policy), observationJudge(withoutTimes(policy))];
  return ({ id, reports, isTimed, finished }) => {
    const judge = isTimed ? judgeTimed : judgeUntimed;
    const ended = new Map<string, Set<string>>();
    const given = reports.map((report, i): Given => {
      const calls = ended.get(report.agent) ?? new Set();
      ended.set(report.agent, calls);
      for (const { call_id, outcome } of report.fields.tool_calls ?? []) if (KNOWN.has(outcome)) calls.add(call_id);
      return { at: report.at, folded: calls.size, observation: sessionHeartbeat(id, report, i), isClaim: false };
    });
    const at = reports.at(-1)?.at ?? 0;
    const claims = finished.flatMap((agent, i): Given[] => {
      const last = reports.findLast((report) => report.agent === agent);
      if (last === undefined) return [];
      const fields = { ...last.fields, tool_calls: [], activity: 'finished' } as const;
      const observation = sessionHeartbeat(id, { ...last, at, fields }, reports.length + i);
      return [{ at, folded: ended.get(agent)?.size ?? 0, observation, isClaim: true }];
    });
    const judged = judge([...given, ...claims], null);
    return [...judged].map(([agent, one]) => ({ agent, calls: ended.get(agent)?.size ?? 0, judged: one }));
  };
};

const KNOWN: ReadonlySet<string> = new Set(['ok', 'error', 'refused']);

const sessionHeartbeat = (id: string, { at, agent, parent, fields }: SessionReport, sequence: number) =>
  observed(`${id}-${sequence}`, {
    ...fields,
    agent_id: agent,
    parent_agent_id: parent,
    instance_id: agent,
    task_id: parent === null ? id : null,
    timestamp: at,
    sequence,
  });
