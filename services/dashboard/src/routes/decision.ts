import { type DecisionLink, ExpiredLink, InvalidLink, LINK_FIELDS, verifyLink } from '@vigil/chassis/decision-link';
import { utcTime } from '@vigil/policy';
import type { Entry, ReadModel } from '@vigil/read-model';
import { caseDecisionText, reviewText } from '@vigil/read-model/decisions';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { signed } from '../access/people.ts';
import { aboutAlert, unacknowledged } from '../commands/alerts.ts';
import { type CommandDraft, parseCommand } from '../commands/command.ts';
import type { CommandWriter } from '../commands/command-writer.ts';
import { answerRequest, decideCase, endOfQuestion, reviewTask, waitingRequest } from '../commands/decisions.ts';
import { sendPage, wantsPage } from '../page.ts';
import { badInput, found, Problem } from '../problem.ts';

export type DecisionDeps = {
  readonly model: ReadModel;
  readonly commands: CommandWriter;
  /** verifies links; null: there are none */
  readonly linkKey: string | null;
  /** epoch milliseconds */
  readonly now: () => number;
};

/** A question that waits for an answer. */
type OpenQuestion = {
  /** epoch milliseconds */
  readonly askedAt: number;
  readonly facts: Readonly<Record<string, string>>;
  /** what the link does, as a button: `Pardon`, or `Answer SQLite` */
  readonly choice: string;
  /** the question, or what happens after the decision, in one sentence */
  readonly text: string;
  /** the answer in the refusal of a second one: `pardon`, or `SQLite` */
  readonly answer: string;
};

/** The read model shows an answer within this time, milliseconds. Until then this process remembers it. */
const SHOWN_AFTER_MS = 30_000;

/** `allow_more_time`: Allow more time */
const nameOf = (decision: string): string => decision.charAt(0).toUpperCase() + decision.slice(1).replaceAll('_', ' ');

const readLink = async ({ query }: FastifyRequest, { linkKey, now }: DecisionDeps): Promise<DecisionLink> => {
  if (linkKey === null)
    throw new Problem(
      404,
      'no_links',
      'The dashboard has no key of links: set VIGIL_LINK_KEY, or use `vigil case decide`.',
    );
  const read = z.object({ link: z.string() }).safeParse(query);
  if (!read.success)
    throw new Problem(400, 'no_link', 'The address has no link=…: use the complete one of the alert.', 'link');
  return verifyLink(linkKey, read.data.link, now()).catch((error: unknown) => {
    const { message } = error as Error;
    if (error instanceof ExpiredLink)
      throw new Problem(
        410,
        'link_expired',
        `The link cannot be used: ${message}. \`vigil inbox\` shows what waits, and how to answer it.`,
      );
    if (error instanceof InvalidLink) throw new Problem(403, 'invalid_link', `The link cannot be used: ${message}.`);
    throw error;
  });
};

/** The texts of a decision that has a name of its own. `effect`: what happens after it; null: the name is not known */
const textsOf = (decision: string, effect: string | null) => ({
  ...{ choice: nameOf(decision), answer: decision, text: effect ?? 'Vigil waits for a decision.' },
});

const answered = (detail: string): Problem => new Problem(409, 'already_answered', detail);

const ANOTHER = new Problem(
  410,
  'another_question',
  'The link belongs to an earlier question. The alert of the present one has links of its own.',
);

/** The clocks of two brokers may differ by this much, milliseconds. An alert is written after its question. */
const CLOCKS_DIFFER_MS = 5000;

/** Whether a question is later than the alert with the link, so that the alert was about an earlier one. */
const isAfter = (askedAt: number, sentAt: number): boolean => askedAt > sentAt + CLOCKS_DIFFER_MS;

