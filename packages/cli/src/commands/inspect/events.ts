import type { HealthEvent } from '@vigil/events';
import type { Command } from 'commander';
import { storyLine } from '../../render/describe.ts';
import { jsonText, plainAll } from '../../render/plain.ts';
import { dashboard, print, untilStopped, view } from '../../terminal.ts';

type Options = { topic?: string; agent?: string; task?: string; heartbeats?: boolean; json?: boolean };

const EXAMPLES = `
Examples:
  vigil events tail
  vigil events tail --agent worker-1 --heartbeats
  vigil events tail --topic agentHealth --json | jq .payload`;

export const register = (program: Command): void => {
  program
    .command('events')
    .description('live events')
    .command('tail')
    .description('events from now on, until Ctrl-C')
    .option('--topic <topic>', 'of one topic: its name, or its short one such as agentHealth')
    .option('--agent <agent>', 'about one agent')
    .option('--task <task>', 'about one task')
    .option('--heartbeats', 'heartbeats too')
    .option('--json', 'a line of JSON each')
    .addHelpText('after', EXAMPLES)
    .action(tail);
};

const tail = async ({ topic, agent, task, heartbeats, json }: Options): Promise<void> => {
  const signal = untilStopped();
  // Without events the command would look as if it hung.
  if (process.stderr.isTTY) process.stderr.write('Waiting for events; Ctrl-C ends.\n');
  const query = { topic, agent, task, heartbeats: heartbeats ? 'true' : undefined };
  try {
    for await (const event of dashboard().lines<HealthEvent>('/v1/events', query, signal))
      print([json ? jsonText(event, 0) : storyLine(view(), { at: event.occurredAt, ...plainAll(event) })]);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};
