import type { TaskRow } from '@vigil/read-model';
import { Argument, type Command } from 'commander';
import { type Task, taskLines, tasksTable } from '../../render/tasks.ts';
import { dashboard, type Json, show } from '../../terminal.ts';
import { path, type WriteOptions, withDecisionOptions, write } from './options.ts';

const EXAMPLES = `
Examples:
  vigil task list --review                                  tasks that wait for you
  vigil task show OMN-1234                                  its checkpoints and attempts
  vigil task review OMN-1234 retry --why "quota is back"    another attempt
  vigil task review OMN-1234 reset --why "the host is repaired"  release it: its attempts count from one again`;

export const register = (program: Command): void => {
  const tasks = program.command('task').description('the work that outlives agents').addHelpText('after', EXAMPLES);
  tasks
    .command('list')
    .description('tasks, their assignees, and the state of their recovery')
    .option('--review', 'only those that wait for a person')
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

const list = async ({ review, json }: Json & { review?: boolean }): Promise<void> => {
  const { tasks } = await dashboard().get<{ tasks: readonly TaskRow[] }>('/v1/tasks', {
    review: review ? 'true' : undefined,
  });
  show(json, tasks, (rows, view) => tasksTable(view, rows));
};

const showOne = async (taskId: string, { json }: Json): Promise<void> => {
  const task = await dashboard().get<Task>(path('tasks', taskId));
  show(json, task, (found, view) => taskLines(view, found));
};
