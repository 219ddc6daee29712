import { byText, whyText } from '@vigil/chassis';
import { type Draft, Topic } from '@vigil/events';
import { includesRole, type Role } from '@vigil/read-model/people';
import { z } from 'zod';
import { badInput } from '../problem.ts';

export const WRITTEN = [
  Topic.controlAgent,
  Topic.controlAlerts,
  Topic.controlFleet,
  Topic.decideCase,
  Topic.handleRequest,
  Topic.reviewTask,
  Topic.applyPolicy,
  Topic.leaseTerminal,
] as const;
export type CommandDraft = Draft<(typeof WRITTEN)[number]>;

const who = {
  by: byText.min(1),
  why: whyText.min(1),
  /** Of an earlier try of the same command, or chosen by the caller. Without it the command gets a new one. */
  eventId: z.uuid().optional(),
};
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
/** When the question was put that the caller has seen, as its item of the inbox has it in `since`: only that question is answered. */
const askedAt = z.int().nonnegative();
/** The answer to each question of a request: labels of it, the person's own words, or both where it takes several. */
const answers = z
  .array(
    z.strictObject({
      question: id,
      labels: z.array(z.string().min(1).max(200)).max(10).default([]),
      text: text.nullable().default(null),
    }),
  )
  .min(1)
  .max(4);
/** Names that people may give a field, which would be labels that no alert has. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ['agent', 'agentId'],
  ['task', 'taskId'],
  ['case', 'caseId'],
]);
const matchedField = id.refine((field) => !FIELDS.has(field), {
  error: ({ input }) => `${String(input)} would be a label: the field of an alert is ${FIELDS.get(String(input))}`,
});
const named = <Name extends string, Shape extends z.ZodRawShape>(name: Name, shape: Shape) =>
  z.strictObject({ kind: z.literal(name), ...who, ...shape });

/** What people may ask, as JSON: `{ kind, by, why, … }`. */
export const commandShape = z.discriminatedUnion('kind', [
  named('decide_case', {
    caseId: id,
    decision: z.enum(['allow_more_time', 'force_handoff', 'terminate_and_recover', 'pardon']),
    forMs: forMs.optional(),
    askedAt: askedAt.optional(),
  }),
  named('request_step', {
    agentId: id,
    step: z.enum(['nudge', 'handoff', 'terminate', 'restart', 'terminate_and_recover']),
    message: z.string().max(4000).regex(/\S/, 'is empty: give a text').optional(),
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
  named('answer_request', { requestId: id, option: id.optional(), answers: answers.optional() }),
  named('review_task', { taskId: id, decision: z.enum(['retry', 'abandon', 'reset']), askedAt: askedAt.optional() }),
  named('block_task', {
    taskId: id,
    attempts: z.int().nonnegative(),
    checkpoint: z.string().min(1).max(4096).optional(),
  }),
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
      .array(z.strictObject({ field: matchedField, value: id }))
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
  block_task: 'responder',
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

export type Of<Name extends Command['kind']> = Extract<Command, { kind: Name }>;

/** Reads a command. Throws Problem 400, naming the field. */
export const parseCommand = (body: unknown): Command => {
  const read = commandShape.safeParse(body);
  if (read.success) return read.data;
  throw badInput('bad_command', read.error, body, 'kind');
};
