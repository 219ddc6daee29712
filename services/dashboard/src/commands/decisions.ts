import {
  answersText,
  askedQuestion,
  mistakeInAnswers,
  type PolicyRef,
  type QuestionAnswer,
  type RecoverySettings,
  Topic,
} from '@vigil/events';
import { VOCABULARY } from '@vigil/health';
import { CorrectThePolicy, republished, utcTime } from '@vigil/policy';
import type { AgentRow, CaseRow, ReadModel, RequestRow } from '@vigil/read-model';
import { found, Problem } from '../problem.ts';
import type { CommandDraft, Of } from './command.ts';

/**
 * Answers the question of the case: that of `askedAt`, or the open one. The case refuses a second answer, as this read model may be behind.
 * Without an open question it is a decision by hand.
 */
export const decideCase = async (
  { caseId, decision, forMs, askedAt, by, why }: Of<'decide_case'>,
  model: ReadModel,
): Promise<CommandDraft> => {
  const row = found(await model.case(caseId), 'case', caseId, '`vigil case list`');
  const { agentId, closedAt, ending, waiting, escalationDeadlineAt, escalationOptions } = row;
  if (closedAt !== null)
    throw new Problem(409, 'case_closed', `Case ${caseId} is closed (${ending}): nothing is left to decide.`);
  if (askedAt !== undefined && !(waiting && row.escalationAt === askedAt))
    throw new Problem(409, 'already_answered', waiting ? asksAnother(caseId) : endOfQuestion(row));
  if (waiting && !escalationOptions.includes(decision))
    throw new Problem(
      400,
      'no_such_option',
      `decision: ${decision} was not offered: choose one of ${escalationOptions.join(', ')}.`,
      'decision',
    );
  const question = waiting ? { deadlineAt: escalationDeadlineAt } : null;
  const payload = { caseId, agentId, decision, forMs: forMs ?? null, by, why, question };
  return { topic: Topic.decideCase, type: 'DECIDE_CASE', key: agentId, payload };
};

const asksAnother = (caseId: string): string => `Case ${caseId} asks another question now: \`vigil inbox\` shows it.`;

/** How the question of a case has ended. */
export const endOfQuestion = ({ caseId, decision, decisionBy, decisionAt, escalationAt, ending }: CaseRow): string => {
  if (decision !== null && decisionAt !== null && decisionAt >= (escalationAt ?? 0))
    return `${decisionBy} has answered ${decision} at ${utcTime(decisionAt)}.`;
  return ending === null
    ? `Case ${caseId} has no open question now.`
    : `Case ${caseId} is closed (${ending}): nothing is left to decide.`;
};

export const requestStep = async (
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
  if (step === 'restart' && runtimeId === null)
    throw new Problem(
      409,
      'no_runtime',
      `${agentId} has no runtime that could start it again: restart it where it runs.`,
    );
  const about = { agentId, instanceId, taskId, runtimeId, labels };
  const { policy, recovery } = step === 'terminate_and_recover' ? await recoveryOf(agent, model) : nothingKnown;
  const payload = { ...about, step, message: message ?? null, by, why, recovery, askedAt: null };
  return { topic: Topic.decideCase, type: 'REQUEST_STEP', key: agentId, policy, payload };
};

/** A request that waits, according to the read model. Throws Problem with its end if it is over. */
export const waitingRequest = async (requestId: string, model: ReadModel): Promise<RequestRow> => {
  const request = found(await model.request(requestId), 'request', requestId, '`vigil inbox`');
  const { kind, options, settled, settledBy, settledOption, settledWhy } = request;
  // The name of a choice of a question is its number: its label has the words.
  const label = kind === 'question' ? options.find(({ name }) => name === settledOption)?.label : undefined;
  const answer = label ?? settledOption;
  if (settled === 'answered')
    throw new Problem(409, 'already_answered', `${settledBy} has answered ${answer}: the first answer decides.`);
  if (settled !== null)
    throw new Problem(
      409,
      'request_over',
      `Request ${requestId} is ${settled}${settledWhy === null ? '' : `: ${settledWhy}`}.`,
    );
  return request;
};

