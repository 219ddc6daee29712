import type { Entry, Explanation, Knowledge } from '@vigil/read-model';
import type { Command } from 'commander';
import type { Client } from '../../client.ts';
import { isIn } from '../../render/period.ts';
import { dashboardReport, showAged } from '../../terminal.ts';
import { path } from '../control/options.ts';
import { type PeriodOptions, periodOf, withPeriod } from './period.ts';

type Options = PeriodOptions & { readonly json?: boolean; readonly all?: boolean };

/** The newest events that an explanation has, and the most that the dashboard gives. */
const STORY_READ = 30;
const MOST_OF_STORY = '1000';

const EXAMPLES = `
It shows the signals that fire, or will fire within an hour if nothing more is received, and each event once. It ends with 2
if Vigil cannot be reached or is blind; the state is an old one then, and shown as "was HEALTHY".

Examples:
  vigil explain worker-1              the reason that matched, what happened, cases, recoveries, alerts
  vigil explain worker-1 --all        every signal, and all that happened
  vigil explain worker-1 --since 2h   what happened in the last two hours
  vigil explain worker-1 --json       the same for programs`;

export const register = (program: Command): void => {
  const command = program
    .command('explain <agent>')
    .description("the reasons for an agent's state")
    .option('--all', 'every signal, and all that happened: also routine, and what is older than 40 lines');
  withPeriod(command, 'what happened').option('--json', 'for programs').addHelpText('after', EXAMPLES).action(explain);
};

const explain = async (agentId: string, options: Options): Promise<void> => {
  const { json, all = false, since, until } = options;
  const client = dashboardReport();
  const [found, { knowledge }] = await Promise.all([
    client.get<Explanation>(path('agents', agentId, 'explain')),
    client.get<{ knowledge: Knowledge }>('/v1/fleet'),
  ]);
  const isPart = since !== undefined || until !== undefined;
  const isEnough = found.story.length < STORY_READ || (json === true && !all && !isPart);
  const period = periodOf(options);
  const whole = isEnough ? found.story : await wholeStory(client, agentId);
  if (json) {
    const story = whole.filter(({ at }) => isIn(period, at));
    return showAged(true, { ...found, story, knowledge }, knowledge, () => []);
  }
  const { explainLines } = await import('../../render/agents/explain.ts');
  showAged(false, { ...found, story: whole }, knowledge, (plain, view, isNow) =>
    explainLines(view, plain, { all, period, isNow }),
  );
};

const wholeStory = async (client: Client, agent: string): Promise<readonly Entry[]> => {
  const { story } = await client.get<{ story: readonly Entry[] }>('/v1/story', { agent, limit: MOST_OF_STORY });
  return story;
};
