import { type Draft, type PayloadOf, type PolicyRef, parsePayload, type RecoverySettings, Topic } from '@vigil/events';
import { VOCABULARY } from '@vigil/health';
import { ASSIGNMENT, CorrectThePolicy, canonicalJson, compile, readAssignment, republished } from '@vigil/policy';
import type { AgentRow, ReadModel } from '@vigil/read-model';
import { includesRole, type Role } from '@vigil/read-model/people';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type Caller, needs, signed } from './people.ts';
import { found, Problem } from './problem.ts';

export const WRITTEN = [
  Topic.controlAgent,
  Topic.controlAlerts,
  Topic.controlFleet,
  Topic.decideCase,
  Topic.handleRequest,
  Topic.reviewTask,
  Topic.applyPolicy,
] as const;
export type CommandDraft = Draft<(typeof WRITTEN)[number]>;

const who = { by: z.string().min(1).max(200), why: z.string().min(1).max(2000) };
const id = z
  .string()
  .min(1)
  .max(128)
  .regex(/^\P{Cc}*$/u, 'no name has control characters');
const text = z.string().trim().min(1).max(2000);
const severity = z.enum(['low', 'medium', 'high', 'critical']);
const forMs = z
  .int()
  .positive()
  .max(30 * 86_400_000);
const named = <Name extends string, Shape extends z.ZodRawShape>(name: Name, shape: Shape) =>
  z.strictObject({ kind: z.literal(name), ...who, ...shape });

/** What people may ask, as JSON: `{ kind, by, why, … }`. */
export const commandShape = z.discriminatedUnion('kind', [
  named('decide_case', {
    caseId: id,
    decision: z.enum(['allow_more_time', 'force_handoff', 'terminate_and_recover', 'pardon']),
    forMs: forMs.optional(),
  }),
  named('request_step', {
    agentId: id,
    step: z.enum(['nudge', 'handoff', 'terminate', 'terminate_and_recover']),
    message: z.string().max(4000).optional(),
  }),
  named('hold', { agentId: id, forMs: forMs.optional() }),
  named('release', { agentId: id }),
  named('reset_breaker', { agentId: id, name: z.enum(['tool_execution', 'checkpoint_write', 'external_api']) }),
  named('confirm_death', { agentId: id, instanceId: id }),
  named('host_gone', { host: id }),
  named('halt', {}),
  named('resume', {}),
  named('lift_brake', {}),
  named('dry_run', { on: z.boolean() }),
  named('answer_request', { requestId: id, option: id }),
  named('review_task', { taskId: id, decision: z.enum(['retry', 'abandon', 'reset']) }),
  named('apply_policy', { name: id, document: z.record(z.string(), z.unknown()).nullable() }),
  named('file_ticket', {
    agentId: id,
    ticketId: id,
    severity,
    cause: text,
    suggestedAction: text.optional(),
    evidence: z.string().min(1).max(500).optional(),
    stepsSinceAccept: z.int().nonnegative().optional(),
    stallMs: z.int().nonnegative().optional(),
  }),
  named('notify_operator', { ticketId: id, urgency: severity }),
  named('acknowledge', { alertId: id }),
  named('silence', {
    matchers: z
      .array(z.strictObject({ field: id, value: id }))
      .min(1)
      .max(20),
    forMs,
  }),
  named('end_silence', { silenceId: id }),
  named('resolve_alert', { alertId: id }),
  named('test_channel', { channel: id }),
]);

export type Command = z.output<typeof commandShape>;
/** The role that each command needs. A command that is missing here does not compile. */
export const ROLE_OF_COMMAND: Readonly<Record<Command['kind'], Role>> = {
  decide_case: 'responder',
  review_task: 'responder',
  answer_request: 'responder',
  file_ticket: 'responder',
  notify_operator: 'responder',
  acknowledge: 'responder',
  silence: 'operator',
  end_silence: 'operator',
  resolve_alert: 'responder',
  test_channel: 'operator',
  request_step: 'operator',
  hold: 'operator',
  release: 'operator',
  reset_breaker: 'operator',
  confirm_death: 'operator',
  host_gone: 'operator',
  halt: 'operator',
  resume: 'operator',
  lift_brake: 'operator',
  dry_run: 'operator',
  apply_policy: 'operator',
};

/** The commands that a role permits. */
export const commandsOf = (role: Role): readonly Command['kind'][] =>
  commandKinds.filter((kind) => includesRole(role, ROLE_OF_COMMAND[kind]));
const commandKinds = Object.keys(ROLE_OF_COMMAND) as Command['kind'][];

type Of<Name extends Command['kind']> = Extract<Command, { kind: Name }>;

