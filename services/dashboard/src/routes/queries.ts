import { z } from 'zod';

const yes = z.enum(['true', 'false']).transform((text) => text === 'true');
const name = z.string().max(128).optional();

const timeOf = (text: string): number => (/^\d+$/.test(text) ? Number(text) : Date.parse(text));
const TIME = 'give epoch milliseconds, or a time such as 2026-11-27T00:00:00Z';
/** As epoch milliseconds. */
const time = z
  .string()
  .max(64)
  .refine((text) => Number.isSafeInteger(timeOf(text)), TIME)
  .transform(timeOf);
/** The same in a body, also as a number. */
export const instant = z.union([z.int().nonnegative(), time], TIME);
const since = time.optional().describe('at or after this time: epoch milliseconds or RFC 3339');
const until = time.optional().describe('before this time: epoch milliseconds or RFC 3339');

const count = z.coerce.number().int().min(1).max(1000);
const paged = {
  limit: count.optional().describe('the most entries of a page; without it there is one page'),
  cursor: z.string().max(1000).optional().describe('the `next` of the previous page'),
};

/** Of a list that may have any number of rows. */
const pagedFar = { ...paged, limit: count.default(1000).describe('the most entries of a page') };

/** The same, where a page is mostly enough. */
const pagedShort = { ...paged, limit: count.default(100).describe('the most entries of a page') };

/** `k=v`, once or several times. */
const label = z
  .union([z.string().max(256), z.array(z.string().max(256)).max(20)])
  .optional()
  .transform((given) => [given ?? []].flat())
  .refine((labels) => labels.every((one) => one.includes('=')), 'give name=value, such as team=core')
  .transform((labels) =>
    labels.map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)] as const),
  )
  .describe('name=value; several mean all of them');

const host = name.describe('of the agent, where it is or was last');
const policyOfAgent = name.describe('that judges the agent, or judged it last');
const ofAgent = { policy: policyOfAgent, host, label };
const health = z.enum(['HEALTHY', 'DEGRADED', 'STUCK', 'FAILING', 'TERMINATED', 'UNKNOWN']).optional();
const severity = z.enum(['low', 'medium', 'high', 'critical']).optional();

export const agents = z.strictObject({
  filter: z.enum(['unhealthy', 'waiting']).optional().describe('waiting: for a person, the longest first'),
  state: health,
  task: name,
  policy: name,
  host: name,
  label,
  since: since.describe('whose state has changed at or after this time'),
  until: until.describe('whose state has changed before this time'),
  ...paged,
});
export const inbox = z.strictObject({
  kind: z.enum(['case', 'permission', 'question', 'review', 'ticket', 'brake']).optional(),
  agent: name,
  task: name,
  policy: policyOfAgent,
  state: health.describe('of the agent'),
  host,
  label,
  since: since.describe('that wait since this time or later'),
  until: until.describe('that wait since before this time'),
  ...pagedFar,
});
export const policies = z.strictObject({ ...pagedFar });
export const cases = z.strictObject({
  open: yes.optional(),
  agent: name,
  task: name,
  policy: name.describe('under which it was opened'),
  state: health.describe('of the agent when it was opened'),
  host,
  label,
  since,
  until,
  ...pagedFar,
});
export const tasks = z.strictObject({
  review: yes.optional().describe('true: only those that wait for a person, in review or blocked'),
  agent: name.describe('the present assignee; state, policy, host and label are its own'),
  state: health,
  ...ofAgent,
  since: since.describe('whose recovery has changed, or that were blocked, at or after this time'),
  until: until.describe('whose recovery has changed, or that were blocked, before this time'),
  ...pagedFar,
});
export const alerts = z.strictObject({
  open: yes.optional(),
  state: z.enum(['open', 'acknowledged', 'resolved']).optional(),
  severity: z.enum(['info', 'warning', 'critical']).optional(),
  agent: name,
  task: name,
  ...ofAgent,
  since,
  until,
  ...pagedFar,
});
export const recoveries = z.strictObject({ task: name, since, until, ...pagedFar });
export const history = z.strictObject({
  kind: z.enum(['state', 'call', 'compaction']).optional().describe('only these; default: all'),
  since,
  until,
  ...pagedFar,
});
export const breakers = z.strictObject({
  open: yes.optional(),
  state: z.enum(['CLOSED', 'OPEN', 'HALF_OPEN']).optional(),
  agent: name,
  task: name,
  ...ofAgent,
  since: since.describe('that have changed at or after this time'),
  until: until.describe('that have changed before this time'),
  ...pagedFar,
});
export const tickets = z.strictObject({
  state: z
    .enum(['waits', 'intervene', 'dismissed'])
    .optional()
    .describe('what triage has decided; waits: it has not decided yet'),
  severity,
  agent: name,
  task: name,
  ...ofAgent,
  since,
  until,
  ...pagedShort,
});
export const silences = z.strictObject({ ...paged });
export const runtimes = z.strictObject({ ...paged });
export const story = z.strictObject({ agent: name, task: name, since, until, ...pagedShort });
export const letters = z.strictObject({ service: name, since, until, ...pagedShort });
export const targets = z.strictObject({ hours: z.coerce.number().positive().max(720).default(24) });
export const exported = z.strictObject({
  since: time.optional().describe('from then on; without it from the first stored observation'),
  until: time.optional().describe('until then; without it until the last stored observation'),
  agent: z.string().min(1).max(128).optional().describe('only this agent'),
});
export const outcome = z.strictObject({
  wait: z.coerce.number().min(0).max(30).default(0).describe('how long to wait for a decision, seconds'),
});
export const terminal = z.strictObject({
  why: z.string().min(1).max(200).optional().describe('why the terminal is looked at, for the history'),
});
export const events = z.strictObject({
  topic: name.describe('a topic, or its short name such as agentHealth'),
  agent: name,
  task: name,
  heartbeats: z.enum(['true', 'false']).default('false').describe('whether heartbeats are sent as well'),
});