/** What the person answers: an option, or an answer to each question. Throws Problem 400, naming the question and the value. */
const answerTo = (
  { requestId, options, questions }: RequestRow,
  { option, answers }: Pick<Of<'answer_request'>, 'option' | 'answers'>,
): { readonly option: string; readonly answers: readonly QuestionAnswer[] } => {
  if (answers !== undefined && option !== undefined)
    throw new Problem(400, 'two_answers', 'option: give an option or answers, and not both.', 'option');
  if (answers !== undefined) {
    const mistake = mistakeInAnswers(questions.map(askedQuestion), answers);
    if (mistake !== null) throw new Problem(400, mistake.reason, `answers: ${mistake.detail}.`, 'answers');
    return { option: answersText(answers), answers };
  }
  const names = options.map(({ name }) => name);
  if (option !== undefined && names.includes(option)) return { option, answers: [] };
  if (names.length === 0) {
    const asked = questions.map(({ name }) => JSON.stringify(name)).join(', ');
    throw new Problem(
      400,
      'no_answer',
      `answers: request ${requestId} takes an answer to each of ${asked}.`,
      'answers',
    );
  }
  const remedy = `one of ${names.join(', ')}`;
  throw option === undefined
    ? new Problem(400, 'no_answer', `option: request ${requestId} takes ${remedy}.`, 'option')
    : new Problem(400, 'no_such_option', `option: ${JSON.stringify(option)} is not ${remedy}.`, 'option');
};

/** Whether it is in time, and the first, is decided in the order of the log. What is known to be over is refused at once. */
export const answerRequest = async (
  { requestId, by, why, ...answer }: Of<'answer_request'>,
  model: ReadModel,
): Promise<CommandDraft> => {
  const request = await waitingRequest(requestId, model);
  const { agentId, instanceId } = request;
  const payload = { requestId, agentId, instanceId, ...answerTo(request, answer), by, why };
  return { topic: Topic.handleRequest, type: 'ANSWER_REQUEST', key: agentId, payload };
};

export const reviewTask = async (
  { taskId, decision, askedAt, by, why }: Of<'review_task'>,
  model: ReadModel,
): Promise<CommandDraft> => {
  const task = found(await model.task(taskId), 'task', taskId, '`vigil task list`');
  if (task.recovery !== 'REVIEW_REQUIRED' && task.blockedReason !== null)
    throw new Problem(
      409,
      'not_in_review',
      `${taskId} is blocked, and not in review. \`vigil recover ${task.agentId ?? 'AGENT'}\` gives it to a fresh agent; \`vigil inbox\` takes its acknowledgement.`,
    );
  if (task.recovery !== 'REVIEW_REQUIRED')
    throw new Problem(
      409,
      'not_in_review',
      `${taskId} is not in review: there is nothing to decide. \`vigil task list --review\` shows what is.`,
    );
  if (askedAt !== undefined && task.recoveryAt !== askedAt)
    throw new Problem(409, 'already_answered', `${taskId} is in another review now: \`vigil inbox\` shows it.`);
  return { topic: Topic.reviewTask, type: 'REVIEW_TASK', key: taskId, payload: { taskId, decision, by, why } };
};

/** By the agent that works on it, or worked on it last. */
export const blockTask = async (
  { taskId, attempts, checkpoint, by, why }: Of<'block_task'>,
  model: ReadModel,
): Promise<CommandDraft> => {
  const agents = await model.agents({ taskId });
  const newest = agents.toSorted((one, other) => (other.instanceSince ?? 0) - (one.instanceSince ?? 0));
  const agent = newest.find(({ state }) => state !== 'TERMINATED') ?? newest[0];
  const { agentId, labels, policyName, policyHash } = found(agent, 'task', taskId, '`vigil task list`');
  const policy = policyName && policyHash ? { name: policyName, hash: policyHash } : null;
  const payload = { agentId, taskId, attempts, checkpoint: checkpoint ?? null, labels, by, why };
  return { topic: Topic.decideCase, type: 'BLOCK_TASK', key: agentId, policy, payload };
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