/** Reads a command. Throws Problem 400, naming the field. */
export const parseCommand = (body: unknown): Command => {
  const read = commandShape.safeParse(body);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const field = issue?.path.join('.') || 'kind';
  throw new Problem(400, 'bad_command', `${field}: ${issue?.message}`, field);
};

/**
 * The events that a command is written as: one, except for a host, which has one for each agent. Throws Problem if
 * its subject does not exist, or is over.
 */
export const draftsOf = async (command: Command, model: ReadModel, now: number): Promise<readonly CommandDraft[]> =>
  command.kind === 'host_gone' ? hostGone(command, model) : [await draftOf(command, model, now)];

type OfOne = Exclude<Command, { kind: 'host_gone' }>;

const draftOf = async (command: OfOne, model: ReadModel, now: number): Promise<CommandDraft> => {
  const { by, why } = command;
  switch (command.kind) {
    case 'decide_case':
      return decideCase(command, model, null);
    case 'request_step':
      return requestStep(command, model);
    case 'hold': {
      const until = command.forMs === undefined ? null : now + command.forMs;
      return controlAgent('HOLD_AGENT', command.agentId, { until, by, why });
    }
    case 'release':
      return controlAgent('RELEASE_AGENT', command.agentId, { by, why });
    case 'reset_breaker':
      return resetBreaker(command, model);
    case 'confirm_death':
      return confirmDeath(command.agentId, command.instanceId, { by, why });
    case 'halt':
      return controlFleet('HALT_FLEET', { by, why });
    case 'resume':
      return controlFleet('RESUME_FLEET', { by, why });
    case 'lift_brake':
      return controlFleet('LIFT_BRAKE', { by, why });
    case 'dry_run':
      return controlFleet(command.on ? 'DRY_RUN_ON' : 'DRY_RUN_OFF', { by, why });
    case 'answer_request':
      return answerRequest(command, model);
    case 'review_task':
      return reviewTask(command, model);
    case 'apply_policy':
      return applyPolicy(command);
    case 'file_ticket':
      return fileTicket(command, model, now);
    case 'notify_operator':
      return notifyOperator(command, model);
    case 'acknowledge':
      return aboutAlert('ACKNOWLEDGE_ALERT', command, model);
    case 'resolve_alert':
      return aboutAlert('RESOLVE_ALERT', command, model);
    case 'test_channel': {
      const { channel } = command;
      return controlAlerts('TEST_CHANNEL', `channel_test:${channel}`, { channel, by, why });
    }
    case 'silence': {
      const until = now + command.forMs;
      return controlAlerts('SILENCE_ALERTS', 'silences', { matchers: command.matchers, until, by, why, silenceId: '' });
    }
    case 'end_silence':
      return endSilence(command, model, now);
  }
};

/** Ends every instance that was last seen on the host, as a person reports. */
const hostGone = async ({ host, by, why }: Of<'host_gone'>, model: ReadModel): Promise<readonly CommandDraft[]> => {
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
  return agents.map(({ agentId, instanceId }) => confirmDeath(agentId, instanceId, { by, why }));
};

const confirmDeath = (agentId: string, instanceId: string | null, asked: { by: string; why: string }): CommandDraft =>
  controlAgent('CONFIRM_DEATH', agentId, { instanceId, source: 'person', by: asked.by, why: asked.why });

type AgentControl = 'HOLD_AGENT' | 'RELEASE_AGENT' | 'CONFIRM_DEATH' | 'RESET_BREAKER' | 'FILE_TICKET';
const controlAgent = (type: AgentControl, agentId: string, fields: object): CommandDraft =>
  ({
    topic: Topic.controlAgent,
    type,
    key: agentId,
    payload: parsePayload(Topic.controlAgent, type, { agentId, ...fields }),
  }) as CommandDraft;

type FleetControl = 'HALT_FLEET' | 'RESUME_FLEET' | 'LIFT_BRAKE' | 'DRY_RUN_ON' | 'DRY_RUN_OFF';
const controlFleet = (type: FleetControl, payload: { by: string; why: string }): CommandDraft => ({
  topic: Topic.controlFleet,
  type,
  key: 'fleet',
  payload,
});

const resetBreaker = async (
  { agentId, name, by, why }: Of<'reset_breaker'>,
  model: ReadModel,
): Promise<CommandDraft> => {
  found(await model.agent(agentId), 'agent', agentId, '`vigil health`');
  return controlAgent('RESET_BREAKER', agentId, { name, by, why });
};

