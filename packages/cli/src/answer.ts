import { setTimeout as pause } from 'node:timers/promises';
import { answersText, type QuestionAnswer } from '@vigil/events';
import type { InboxItem, RequestRow } from '@vigil/read-model';
import { type Client, wholeList } from './client.ts';
import { path, type Request, shownBy, type WriteOptions, write, writeAndShow } from './commands/control/options.ts';
import { Refusal } from './errors.ts';
import { plain } from './render/plain.ts';
import { dashboard, endUnwell, print, untilStopped } from './terminal.ts';

const PATIENCE_MS = 30_000;
const LOOK_MS = 200;

/** Of an item as the inbox shows it: when its question was put, and the alert that its answer acknowledges. */
type Shown = Pick<InboxItem, 'since' | 'alertId'>;

/** Of a case, a task, a ticket or the brake; null: of others, the id names the question. Throws Refusal where none is open. */
const shownItem = async (item: string): Promise<Shown | null> => {
  if (!/^((case|task|ticket)\/|brake$)/.test(item)) return null;
  const inbox = await wholeList<InboxItem>(dashboard(), '/v1/inbox', 'inbox', {});
  const found = inbox.find(({ id }) => id === item);
  if (found === undefined)
    throw new Refusal(
      `${item} waits for no answer: it has been answered, is over, or never was. \`vigil inbox\` shows what waits.`,
    );
  return found;
};

/** What a command line gives as the answers to questions, each as `NAME=VALUE`. */
export type GivenAnswers = { readonly answer: readonly string[]; readonly other: readonly string[] };

const splitAt = (option: string, given: string): readonly [question: string, value: string] => {
  const end = given.indexOf('=');
  const [question, value] = [given.slice(0, end).trim(), given.slice(end + 1).trim()];
  if (end > 0 && question !== '' && value !== '') return [question, value];
  throw new Refusal(
    `${option} ${JSON.stringify(given)} names no question and value: write ${option} 'Database=SQLite'.`,
  );
};

/** The answers to the questions of a request, in the order of the command line. Throws Refusal for one that is not `NAME=VALUE`. */
export const answersFrom = ({ answer, other }: GivenAnswers): readonly QuestionAnswer[] => {
  const labels = answer.map((given) => splitAt('--answer', given));
  const texts = other.map((given) => splitAt('--other', given));
  const twice = texts.find(([name], index) => texts.findIndex(([earlier]) => earlier === name) !== index);
  if (twice !== undefined)
    throw new Refusal(`--other is given twice for ${JSON.stringify(twice[0])}: write one text for a question.`);
  return [...new Set([...labels, ...texts].map(([name]) => name))].map((question) => ({
    question,
    labels: labels.filter(([name]) => name === question).map(([, label]) => label),
    text: texts.find(([name]) => name === question)?.[1] ?? null,
  }));
};

/** What an item of the inbox is answered with. `shown` null: the inbox was not read. Throws Refusal for another id. */
export const commandFor = (
  item: string,
  option: string,
  shown: Shown | null,
): { readonly command: object; readonly outcome: string } => {
  const [kind, ...rest] = item.split('/');
  const id = rest.join('/');
  const seen = shown === null || shown.since === null ? {} : { askedAt: shown.since };
  if (kind === 'request' && id !== '')
    return { command: { kind: 'answer_request', requestId: id, option }, outcome: 'vigil inbox' };
  if (kind === 'case' && id !== '')
    return {
      command: { kind: 'decide_case', caseId: id, decision: option, ...seen },
      outcome: `vigil case show ${id}`,
    };
  const alertId = shown?.alertId ?? null;
  if (kind === 'task' && id !== '' && alertId === null)
    return {
      command: { kind: 'review_task', taskId: id, decision: option, ...seen },
      outcome: `vigil task show ${id}`,
    };
  const isOfAlert = (kind === 'ticket' || kind === 'task' || kind === 'agent') && alertId !== null;
  if (isOfAlert && option === 'acknowledge')
    return { command: { kind: 'acknowledge', alertId }, outcome: 'vigil alert list' };
  if (isOfAlert) throw new Refusal(`${item} is answered with acknowledge, and not with ${JSON.stringify(option)}.`);
  if (item === 'brake' && option === 'lift') return { command: { kind: 'lift_brake' }, outcome: 'vigil health' };
  if (item === 'brake') throw new Refusal(`brake is answered with lift, and not with ${JSON.stringify(option)}.`);
  if (/^agent\/./.test(item))
    throw new Refusal(
      `${item} is answered in the terminal of the agent: that of \`vigil run\`, or by \`vigil attach ${id} --write\` on its host: \`vigil inbox\` shows the way.`,
    );
  throw new Refusal(
    `${JSON.stringify(item)} is not an item of the inbox: give one like case/ID, task/ID, request/ID, ticket/ID or brake. \`vigil inbox\` shows the command of each option.`,
  );
};

