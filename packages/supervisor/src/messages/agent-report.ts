import type { Decision } from '@vigil/adapters/adapter';
import { type BreakerReport, type ClientReport, type Heartbeat, isCheckpointAddress } from '@vigil/events';
import { insteadOf, reading, spelled } from '@vigil/policy';
import { z } from 'zod';

const id = z.string().max(200);
const orderIds = z.array(z.string().max(128)).max(20);
const requestId = z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/);

/** The request of a hook to people. The gateway checks the rest. */
const askedRequest = z.strictObject({
  id: requestId,
  client: z.string().max(64),
  kind: z.enum(['permission', 'question']),
  tool: z.string().max(512).nullable(),
  text: z.string().max(1000),
  choices: z.array(z.strictObject({ name: z.string().max(128), label: z.string().max(200) })).max(10),
  // A hook of an older version sends none.
  questions: z.array(z.record(z.string(), z.unknown())).max(10).default([]),
});
export type AskedRequest = z.output<typeof askedRequest>;

/**
 * What a hook sends. `spooled`: it has spooled its record and requests its answer. `takes`: it takes the texts that it is offered; a hook that
 * had to leave before takes none. `printed`: it has printed them. `asks`: it waits for what people decide.
 */
export const hookMessage = z.union([
  z.strictObject({ spooled: id }),
  z.strictObject({ takes: z.literal(true) }),
  z.strictObject({ printed: orderIds }),
  z.strictObject({ asks: askedRequest }),
]);

export type HookMessage = z.output<typeof hookMessage>;

/**
 * What a hook is answered: how many texts there are for it, and why its call is not to be made, in words for the model. Where it takes the
 * texts, it is answered how many follow, each on a line of its own.
 */
export type HookAnswer =
  | { readonly hook: { readonly texts: number; readonly refusal: string | null; readonly question: string | null } }
  | { readonly text: string; readonly order_id: string }
  /** null: there is no decision */
  | { readonly decided: Decision | null };

/**
 * A field that is longer or larger than the gateway accepts is refused here: in a heartbeat it would have the whole
 * refused, and every later one with the field.
 */
const at = z.union([
  z.int().min(0).max(8.64e15),
  z.iso
    .datetime({ offset: true, error: 'write a time like 2026-11-23T12:00:00Z, or epoch milliseconds' })
    .transform((text) => Date.parse(text)),
]);
const time = at.nullable().default(null);
const name = z.string().min(1).max(512);
const text = z.string().max(4096).nullable().default(null);
const address = text.refine((uri) => uri === null || isCheckpointAddress(uri), {
  error: 'write an address without #, ? and invisible characters',
});
const orderId = z.string().min(1).max(128);
const hash = z.string().max(512).nullable().default(null);
const count = z.int().min(0);
const few = count.max(0x7fff_ffff);
const strings = z.array(z.string());
/** A list of work is for people and the next agent's brief; all of it is in the checkpoint itself. */
const workList = strings.transform((list) => list.slice(0, 100).map((one) => one.slice(0, 300))).default([]);

const toolCall = z.object({
  call_id: name,
  kind: z.enum(['tool', 'model', 'external_api', 'checkpoint_write']).default('tool'),
  tool: name,
  args_hash: hash,
  result_hash: hash,
  masked_result_hash: hash,
  outcome: z.enum(['ok', 'error', 'running', 'refused', 'abandoned']).default('ok'),
  error_class: text,
  started_at: time,
  ended_at: time,
  deadline_at: time,
  mutating: z.boolean().default(false),
  polling: z.boolean().default(false),
  checking: z.boolean().default(false),
  target: text,
});

const checkpoint = z.object({
  checkpoint_id: name,
  parent_id: hash,
  uri: address,
  sha256: hash,
  valid: z.boolean().nullable().default(null),
  invalid_reason: text,
  created_at: time,
  completed_work: workList,
  remaining_work: workList,
});

const work = z.object({
  id: name,
  status: text,
  updated_at: time,
  claim_refreshed_at: time,
  comment_count: count.nullable().default(null),
});

const breaker = z.object({
  name,
  state: z.enum(['CLOSED', 'OPEN', 'HALF_OPEN']),
  failures: few.default(0),
  next_attempt_at: time,
});

const error = z.object({
  at,
  count: few.default(1),
  error_class: text,
  hash,
  message: z.string().max(200).nullable().default(null),
});