/** The question of a case. Throws Problem if it is not open, with the person who answered it. */
const questionOfCase = async (
  { subject, decision, deadlineAt, sentAt }: DecisionLink,
  model: ReadModel,
): Promise<OpenQuestion> => {
  const row = found(await model.case(subject), 'case', subject, '`vigil case list`');
  const { closedAt, waiting, escalationAt, escalationDeadlineAt } = row;
  if (closedAt !== null || !waiting || escalationAt === null) throw answered(endOfQuestion(row));
  if (escalationDeadlineAt !== deadlineAt || (deadlineAt === null && isAfter(escalationAt, sentAt))) throw ANOTHER;
  const facts = {
    Agent: row.agentId,
    Task: row.taskId ?? 'none',
    State: row.state,
    Reason: row.escalationReason ?? '',
    ...(deadlineAt !== null && { Deadline: utcTime(deadlineAt) }),
  };
  return { askedAt: escalationAt, facts, ...textsOf(decision, caseDecisionText(decision, row.agentId)) };
};

/** Events of one task that are looked through for the answer to its review. */
const STORY = 100;

const questionOfTask = async ({ subject, decision, sentAt }: DecisionLink, model: ReadModel): Promise<OpenQuestion> => {
  const { recovery, recoveryAt, recoveryReason } = found(
    await model.task(subject),
    'task',
    subject,
    '`vigil task list`',
  );
  if (recovery !== 'REVIEW_REQUIRED' || recoveryAt === null)
    throw answered(endOfReview(subject, await model.story({ taskId: subject, limit: STORY })));
  if (isAfter(recoveryAt, sentAt)) throw ANOTHER;
  const facts = { Task: subject, Reason: recoveryReason ?? '' };
  return { askedAt: recoveryAt, facts, ...textsOf(decision, reviewText(decision, subject)) };
};

const endOfReview = (taskId: string, story: readonly Entry[]): string => {
  const decided = story.findLast(({ type }) => type === 'REVIEW_DECIDED');
  return decided === undefined
    ? `${taskId} is not in review: there is nothing to decide.`
    : `${decided.payload.by} has answered ${decided.payload.decision} at ${utcTime(decided.at)}.`;
};

/** The name of a choice of a question is its number: its label has the words. */
const questionOfRequest = async (
  { subject, decision, deadlineAt }: DecisionLink,
  model: ReadModel,
): Promise<OpenQuestion> => {
  const request = await waitingRequest(subject, model);
  if (request.deadlineAt !== deadlineAt) throw ANOTHER;
  const { agentId, taskId, kind, text, options, openedAt } = request;
  const label = options.find(({ name }) => name === decision)?.label ?? decision;
  const facts = {
    Request: `request/${subject}`,
    Agent: agentId,
    Task: taskId ?? 'none',
    Deadline: utcTime(deadlineAt),
  };
  const asked = { askedAt: openedAt, facts, text: `${agentId} asks: ${text}` };
  if (kind === 'question') return { ...asked, choice: `Answer ${label}`, answer: label };
  return { ...asked, choice: label === decision ? nameOf(decision) : label, answer: decision };
};

const ACKNOWLEDGED = 'The alert is not repeated, and its ticket leaves the inbox. The agent continues.';

/** An alert that no person has acknowledged. */
const questionOfAlert = async ({ subject, decision }: DecisionLink, model: ReadModel): Promise<OpenQuestion> => {
  const { title, text, raisedAt } = await unacknowledged(subject, model);
  const facts = { Alert: title ?? subject, Text: text ?? '' };
  return { askedAt: raisedAt ?? 0, facts, ...textsOf(decision, ACKNOWLEDGED) };
};

const openQuestion = (link: DecisionLink, model: ReadModel): Promise<OpenQuestion> => {
  switch (link.kind) {
    case 'decide_case':
      return questionOfCase(link, model);
    case 'review_task':
      return questionOfTask(link, model);
    case 'answer_request':
      return questionOfRequest(link, model);
    case 'acknowledge':
      return questionOfAlert(link, model);
  }
};

const text = z.string().max(2000);
const answerForm = z.strictObject({
  kind: text.optional(),
  caseId: text.optional(),
  taskId: text.optional(),
  requestId: text.optional(),
  alertId: text.optional(),
  decision: text.optional(),
  option: text.optional(),
  by: text.default(''),
  why: text.default(''),
});

