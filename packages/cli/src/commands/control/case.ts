import type { CaseRow, CaseStory } from '@vigil/read-model';
import { Argument, type Command } from 'commander';
import { wholeList } from '../../client.ts';
import { caseLines, casesTable } from '../../render/agents/cases.ts';
import { overlaps } from '../../render/period.ts';
import { type Aged, dashboard, type Json, showAged, showList } from '../../terminal.ts';
import { type PeriodOptions, periodOf, withPeriod } from '../inspect/period.ts';
import { type SelectionOptions, selectionQuery, withSelection } from '../inspect/selection.ts';
import { path, upToMonthOption, type WriteOptions, withDecisionOptions, write } from './options.ts';

const EXAMPLES = `
Examples:
  vigil case list
  vigil case list --all --since 24h
  vigil case list --host build-7 --label team=core
  vigil case show CASE
  vigil case decide CASE allow_more_time --for 10m --why "a long build"
  vigil case decide CASE terminate_and_recover --why "it is gone"`;

type ListOptions = PeriodOptions & SelectionOptions & Json & { readonly all?: boolean; readonly agent?: string };

/** The decisions on a case, and what each does. */
const DECISIONS = {
  allow_more_time:
    'the case waits for the time of --for (10m without it), at most twice; without progress its next step follows then',
  force_handoff: 'the agent is asked to hand off, and a fresh agent continues its task',
  terminate_and_recover: 'the agent is ended, and a fresh agent continues from the newest valid checkpoint',
  pardon: 'the case is closed, and the agent keeps working',
};

const DECIDE = `
Decisions:
${Object.entries(DECISIONS)
  .map(([name, meaning]) => `  ${name.padEnd(23)}${meaning}`)
  .join('\n')}

Example:
  vigil case decide CASE allow_more_time --for 10m --why "a long build"`;

export const register = (program: Command): void => {
  const cases = program
    .command('case')
    .description('interventions in progress, and decisions about them')
    .addHelpText('after', EXAMPLES);
  const listing = cases
    .command('list')
    .description('open cases; those that wait for a decision come first')
    .option('--all', 'include closed cases')
    .option('--agent <agent>', 'of one agent');
  withPeriod(withSelection(listing, 'cases'), 'cases that were open').option('--json', 'for programs').action(list);
  cases.command('show <case>').description('one case, with its steps').option('--json', 'for programs').action(showOne);
  const decide = cases
    .command('decide <case>')
    .description('decide on a case')
    .addArgument(new Argument('<decision>', 'what').choices(Object.keys(DECISIONS)))
    .option('--for <duration>', 'allow_more_time: how long, at most 30d', upToMonthOption);
  withDecisionOptions(decide)
    .addHelpText('after', DECIDE)
    .action((caseId: string, decision: string, options: WriteOptions & { for?: number }) => {
      const command = { kind: 'decide_case', caseId, decision, forMs: options.for };
      const request = { requested: `the decision ${decision} on case ${caseId}`, outcome: `vigil case show ${caseId}` };
      return write(command, request, options);
    });
};

const list = (options: ListOptions): Promise<void> =>
  showList(options.json, casesTable, async (client) => {
    const { all, agent } = options;
    const query = { open: all ? undefined : 'true', agent, ...selectionQuery(options) };
    const cases = await wholeList<CaseRow>(client, '/v1/cases', 'cases', query);
    return cases.filter(({ openedAt, closedAt }) => overlaps(periodOf(options), openedAt, closedAt));
  });

const showOne = async (caseId: string, { json }: Json): Promise<void> => {
  const found = await dashboard().get<CaseStory & Aged>(path('cases', caseId));
  showAged(json, found, found.knowledge, (story, view) => caseLines(view, story));
};
