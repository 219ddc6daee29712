import { KINDS } from '@vigil/cli/inbox';
import type { InboxItem } from '@vigil/read-model';
import { caseDecisionText, reviewText } from '@vigil/read-model/decisions';
import type { Action, Command } from '../commands.ts';
import { sentenceOf } from '../text.ts';

const DANGEROUS = new Set(['terminate_and_recover', 'abandon', 'lift']);

/** More time may have a length. */
const fieldsOf = (name: string): Action['fields'] => (name === 'allow_more_time' ? ['forMs'] : []);

const idOf = ({ id }: InboxItem): string => id.slice(id.indexOf('/') + 1);

/** The question that the person sees: an answer decides no other. */
const seen = ({ since }: InboxItem): { readonly askedAt?: number } => (since === null ? {} : { askedAt: since });

/** The command of an answer; null: its command line gives it. */
const commandOf = (item: InboxItem, option: InboxItem['options'][number]): Command | null => {
  const { name } = option;
  switch (item.kind) {
    case 'case':
      return { kind: 'decide_case', caseId: idOf(item), decision: name, ...seen(item) };
    case 'review':
      if (item.alertId !== null) return { kind: 'acknowledge', alertId: item.alertId };
      return { kind: 'review_task', taskId: item.taskId ?? idOf(item), decision: name, ...seen(item) };
    case 'ticket':
      return item.alertId === null ? null : { kind: 'acknowledge', alertId: item.alertId };
    case 'brake':
      return { kind: 'lift_brake' };
    case 'permission':
    case 'question':
      if (item.alertId !== null) return { kind: 'acknowledge', alertId: item.alertId };
      return item.id.startsWith('request/') ? { kind: 'answer_request', requestId: idOf(item), option: name } : null;
  }
};

/** What happens next, in one sentence; of a request, what is answered. */
const textOf = (item: InboxItem, name: string, label: string): string => {
  const { kind, agentId, taskId } = item;
  const known =
    kind === 'review'
      ? reviewText(name, taskId ?? idOf(item))
      : kind === 'case'
        ? caseDecisionText(name, agentId ?? 'the agent')
        : kind === 'brake'
          ? 'Terminations and recoveries happen again.'
          : null;
  return known ?? `${label}: the answer to "${KINDS[kind]}" of ${taskId ?? agentId ?? 'the fleet'}.`;
};

/** The answers that the page can send, as buttons. */
export const answersOf = (item: InboxItem): readonly Action[] =>
  item.options.flatMap((option) => {
    const command = commandOf(item, option);
    if (command === null) return [];
    const label = option.label === option.name ? sentenceOf(option.name) : option.label;
    return [
      {
        key: `${item.id}/${option.name}`,
        label,
        text: textOf(item, option.name, label),
        command,
        isDangerous: DANGEROUS.has(option.name),
        fields: fieldsOf(option.name),
      },
    ];
  });

/** The command lines of the answers that only a terminal can give. */
export const linesOf = ({ options, questions, command }: InboxItem): readonly string[] =>
  command === null || options.length > 0 || questions.length > 0 ? [] : [command];
