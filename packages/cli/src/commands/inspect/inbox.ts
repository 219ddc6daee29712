import type { InboxItem, Knowledge } from '@vigil/read-model';
import type { Command } from 'commander';
import { inboxLines } from '../../render/agents/inbox.ts';
import { isCurrent, knowledgeLines } from '../../render/knowledge.ts';
import { jsonText } from '../../render/plain.ts';
import { dashboardView, endBlind, endUnwell, type Json, print, show } from '../../terminal.ts';
import { type WriteOptions, withWriteOptions } from '../control/options.ts';

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
  vigil inbox answer case/case-7 pardon --why "a long build"`;

export const register = (program: Command): void => {
  const inbox = program
    .command('inbox')
    .description('everything that waits for a person')
    .option('--json', 'for programs')
    .addHelpText('after', EXAMPLES)
    .action(list);
  withWriteOptions(inbox.command('answer <item> <option>').description('answer an item by one of its options'))
    .addHelpText('after', ANSWER)
    .action(async (item: string, option: string, _: unknown, command: Command) =>
      (await import('../../answer.ts')).answerItem(item, option, command.optsWithGlobals<WriteOptions>()),
    );
};

const list = async ({ json }: Json): Promise<void> => {
  const answer = await dashboardView().get<{ inbox: readonly InboxItem[]; knowledge: Knowledge }>('/v1/inbox');
  const { inbox, knowledge } = answer;
  if (json) print([jsonText(inbox)]);
  else
    show(false, answer, (plain, view) => [...knowledgeLines(view, plain.knowledge), ...inboxLines(view, plain.inbox)]);
  if (!isCurrent(knowledge)) endBlind();
  else if (inbox.length > 0) endUnwell();
};