/** The fields that an agent may report of itself. Its identity and place come from its supervisor. */
const shape = z.object({
  phase: z.string().min(1).max(200),
  last_tool_call: at.nullable(),
  token_count: count.nullable(),
  error_count: count,
  progress_indicator: z.string().max(500),
  activity: z
    .enum([
      'starting',
      'working',
      'idle',
      'awaiting_input',
      'blocked',
      'rate_limited',
      'paused',
      'handing_off',
      'stuck',
      'exiting',
      'finished',
    ])
    .nullable(),
  waiting_for: z
    .object({
      kind: z.enum(['permission', 'question', 'plan', 'prompt', 'dialog']),
      text: z.string().max(500).nullable().default(null),
      since: time,
    })
    .nullable(),
  turn: z.object({ open: z.boolean(), started_at: time, last_event_at: time }).nullable(),
  client: z.object({ name, session_id: hash }).nullable(),
  tool_calls: z.array(toolCall).max(100),
  breakers: z.array(breaker).max(20),
  reports_checkpoints: z.boolean().nullable(),
  checkpoint: checkpoint.nullable(),
  usage: z
    .array(
      z.object({
        model: hash,
        input_tokens: count,
        cache_read_tokens: count.default(0),
        cache_write_tokens: count.default(0),
        output_tokens: count,
      }),
    )
    .max(20),
  cost_usd: z.number().min(0).nullable(),
  context: z.object({ tokens_used: count, tokens_max: count }).nullable(),
  work: work.nullable(),
  steps: z
    .object({ total_steps: count, verdicts: z.array(z.enum(['ACCEPT', 'RETRY', 'CONTINUE', 'ESCALATE'])).default([]) })
    .nullable(),
  errors: z.array(error).max(100),
  rate_limit: z.object({ retry_at: time }).nullable(),
  limits: z.array(z.object({ name, used: z.number(), max: z.number() })).max(20),
  handoff: z.string().max(4000).nullable(),
  blockers: z.array(z.string().max(4000)).max(20),
  probe_reply: z.string().max(200).nullable(),
});

/** Any subset of a heartbeat's fields, as an agent, a script or a hook reports it over VIGIL_SOCKET. */
export type ReportedFields = { readonly [K in keyof z.output<typeof shape>]?: Heartbeat[K] | undefined };

/** The valid fields, and the problems: one bad field spoils no other. */
export type Understood = {
  readonly reported: ReportedFields;
  readonly problems: readonly string[];
  /** the message of a hook, which passes no push on; null: it comes from a listener */
  readonly hook: HookMessage | null;
  /** the order whose text the agent has, as it confirms; null: it confirms none */
  readonly received: string | null;
};

const shapes: Readonly<Record<string, z.ZodType>> = shape.shape;

/** Characters of a line from the socket. */
export const LONGEST_LINE: number = 1 << 17;

const nothingReported = (problem: string): Understood => ({
  reported: {},
  problems: [problem],
  hook: null,
  received: null,
});

/** One line from the socket. */
export const understand = (line: string): Understood => {
  if (line.length > LONGEST_LINE)
    return nothingReported(`longer than ${LONGEST_LINE} characters; send less in one line`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch (error) {
    return nothingReported(`not JSON: ${String(error)}; send one object a line`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    return nothingReported('not an object; send one object with heartbeat fields a line');
  const { hook, received, ...fields } = parsed as Record<string, unknown>;
  const word = hook === undefined ? null : hookMessage.safeParse(hook);
  if (word?.success === false)
    return nothingReported('hook: neither a question of a hook nor its report of printed texts');
  const confirmed = orderId.nullish().safeParse(received);
  if (!confirmed.success) return nothingReported('received: not the order_id of a text');
  return { ...checkFields(fields), hook: word?.data ?? null, received: confirmed.data ?? null };
};

/** Fields of a heartbeat as an agent or its hook gives them. */
export const checkFields = (fields: object): Pick<Understood, 'reported' | 'problems'> => {
  const reported: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    const schema = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    if (schema === undefined) {
      problems.push(`${name}: no field that an agent reports of itself: ${insteadOf(name, Object.keys(shapes))}`);
      continue;
    }
    const outcome = reading(schema, value);
    if ('value' in outcome) reported[name] = outcome.value;
    else problems.push(...outcome.mistakes.map((mistake) => spelled(mistake, [name])));
  }
  return { reported: reported as ReportedFields, problems };
};

export const startsCall = ({ tool_calls = [] }: ReportedFields): boolean =>
  tool_calls.some(({ outcome }) => outcome === 'running');

const hasEndedCall = ({ tool_calls = [] }: ReportedFields): boolean =>
  tool_calls.some(({ outcome }) => outcome !== 'running');

/** A given field that differs from the last report. */
const changes = <K extends keyof ReportedFields>(
  report: ReportedFields,
  latest: ReportedFields,
  field: K,
  keyOf: (reported: ReportedFields[K]) => unknown,
): boolean => report[field] !== undefined && keyOf(report[field]) !== keyOf(latest[field]);

/** Whether the report has to be evaluated at once, and not with the next interval. `latest`: the last report. */
export const isNotable = (report: ReportedFields, latest: ReportedFields): boolean =>
  changes(report, latest, 'activity', (activity) => activity ?? null) ||
  changes(report, latest, 'turn', (turn) => turn?.open ?? null) ||
  changes(report, latest, 'waiting_for', (waiting) => (waiting ? `${waiting.kind} ${waiting.since}` : null)) ||
  hasEndedCall(report) ||
  [report.checkpoint, report.handoff, report.probe_reply, report.rate_limit].some((word) => word != null) ||
  (report.blockers?.length ?? 0) > 0;

/** A session within the session that the agent is reports its calls; the rest of it is not the agent's. */
export const ownFields = (
  fields: Partial<Heartbeat>,
  client: ClientReport,
  breakers: readonly BreakerReport[],
  isCurrent: boolean,
): ReportedFields => {
  const { exit: _, tool_calls = [], ...own } = fields;
  const calls = tool_calls.length === 0 ? {} : { tool_calls };
  return checkFields(isCurrent ? { ...own, ...calls, client, breakers } : calls).reported;
};
