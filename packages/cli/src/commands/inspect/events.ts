import { setTimeout as pause } from 'node:timers/promises';
import type { HealthEvent } from '@vigil/events';
import type { Entry } from '@vigil/read-model';
import type { Command } from 'commander';
import type { Client, Query } from '../../client.ts';
import { CannotProceed } from '../../errors.ts';
import { storyLine } from '../../render/describe.ts';
import { jsonText, plainAll } from '../../render/plain.ts';
import { dashboard, print, untilStopped, view } from '../../terminal.ts';
import { instantOption } from './period.ts';

type Options = {
  topic?: string;
  agent?: string;
  task?: string;
  heartbeats?: boolean;
  since?: number;
  json?: boolean;
};

const EXAMPLES = `
Examples:
  vigil events tail
  vigil events tail --since 10m              first what has happened in the last ten minutes
  vigil events tail --agent worker-1 --heartbeats
  vigil events tail --topic agentHealth --json | jq .payload`;

export const register = (program: Command): void => {
  program
    .command('events')
    .description('live events')
    .command('tail')
    .description('events from now on, or since a time, until Ctrl-C')
    .option('--topic <topic>', 'of one topic: its name, or its short one such as agentHealth')
    .option('--agent <agent>', 'about one agent')
    .option('--task <task>', 'about one task')
    .option('--heartbeats', 'heartbeats too')
    .option(
      '--since <time>',
      'first the history from then on: 2h or "2h ago", or a time such as 2026-11-27T14:00Z',
      instantOption,
    )
    .option('--json', 'a line of JSON each')
    .addHelpText('after', EXAMPLES)
    .action(tail);
};

/** An event of the history reaches the read model within this time, milliseconds. */
const PROJECTED_MS = 1000;
/** Entries of a page. */
const LIMIT = '1000';

type Page = { readonly story: readonly Entry[]; readonly next: string | null };

/** The history since a time, oldest first. Each page is in the order of time, and the next one is older. */
const historySince = async (client: Client, query: Query): Promise<readonly Entry[]> => {
  const pages: (readonly Entry[])[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: Page = await client.get<Page>('/v1/story', { ...query, limit: LIMIT, cursor });
    pages.unshift(page.story);
    cursor = page.next;
  }
  return pages.flat();
};

const tail = async ({ topic, agent, task, heartbeats, since, json }: Options): Promise<void> => {
  if (since !== undefined && (topic !== undefined || heartbeats))
    throw new CannotProceed('--since shows the history, which has no heartbeats and no topics: leave out the other.');
  const stopped = untilStopped();
  const left = new AbortController();
  const signal = AbortSignal.any([stopped, left.signal]);
  // Without events the command would look as if it hung.
  if (process.stderr.isTTY) process.stderr.write('Waiting for events; Ctrl-C ends.\n');
  const client = dashboard();
  const query = { topic, agent, task, heartbeats: heartbeats ? 'true' : undefined };
  const lineOf = (event: { readonly at: number; readonly type: string; readonly payload: object }): string =>
    storyLine(view(), plainAll(event) as Parameters<typeof storyLine>[1]);
  try {
    const live = client.lines<HealthEvent>('/v1/events', query, signal)[Symbol.asyncIterator]();
    // The stream begins before the history is read, so that no event is between the two.
    let next = live.next();
    const printed = new Set<string>();
    if (since !== undefined) {
      next.catch(() => {});
      await pause(PROJECTED_MS, undefined, { signal });
      for (const entry of await historySince(client, { agent, task, since: String(since) })) {
        printed.add(entry.eventId);
        print([json ? jsonText(entry, 0) : lineOf(entry)]);
      }
    }
    for (let one = await next; one.done !== true; one = await next) {
      next = live.next();
      const event = one.value;
      if (!printed.has(event.eventId)) print([json ? jsonText(event, 0) : lineOf({ at: event.occurredAt, ...event })]);
    }
  } catch (error) {
    if (!stopped.aborted) throw error;
  } finally {
    left.abort();
  }
};