/** `question`: the only one that it answers; null: any situation of the case. */
export const decideCase = async (
  { caseId, decision, forMs, by, why }: Of<'decide_case'>,
  model: ReadModel,
  question: PayloadOf<typeof Topic.decideCase, 'DECIDE_CASE'>['question'],
): Promise<CommandDraft> => {
  const { agentId, closedAt, ending } = found(await model.case(caseId), 'case', caseId, '`vigil case list`');
  if (closedAt !== null)
    throw new Problem(409, 'case_closed', `Case ${caseId} is closed (${ending}): nothing is left to decide.`);
  const payload = { caseId, agentId, decision, forMs: forMs ?? null, by, why, question };
  return { topic: Topic.decideCase, type: 'DECIDE_CASE', key: agentId, payload };
};

const requestStep = async (
  { agentId, step, message, by, why }: Of<'request_step'>,
  model: ReadModel,
): Promise<CommandDraft> => {
  const agent = found(await model.agent(agentId), 'agent', agentId, '`vigil health`');
  const { instanceId, taskId, runtimeId, labels } = agent;
  if (instanceId === null)
    throw new Problem(
      409,
      'no_instance',
      `${agentId} reports no instance id: an order could reach another instance of it.`,
    );
  const about = { agentId, instanceId, taskId, runtimeId, labels };
  const { policy, recovery } = step === 'terminate_and_recover' ? await recoveryOf(agent, model) : nothingKnown;
  const payload = { ...about, step, message: message ?? null, by, why, recovery, askedAt: null };
  return { topic: Topic.decideCase, type: 'REQUEST_STEP', key: agentId, policy, payload };
};

/** Whether it is in time, and the first, is decided in the order of the log. What is known to be over is refused at once. */
const answerRequest = async (
  { requestId, option, by, why }: Of<'answer_request'>,
  model: ReadModel,
): Promise<CommandDraft> => {
  const request = found(await model.request(requestId), 'request', requestId, '`vigil inbox`');
  const { agentId, instanceId, options, settled, settledBy, settledOption, settledWhy } = request;
  if (settled === 'answered')
    throw new Problem(409, 'already_answered', `${settledBy} has answered ${settledOption}: the first answer decides.`);
  if (settled !== null)
    throw new Problem(
      409,
      'request_over',
      `Request ${requestId} is ${settled}${settledWhy === null ? '' : `: ${settledWhy}`}.`,
    );
  const names = options.map(({ name }) => name);
  if (!names.includes(option))
    throw new Problem(
      400,
      'no_such_option',
      `option: ${JSON.stringify(option)} is not one of ${names.join(', ')}.`,
      'option',
    );
  const payload = { requestId, agentId, instanceId, option, by, why };
  return { topic: Topic.handleRequest, type: 'ANSWER_REQUEST', key: agentId, payload };
};

export const reviewTask = async (
  { taskId, decision, by, why }: Of<'review_task'>,
  model: ReadModel,
): Promise<CommandDraft> => {
  const task = found(await model.task(taskId), 'task', taskId, '`vigil task list`');
  if (task.recovery !== 'REVIEW_REQUIRED')
    throw new Problem(
      409,
      'not_in_review',
      `${taskId} is not in review: there is nothing to decide. \`vigil task list --review\` shows what is.`,
    );
  return { topic: Topic.reviewTask, type: 'REVIEW_TASK', key: taskId, payload: { taskId, decision, by, why } };
};

const MINUTE_MS = 60_000;

