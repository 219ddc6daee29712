import type { AlertRow, InboxItem, Knowledge } from '@vigil/read-model';
import type { Command } from 'commander';
import type { AnswerOptions } from '../../answer.ts';
import { wholeAnswer, wholeList } from '../../client.ts';
import { inboxLines } from '../../render/agents/inbox.ts';
import { dashboardView, endUnwell, type Json, showAged } from '../../terminal.ts';
import { withWriteOptions } from '../control/options.ts';

const EXAMPLES = `
Ends with 1 if something waits, with 2 if Vigil cannot be reached or is blind.

Examples:
  vigil inbox           cases with a question, permissions and questions of agents, reviews, tickets, a brake
  vigil inbox --json    the same for programs
  vigil inbox answer request/3f2a allow`;

const ANSWER = `
The first answer decides. Waits for the outcome, and ends with 1 if the answer changes nothing: it was too late, or
another was the first. The agent's hook returns the answer to its client.

Examples:
  vigil inbox answer request/3f2a allow --why "only the build folder"
  vigil inbox answer case/case-7 pardon --why "a long build"
  vigil inbox answer ticket/ticket-9 acknowledge --why "I look at it"
  vigil inbox answer request/3f2a --answer Database=SQLite --answer Features=Login --other "Features=a cache"`;

const every = (value: string, values: readonly string[]): readonly string[] => [...values, value];

export const register = (program: Command): void => {
  const inbox = program
    .command('inbox')
    .description('the cases, permissions, questions, reviews, tickets and brake that wait for a person')
    .option('--json', 'for programs')
    .addHelpText('after', EXAMPLES)
    .action(list);
  withWriteOptions(
    inbox
      .command('answer <item> [option]')
      .description('answer an item by one of its options, or its questions by an answer to each'),
  )
    .option('--answer <question=label>', 'a label for a question; again for each question, and each label', every, [])
    .option('--other <question=text>', 'other words than the labels of a question', every, [])
    .addHelpText('after', ANSWER)
    .action(async (item: string, option: string | undefined, _: unknown, command: Command) =>
      (await import('../../answer.ts')).answerItem(item, option, command.optsWithGlobals<AnswerOptions>()),
    );
};

const list = async ({ json }: Json): Promise<void> => {
  type Answer = { readonly inbox: readonly InboxItem[]; readonly knowledge: Knowledge };
  const answer = await wholeAnswer<Answer>(dashboardView(), '/v1/inbox', 'inbox', {});
  const { inbox, knowledge } = answer;
  if (inbox.length > 0) endUnwell();
  const open = json ? [] : await wholeList<AlertRow>(dashboardView(), '/v1/alerts', 'alerts', { state: 'open' });
  showAged(json, inbox, knowledge, (items, view) => inboxLines(view, items, open.length));
};