/** What the caller adds to the link. Throws Problem 403 if it names another question or choice. */
const readAnswer = (
  body: unknown,
  { kind, subject, decision }: DecisionLink,
): { readonly by: string; readonly why: string } => {
  const read = answerForm.safeParse(body ?? {});
  if (!read.success) {
    throw badInput('bad_answer', read.error, body, 'body');
  }
  const { by, why, ...named } = read.data;
  const fields = LINK_FIELDS[kind];
  const ofLink: Partial<Record<string, string>> = {
    ...{ kind, [fields.subject]: subject },
    ...(fields.answer !== null && { [fields.answer]: decision }),
  };
  for (const [field, value] of Object.entries(named))
    if (value !== undefined && value !== ofLink[field])
      throw new Problem(
        403,
        'not_this_link',
        `${field} is ${JSON.stringify(value)}: the link is for ${decision} of ${subject} only.`,
        field,
      );
  return { by, why };
};

/** `askedAt`: of the question that the link answers */
const draftOf = (
  link: DecisionLink,
  askedAt: number,
  { by, why }: { by: string; why: string },
  model: ReadModel,
): Promise<CommandDraft> => {
  const { kind, subject, decision, channel } = link;
  const signature = { by: signed({ name: `link to ${channel}` }, by), why: why || 'by a decision link' };
  const fields = LINK_FIELDS[kind];
  const chosen = fields.answer === null ? {} : { [fields.answer]: decision };
  const given = { kind, [fields.subject]: subject, ...chosen, ...signature };
  // A request is one question, and so is an alert.
  const isOne = kind === 'answer_request' || kind === 'acknowledge';
  const command = parseCommand(isOne ? given : { ...given, askedAt });
  if (command.kind === 'decide_case') return decideCase(command, model);
  if (command.kind === 'review_task') return reviewTask(command, model);
  if (command.kind === 'answer_request') return answerRequest(command, model);
  if (command.kind === 'acknowledge') return aboutAlert('ACKNOWLEDGE_ALERT', command, model);
  throw new Error(`a link is for no ${command.kind}`);
};

/**
 * Decision links of alerts. GET shows the question and changes nothing, because mail scanners follow links. POST answers it. A question is
 * answered once: the read model shows the first answer, and the case refuses an answer to a question that is over.
 */
export const decisionRoutes = (app: FastifyInstance, deps: DecisionDeps): void => {
  const { model, commands, now } = deps;
  const recent = new Map<string, { readonly at: number; readonly answer: string }>();

  /** Writes the answer, unless this process has just written another to the same question. */
  const answerOnce = async <T>(question: string, answer: string, write: () => Promise<T>): Promise<T> => {
    for (const [key, { at }] of recent) if (now() >= at + SHOWN_AFTER_MS) recent.delete(key);
    const first = recent.get(question);
    if (first !== undefined)
      throw answered(
        `${first.answer} at ${utcTime(first.at)}. Whether that answer was the first is not known yet: look again in some seconds.`,
      );
    recent.set(question, { at: now(), answer });
    try {
      return await write();
    } catch (error) {
      recent.delete(question);
      throw error;
    }
  };

  app.register(async (routes) => {
    routes.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      async (_request: unknown, body: string) => Object.fromEntries(new URLSearchParams(body)),
    );
    routes.get('/v1/decision', async (request, reply) => {
      const link = await readLink(request, deps);
      const { facts, choice, text } = await openQuestion(link, model);
      return sendPage(reply, 200, { title: `${choice}?`, text, facts, button: choice });
    });
    routes.post('/v1/decision', async (request, reply) => {
      const link = await readLink(request, deps);
      const answer = readAnswer(request.body, link);
      const question = await openQuestion(link, model);
      const { askedAt } = question;
      const draft = await draftOf(link, askedAt, answer, model);
      const { by } = draft.payload as { readonly by: string };
      const written = await answerOnce(
        `${link.kind} ${link.subject} ${askedAt}`,
        `${by} has sent the answer ${question.answer}`,
        () => commands.write(null, link.decision, async () => [draft]),
      );
      if (!wantsPage(request)) return reply.code(202).send({ ...written, by });
      const facts = { Subject: link.subject, By: by };
      return sendPage(reply, 202, {
        title: question.choice,
        text: 'The answer is written. It counts if no other answer was before it.',
        facts,
        button: null,
      });
    });
  });
};