/** A ticket of an external judge, with what the read model has of its agent. `why` is the reasoning of the judge. */
const fileTicket = async (command: Of<'file_ticket'>, model: ReadModel, now: number): Promise<CommandDraft> => {
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

/** Notifies people of a ticket, also of one that triage has dismissed. `why` is the analysis that they read. */
const notifyOperator = async (
  { ticketId, urgency, by, why }: Of<'notify_operator'>,
  model: ReadModel,
): Promise<CommandDraft> => {
  const [row] = await model.tickets({ ticketId, limit: 1 });
  const { alertKey } = found(row, 'ticket', ticketId, '`vigil explain AGENT`');
  if (alertKey === null)
    throw new Problem(409, 'not_triaged', `Triage has not decided ticket ${ticketId} yet: try again in a moment.`);
  const payload = { ticket_id: ticketId, analysis: why, urgency, by };
  return { topic: Topic.controlAlerts, type: 'NOTIFY_OPERATOR', key: alertKey, payload };
};

type AlertControl = 'ACKNOWLEDGE_ALERT' | 'RESOLVE_ALERT' | 'SILENCE_ALERTS' | 'TEST_CHANNEL';
const controlAlerts = (type: AlertControl, key: string, payload: object): CommandDraft =>
  ({
    topic: Topic.controlAlerts,
    type,
    key,
    payload: parsePayload(Topic.controlAlerts, type, payload),
  }) as CommandDraft;

/** Throws Problem if there is no such alert, or it is over. */
const aboutAlert = async (
  type: 'ACKNOWLEDGE_ALERT' | 'RESOLVE_ALERT',
  { alertId, by, why }: Of<'acknowledge' | 'resolve_alert'>,
  model: ReadModel,
): Promise<CommandDraft> => {
  const alert = (await model.alerts({})).find((one) => one.alertId === alertId);
  const { resolvedAt } = found(alert, 'alert', alertId, '`vigil alert list`');
  const alertKey = found(alert?.alertKey, 'alert', alertId, '`vigil alert list`');
  if (resolvedAt !== null) throw new Problem(409, 'alert_resolved', `Alert ${alertId} is resolved already.`);
  return controlAlerts(type, alertKey, { alertKey, by, why });
};

/** The silence is set again, until now. */
const endSilence = async (
  { silenceId, by, why }: Of<'end_silence'>,
  model: ReadModel,
  now: number,
): Promise<CommandDraft> => {
  const silence = (await model.silences(now)).find((one) => one.silenceId === silenceId);
  const { matchers } = found(silence, 'silence', silenceId, '`vigil alert list`');
  return controlAlerts('SILENCE_ALERTS', 'silences', { matchers, until: now, by, why, silenceId });
};

/** A document to be applied, or taken back. Throws Problem 422 with every mistake that can be seen in it alone; the evaluator sees the rest. */
const applyPolicy = ({ name, document, by, why }: Of<'apply_policy'>): Draft<typeof Topic.applyPolicy> => {
  if (document !== null) check(name, document);
  const payload = { name, document: document && canonicalJson(document), by, why };
  return { topic: Topic.applyPolicy, type: 'APPLY_POLICY', key: name, payload };
};

const check = (name: string, document: Of<'apply_policy'>['document']): void => {
  try {
    if (name === ASSIGNMENT) readAssignment(document, name);
    else if (compile(document, name, VOCABULARY).name !== name)
      throw new CorrectThePolicy(name, [`policy: is not ${name}: apply it under its own name`]);
  } catch (error) {
    if (error instanceof CorrectThePolicy) throw new Problem(422, 'bad_policy', error.message, 'document');
    throw error;
  }
};

type Recovers = { readonly policy: PolicyRef | null; readonly recovery: RecoverySettings | null };

const nothingKnown: Recovers = { policy: null, recovery: null };

/** How the policy that an agent is judged by recovers its task. Nothing, where the agent has none yet or its document is not known. */
const recoveryOf = async (
  { policyName, policyHash }: Pick<AgentRow, 'policyName' | 'policyHash'>,
  model: Pick<ReadModel, 'policyDocument'>,
): Promise<Recovers> => {
  if (!policyName || !policyHash) return nothingKnown;
  const document = await model.policyDocument(policyHash);
  if (document === null) return nothingKnown;
  try {
    const { recovery } = republished(document, VOCABULARY);
    return { policy: { name: policyName, hash: policyHash }, recovery };
  } catch (error) {
    // Published by another version: a person's request is not refused for it.
    if (error instanceof CorrectThePolicy) return nothingKnown;
    throw error;
  }
};

/** The command with the name of the caller's token. Throws Problem 403 if the caller's role does not permit it. */
const signedBy = (caller: Caller, command: Command): Command => {
  const role = ROLE_OF_COMMAND[command.kind];
  if (!includesRole(caller.role, role)) throw new Problem(403, 'not_permitted', needs(caller, role, command.kind));
  return { ...command, by: signed(caller, command.by) };
};

/** Writes one event, acknowledged by all replicas; its id. */
export type Write = (draft: Draft) => Promise<string>;

/**
 * Commands of people, as events on a command topic. 202: written, with further keys in `alsoFor`. The events that it
 * causes report the outcome.
 */
export const commandRoutes = (app: FastifyInstance, model: ReadModel, write: Write, now: () => number): void => {
  app.post('/v1/commands', async (request, reply) => {
    const command = signedBy(request.getDecorator<Caller>('caller'), parseCommand(request.body));
    const [first, ...more] = await draftsOf(command, model, now());
    if (first === undefined) throw new Error('a command is written as at least one event');
    const eventId = await write(first);
    for (const draft of more) await write(draft);
    const { topic, type, key } = first;
    return reply.code(202).send({ eventId, topic, type, key, alsoFor: more.map((draft) => draft.key) });
  });
};
