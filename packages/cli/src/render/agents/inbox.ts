import type { InboxItem } from '@vigil/read-model';
import { openAlertsText } from '@vigil/read-model/standing';
import { ageText, clockTime, orDash, type View } from '../view.ts';

export const KINDS: Readonly<Record<InboxItem['kind'], string>> = {
  case: 'a case waits for a decision',
  permission: 'an agent asks for a permission',
  question: 'an agent asks a question',
  review: 'a task waits for review',
  ticket: 'a ticket asks for a look',
  brake: 'the brake is engaged',
};

const deadlineText = (view: View, { deadlineAt, withoutAnswer }: InboxItem): string =>
  deadlineAt === null
    ? `  No deadline. Without an answer, ${withoutAnswer}`
    : `  without an answer, at ${clockTime(view, deadlineAt)}: ${withoutAnswer}`;

type Question = InboxItem['questions'][number];

/** A question with its labels, of an item that takes an answer to each. */
const questionLines = ({ name, text, isMultiple, options }: Question): readonly string[] => [
  `  ${name}: ${text}${isMultiple ? ' (one or more)' : ''}`,
  ...options.map(({ label, description }) => `    ${label}${description === null ? '' : `: ${description}`}`),
];

type Option = InboxItem['options'][number];

/** The words of an option, where its name is none of them: its label, and the description of a question's choice. */
const optionText = ({ name, label }: Option, choice: Question['options'][number] | undefined): string => {
  if (label === name) return '';
  return choice?.label === label && choice.description !== null
    ? `  (${label}: ${choice.description})`
    : `  (${label})`;
};

const itemLines = (view: View, item: InboxItem): readonly string[] => [
  `${view.paint.bold(item.id)}  ${view.paint.yellow(KINDS[item.kind])}${item.since === null ? '' : `, for ${ageText(view, item.since)}`}`,
  ...(item.agentId === null && item.taskId === null
    ? []
    : [`  agent ${orDash(item.agentId)}, task ${orDash(item.taskId)}`]),
  ...(item.options.length === 0 && item.questions.length > 0
    ? item.questions.flatMap(questionLines)
    : item.text === null
      ? []
      : [`  ${item.text}`]),
  deadlineText(view, item),
  ...item.options.map(
    (option, i) => `  ${view.paint.dim(option.command)}${optionText(option, item.questions[0]?.options[i])}`,
  ),
  ...(item.command === null ? [] : [`  ${view.paint.dim(item.command)}`]),
];

export const NOTHING_WAITS = 'No case, permission, question, review, ticket or brake waits for you.';

/** What waits for a person, with the command of each answer, and how many alerts are open. */
export const inboxLines = (view: View, items: readonly InboxItem[], openAlerts: number): string[] => {
  const alerts = openAlertsText(openAlerts, false);
  return [
    ...(items.length === 0 ? [NOTHING_WAITS] : items.flatMap((item) => itemLines(view, item))),
    ...(alerts === null ? [] : [`${alerts}: ${view.paint.dim('vigil alert list')}`]),
  ];
};