/** The command that answers an item by an option, or a request by an answer to each of its questions. Throws Refusal. */
const givenFor = async (
  item: string,
  option: string | undefined,
  answers: readonly QuestionAnswer[],
): Promise<ReturnType<typeof commandFor> & { readonly shown: string }> => {
  if (answers.length === 0 && option !== undefined)
    return { ...commandFor(item, option, await shownItem(item)), shown: option };
  if (option !== undefined)
    throw new Refusal(`Give the option ${JSON.stringify(option)}, or --answer and --other, and not both.`);
  if (answers.length === 0)
    throw new Refusal(`${item} needs an option, or --answer 'QUESTION=LABEL': \`vigil inbox\` shows what it takes.`);
  const [kind, ...rest] = item.split('/');
  if (kind !== 'request')
    throw new Refusal(`${item} has no questions: answer it by one of its options, which \`vigil inbox\` shows.`);
  const command = { kind: 'answer_request', requestId: rest.join('/'), answers };
  return { command, outcome: 'vigil inbox', shown: answersText(answers) };
};

export type AnswerOptions = WriteOptions & GivenAnswers;

/** Answers an item of the inbox. That of a request is shown with its outcome. */
export const answerItem = async (item: string, option: string | undefined, options: AnswerOptions): Promise<void> => {
  const { command, outcome, shown } = await givenFor(item, option, answersFrom(options));
  const request: Request = { requested: `the answer ${shown} to ${item}`, outcome };
  if (!('requestId' in command)) return write(command, request, options);
  const { eventId } = await writeAndShow(command, options, () => ({ ...request, outcome: null }));
  if (options.json !== true) await showOutcome(dashboard(), item.slice('request/'.length), eventId);
};

/** What became of the answer that a command wrote; null: it is not known yet. */
export const outcomeOf = (row: RequestRow, commandId: string): { isApplied: boolean; text: string } | null => {
  if (row.refusedCommand === commandId)
    return { isApplied: false, text: `The answer changes nothing (${row.refusedReason}): ${row.refusedDetail}.` };
  if (row.settledCommand === commandId && row.settled === 'answered')
    return { isApplied: true, text: `${row.settledBy} has answered ${row.settledOption}; the hook returns it.` };
  return null;
};

const showOutcome = async (client: Client, requestId: string, commandId: string): Promise<void> => {
  const stop = untilStopped();
  for (let waited = 0; waited < PATIENCE_MS && !stop.aborted; waited += LOOK_MS) {
    const outcome = outcomeOf(await client.get<RequestRow>(path('requests', requestId)), commandId);
    if (outcome !== null) {
      if (!outcome.isApplied) endUnwell();
      return print([plain(outcome.text)]);
    }
    await pause(LOOK_MS, undefined, { signal: stop }).catch(() => {});
  }
  if (!stop.aborted) endUnwell();
  print([`Nothing is known of it yet. What becomes of it: ${shownBy(commandId)} --wait`]);
};
