import { createHash } from 'node:crypto';
import { ID, ID_FORM } from '@vigil/events';
import { z } from 'zod';
import type { GatewayContext } from '../http/answers.ts';
import { authorizeStated, withoutHost } from '../http/claims.ts';
import { Problem } from '../http/problem.ts';
import { authorizeRequest } from '../http/rights.ts';
import { type Principal, refuseRevoked } from '../http/tokens.ts';
import type { RequestOpening } from '../log/record-encoding.ts';
import { pollOf, type RequestStatus } from '../state/agent-requests.ts';
import { USUAL_REQUESTS } from '../state/policies.ts';
import { type RequestRef, WRITE_AGAIN_MS } from './held-requests.ts';

/** The longest time that a request waits, milliseconds. */
export const LONGEST_REQUEST_MS = 3_600_000;

const id = z.string().regex(ID, `use ${ID_FORM}`);
const text = (most: number) => z.string().min(1).max(most);
const who = { requestId: id, agentId: id, instanceId: id };

/** The name of an option that a command line may have. */
const OPTION = /^[A-Za-z0-9][A-Za-z0-9 _.-]{0,127}$/;

/** The name of a question that a command line may have. */
const QUESTION_NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} _.-]{0,63}$/u;

const areUnique = (texts: readonly string[]): boolean => new Set(texts).size === texts.length;

type Choices = readonly { readonly name: string; readonly label: string }[];

/**
 * The choices as people see them. Agents choose the names, and command lines have them: if one is unsafe or there twice, each is
 * `option-1` …, and the labels stay.
 */
const shownChoices = (choices: Choices): Choices =>
  choices.every(({ name }) => OPTION.test(name)) && new Set(choices.map(({ name }) => name)).size === choices.length
    ? choices
    : choices.map(({ label }, index) => ({ name: `option-${index + 1}`, label }));

/** The answer with the name that its hook has sent. */
const asItsHookNamesIt = (status: Ended, choices: Choices): Ended => {
  if (status.kind !== 'answered' || status.answers.length > 0) return status;
  const index = shownChoices(choices).findIndex(({ name }) => name === status.option);
  return { ...status, option: choices[index]?.name ?? status.option };
};

/** Characters of all labels of a request, which intervention keeps while it waits. */
const MOST_LABELS = 2000;

type Labelled = { readonly options: readonly { readonly label: string }[] };

const labelsLength = (questions: readonly Labelled[]): number =>
  questions.flatMap(({ options }) => options).reduce((sum, { label }) => sum + label.length, 0);

const question = z.strictObject({
  name: z.string().regex(QUESTION_NAME, 'use letters, digits, spaces and _ . -, at most 64 characters'),
  header: z.string().max(300),
  text: text(1000),
  isMultiple: z.boolean(),
  options: z
    .array(
      z.strictObject({
        label: text(200),
        description: z.string().max(300).nullable(),
        preview: z.string().max(1000).nullable(),
      }),
    )
    .max(10)
    .readonly()
    .refine((options) => areUnique(options.map(({ label }) => label)), 'give each label once'),
});
const questions = z
  .array(question)
  .max(4)
  .readonly()
  .refine((all) => areUnique(all.map(({ name }) => name)), 'give each question its own name')
  .refine((all) => labelsLength(all) <= MOST_LABELS, `use at most ${MOST_LABELS} characters in all labels`);

/** The request of a hook. `waitMs`: how long it can wait at most. */
const requestBody = z.strictObject({
  ...who,
  taskId: id.nullable().default(null),
  labels: z.record(z.string().max(128), z.string().max(256)).default({}),
  policy: text(128).nullable().default(null),
  client: text(64),
  kind: z.enum(['permission', 'question']),
  tool: text(512).nullable().default(null),
  text: text(1000),
  choices: z
    .array(z.strictObject({ name: text(128), label: text(200) }))
    .max(10)
    .readonly(),
  // A hook of an older version sends none.
  questions: questions.default([]),
  waitMs: z.int().min(1000).max(LONGEST_REQUEST_MS),
});
export type RequestBody = z.output<typeof requestBody>;

const withdrawal = z.strictObject({ ...who, why: text(200) });

/** What its hook receives. `open`: it is to ask again. `remainingMs`: until the deadline. */
export type RequestAnswer = { readonly kind: 'open'; readonly remainingMs: number } | Ended;
type Ended = Exclude<RequestStatus, { readonly kind: 'open' }>;

const parsed = <Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> => {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const field = issue?.path.join('.') || 'body';
  throw new Problem(400, 'bad_field', `${field}: ${issue?.message}`, { field });
};

/** Reads a request. Throws Problem, naming the field. */
export const readRequest = (body: unknown): RequestBody => {
  const request = parsed(requestBody, body);
  if (request.choices.length === 0 && request.questions.length === 0)
    throw new Problem(400, 'bad_field', 'choices: a request has choices or questions', { field: 'choices' });
  return request;
};

