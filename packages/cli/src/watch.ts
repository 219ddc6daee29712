import { setTimeout as after } from 'node:timers/promises';
import type { AgentRow, Entry, FleetRow } from '@vigil/read-model';
import type { Client } from './client.ts';
import { CannotProceed, Refusal } from './errors.ts';
import { plain, plainAll } from './render/plain.ts';
import { storyLine } from './render/story.ts';
import { notShownYet, type Seen, watchScreen } from './render/watch.ts';
import { print, untilStopped, view } from './terminal.ts';

const EVERY_MS = 1000;
const STORY = '100';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** Shows the fleet until Ctrl-C: redrawn each second on a terminal, otherwise a line for each thing that happens. */
export async function watch(client: Client): Promise<void> {
  const signal = untilStopped();
  const draw = process.stdout.isTTY ? redraw() : addLines();
  while (!signal.aborted) {
    draw(await look(client));
    await after(EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

/** A dashboard that is away for a moment is waited for: it may be starting. */
async function look(client: Client): Promise<Seen | string> {
  try {
    const [{ agents }, { story }, { fleet }] = await Promise.all([
      client.get<{ agents: readonly AgentRow[] }>('/v1/agents'),
      client.get<{ story: readonly Entry[] }>('/v1/story', { limit: STORY }),
      client.get<{ fleet: FleetRow }>('/v1/fleet'),
    ]);
    return plainAll({ agents, story, fleet });
  } catch (error) {
    if (error instanceof CannotProceed || error instanceof Refusal) return plain(error.message);
    throw error;
  }
}

function redraw(): (seen: Seen | string) => void {
  process.stdout.write(`${HOME}${CLEAR_BELOW}`);
  return (seen) => {
    const lines = typeof seen === 'string' ? [seen] : watchScreen(view(), process.stdout.rows, seen);
    process.stdout.write(`${HOME}${lines.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`);
  };
}

function addLines(): (seen: Seen | string) => void {
  let known: ReadonlySet<string> = new Set();
  let trouble = '';
  return (seen) => {
    if (typeof seen === 'string') {
      if (seen !== trouble) print([seen]);
      trouble = seen;
      return;
    }
    trouble = '';
    print(notShownYet(known, seen.story).map((entry) => storyLine(view(), entry)));
    known = new Set(seen.story.map(({ eventId }) => eventId));
  };
}
