import type { InboxItem, Knowledge } from '@vigil/read-model';
import type { Command } from 'commander';
import { inboxLines } from '../../render/inbox.ts';
import { isCurrent, knowledgeLines } from '../../render/knowledge.ts';
import { jsonText } from '../../render/plain.ts';
import { dashboardView, endBlind, endUnwell, type Json, print, show } from '../../terminal.ts';

const EXAMPLES = `
Ends with 1 if something waits, with 2 if Vigil cannot be reached or is blind.

Examples:
  vigil inbox           cases with a question, permissions and questions of agents, reviews, tickets, a brake
  vigil inbox --json    the same for programs`;

export const register = (program: Command): void => {
  program
    .command('inbox')
    .description('everything that waits for a person')
    .option('--json', 'for programs')
    .addHelpText('after', EXAMPLES)
    .action(list);
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