type Asked = Pick<RequestBody, 'requestId' | 'agentId' | 'instanceId'>;

/** The id of a request among those of all agents. No hook chooses that of another's. */
const refOf = ({ requestId, agentId, instanceId }: Asked): RequestRef => {
  const digest = createHash('sha256')
    .update(JSON.stringify([agentId, instanceId, requestId]))
    .digest('hex');
  return { requestId: digest.slice(0, 16), agentId };
};

/** With the wait of its policy, and no longer than the hook can wait. */
const openingOf = ({ policies, ingress }: GatewayContext, body: RequestBody, now: number): RequestOpening => {
  const { waitMs, policy: requestedPolicy, ...asked } = body;
  const { agentId, labels } = body;
  const served = policies.assignedTo({ agentId, labels, requestedPolicy });
  const { longestMs, atDeadline: ofPolicy } = served?.requests ?? USUAL_REQUESTS;
  // A question has nothing to allow.
  const atDeadline = body.kind === 'permission' ? ofPolicy : 'no_decision';
  const { requestId } = refOf(body);
  const deadlineAt = now + Math.min(waitMs, longestMs);
  return {
    payload: { ...asked, choices: shownChoices(body.choices), requestId, deadlineAt, atDeadline, heldBy: ingress },
    policy: served === null ? null : { name: served.name, hash: served.hash },
  };
};

const authorize = (context: GatewayContext, principal: Principal, asked: RequestBody): RequestBody => {
  const body = withoutHost(principal, asked);
  const { agentId, taskId, policy, labels } = body;
  authorizeRequest(principal, agentId, context);
  authorizeStated(principal, { task_id: taskId, policy, labels, parent_agent_id: null }, null);
  return body;
};

/** How a hook has waited. `over`: call it when the answer has reached the hook, or has not. */
export type Waited = { readonly answer: RequestAnswer; readonly over: (hasArrived: boolean) => void };

/** The end at a deadline is expected within this time after it, milliseconds. */
const LATE_MS = 10_000;

/**
 * Waits for the end of a request, `waitMs` at most, and opens it before. `gone`: its hook does not wait any more.
 * Throws Problem: the token is not its agent's, or nothing can be written.
 */
export const ask = async (
  context: GatewayContext,
  principal: Principal,
  asked: RequestBody,
  waitMs: number,
  gone: AbortSignal,
): Promise<Waited> => {
  const { agentRequests, heldRequests, longPolls, issuedTokens, ingress, closing, now } = context;
  const body = authorize(context, principal, asked);
  const ref = refOf(body);
  const end = now() + waitMs;
  const opening = openingOf(context, body, now());
  const left = heldRequests.wait(ref, now());
  const poll = pollOf(ref.requestId);
  gone.addEventListener('abort', () => longPolls.wake(poll), { once: true });
  const waited = (answer: RequestAnswer): Waited => ({
    answer,
    over: (hasArrived) => left(hasArrived && answer.kind !== 'open', now()),
  });
  try {
    for (;;) {
      refuseRevoked(principal, issuedTokens);
      const status = agentRequests.find(ref.requestId);
      if (status !== null && status.kind !== 'open') return waited(asItsHookNamesIt(status, body.choices));
      if (status?.heldBy !== ingress && heldRequests.isUnwritten(ref.requestId, now()))
        await context.outbox.send([context.encoding.opening(opening, now())]);
      const at = now();
      const { deadlineAt } = status ?? opening.payload;
      const until = Math.min(end, deadlineAt + LATE_MS);
      if (at >= until || closing.aborted || gone.aborted)
        return waited({ kind: 'open', remainingMs: Math.max(0, deadlineAt - at) });
      const rest = until - at;
      await longPolls.wait(poll, status === null ? Math.min(rest, WRITE_AGAIN_MS) : rest);
    }
  } catch (error) {
    left(false, now());
    throw error;
  }
};

/** Ends a request whose hook has ended without an answer. Throws Problem. */
export const withdraw = async (context: GatewayContext, principal: Principal, body: unknown): Promise<void> => {
  const { why, ...asked } = parsed(withdrawal, body);
  authorizeRequest(principal, asked.agentId, context);
  await withdrawRef(context, refOf(asked), why);
};

/** Ends a request of a hook that waited here. */
export const withdrawHook = (context: GatewayContext, asked: Asked, why: string): Promise<void> =>
  withdrawRef(context, refOf(asked), why);

export const withdrawRef = ({ outbox, encoding, now }: GatewayContext, ref: RequestRef, why: string): Promise<void> =>
  outbox.send([encoding.withdrawal({ ...ref, why }, now())]);
