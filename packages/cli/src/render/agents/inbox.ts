import type { InboxItem } from '@vigil/read-model';
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
  `  without an answer${deadlineAt === null ? '' : `, at ${clockTime(view, deadlineAt)}`}: ${withoutAnswer}`;

type Question = InboxItem['questions'][number];

/** A question with its labels, of an item that takes an answer to each. */
const questionLines = ({ name, text, isMultiple, options }: Question): readonly string[] => [
  `  ${name}: ${text}${isMultiple ? ' (one or more)' : ''}`,
  ...options.map(({ label, description }) => `    ${label}${description === null ? '' : `: ${description}`}`),
];

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
    ({ name, label, command }) => `  ${view.paint.dim(command)}${label === name ? '' : `  (${label})`}`,
  ),
  ...(item.command === null ? [] : [`  ${view.paint.dim(item.command)}`]),
];

/** What waits for a person, with the command of each answer. */
export const inboxLines = (view: View, items: readonly InboxItem[]): string[] =>
  items.length === 0 ? ['Nothing waits for you.'] : items.flatMap((item) => itemLines(view, item));
