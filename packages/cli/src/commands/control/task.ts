import type { TaskRow } from '@vigil/read-model';
import { Argument, type Command } from 'commander';
import { wholeList } from '../../client.ts';
import { type Task, taskLines, tasksTable } from '../../render/agents/tasks.ts';
import { overlaps } from '../../render/period.ts';
import { type Aged, dashboard, type Json, showAged, showList } from '../../terminal.ts';
import { type PeriodOptions, periodOf, withPeriod } from '../inspect/period.ts';
import { path, type WriteOptions, withDecisionOptions, write } from './options.ts';

type ListOptions = PeriodOptions & Json & { readonly review?: boolean };

const EXAMPLES = `
Examples:
  vigil task list --review                                  tasks that wait for you
  vigil task show OMN-1234                                  its checkpoints and attempts
  vigil task review OMN-1234 retry --why "quota is back"    another attempt
  vigil task review OMN-1234 reset --why "the host is repaired"  release it: its attempts count from one again`;

export const register = (program: Command): void => {
  const tasks = program.command('task').description('the work that outlives agents').addHelpText('after', EXAMPLES);
  const listing = tasks
    .command('list')
    .description('tasks, their assignees, and the state of their recovery')
    .option('--review', 'only those that wait for a person: in review, or blocked');
  withPeriod(listing, 'tasks whose recovery changed, or that were blocked,')
    .option('--json', 'for programs')
    .action(list);
  tasks.command('show <task>').description('one task').option('--json', 'for programs').action(showOne);
  const review = tasks
    .command('review <task>')
    .description('decide on a task in review')
    .addArgument(new Argument('<decision>', 'what').choices(['retry', 'abandon', 'reset']));
  withDecisionOptions(review).action((taskId: string, decision: string, options: WriteOptions) => {
    const request = { requested: `the decision ${decision} on task ${taskId}`, outcome: `vigil task show ${taskId}` };
    return write({ kind: 'review_task', taskId, decision }, request, options);
  });
};

const list = (options: ListOptions): Promise<void> =>
  showList(options.json, tasksTable, async (client) => {
    const query = { review: options.review ? 'true' : undefined };
    const tasks = await wholeList<TaskRow>(client, '/v1/tasks', 'tasks', query);
    if (options.since === undefined && options.until === undefined) return tasks;
    const period = periodOf(options);
    return tasks.filter(({ recoveryAt, blockedAt }) => {
      const changedAt = Math.max(recoveryAt ?? 0, blockedAt ?? 0);
      return changedAt > 0 && overlaps(period, changedAt, changedAt);
    });
  });

const showOne = async (taskId: string, { json }: Json): Promise<void> => {
  const task = await dashboard().get<Task & Aged>(path('tasks', taskId));
  showAged(json, task, task.knowledge, (found, view, isNow) => taskLines(view, found, isNow));
};
