import { setTimeout as after } from 'node:timers/promises';
import type { AgentRow, Entry, FleetRow, Knowledge } from '@vigil/read-model';
import type { Client } from './client.ts';
import { CannotProceed, Refusal } from './errors.ts';
import { agentsTable } from './render/agents.ts';
import { storyLine } from './render/describe.ts';
import { fleetLines } from './render/fleet.ts';
import { blindLine, isCurrent, knowledgeLines } from './render/knowledge.ts';
import { plain, plainAll } from './render/plain.ts';
import { clockTime, type View } from './render/view.ts';
import { print, untilStopped, view } from './terminal.ts';

const EVERY_MS = 1000;
const STORY = '100';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** Shows the fleet until Ctrl-C: redrawn each second on a terminal, otherwise a line for each thing that happens. */
export const watch = async (client: Client): Promise<void> => {
  const signal = untilStopped();
  const draw = process.stdout.isTTY ? redraw() : addLines();
  let seenAt = Date.now();
  while (!signal.aborted) {
    const seen = await look(client);
    if (typeof seen !== 'string') seenAt = Date.now();
    draw(seen, seenAt);
    await after(EVERY_MS, undefined, { signal }).catch(() => {});
  }
};

/** A dashboard that is away for a moment is waited for: it may be starting. */
const look = async (client: Client): Promise<Seen | string> => {
  try {
    const [{ agents }, { story }, { fleet, knowledge }] = await Promise.all([
      client.get<{ agents: readonly AgentRow[] }>('/v1/agents'),
      client.get<{ story: readonly Entry[] }>('/v1/story', { limit: STORY }),
      client.get<Pick<Seen, 'fleet' | 'knowledge'>>('/v1/fleet'),
    ]);
    return plainAll({ agents, story, fleet, knowledge });
  } catch (error) {
    if (error instanceof CannotProceed || error instanceof Refusal) return plain(error.message);
    throw error;
  }
};

/** `seenAt`: when the last answer arrived, epoch milliseconds. */
type Draw = (seen: Seen | string, seenAt: number) => void;

const redraw = (): Draw => {
  process.stdout.write(`${HOME}${CLEAR_BELOW}`);
  return (seen, seenAt) => {
    const lines =
      typeof seen === 'string' ? [blindLine(view(), seenAt), seen] : watchScreen(view(), process.stdout.rows, seen);
    process.stdout.write(`${HOME}${lines.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`);
  };
};

const addLines = (): Draw => {
  let known: ReadonlySet<string> = new Set();
  let trouble = '';
  return (seen, seenAt) => {
    const isBlind = typeof seen === 'string' || !isCurrent(seen.knowledge);
    if (isBlind && trouble === '')
      print([blindLine(view(), typeof seen === 'string' ? seenAt : (seen.knowledge.blindSince ?? seenAt))]);
    if (!isBlind && trouble !== '') print([`current again at ${clockTime(view(), seenAt)}`]);
    if (typeof seen === 'string') {
      if (seen !== trouble) print([seen]);
      trouble = seen;
      return;
    }
    trouble = isBlind ? 'blind' : '';
    print(notShownYet(known, seen.story).map((entry) => storyLine(view(), entry)));
    known = new Set(seen.story.map(({ eventId }) => eventId));
  };
};

/** The watched state at one moment. */
export type Seen = {
  readonly agents: readonly AgentRow[];
  readonly story: readonly Entry[];
  readonly fleet: FleetRow;
  readonly knowledge: Knowledge;
};

const ROWS_BESIDE = 6; // title, blank lines, heading, hint
const ROWS_BELOW = 7; // heading of the table, and the newest events

/** Routine: presence heartbeats and admissions that let a step pass. */
const ROUTINE = new Set(['STEP_ADMITTED', 'SPAWN_ADMITTED', 'AGENT_PRESENT', 'WARRANT_FILED', 'ALERT_REQUESTED']);
export const isNotRoutine = ({ type }: Pick<Entry, 'type'>): boolean => !ROUTINE.has(type);

/** The plain watching view: agents, below them the last events as a story. As many as `rows` lines have room for. */
export const watchScreen = (view: View, rows: number, { agents, story, fleet, knowledge }: Seen): string[] => {
  const unhealthy = agents.filter((agent) => agent.unhealthy).length;
  const title = `${view.paint.bold('vigil')}  ${agents.length} agents, ${unhealthy} unhealthy  ${view.paint.dim(clockTime(view, view.now))}`;
  const head = [title, ...knowledgeLines(view, knowledge), ...fleetLines(view, fleet), ''];
  const fits = Math.max(1, rows - head.length - ROWS_BELOW);
  const above = [...head, ...agentsTable(view, agents, isCurrent(knowledge), fits)];
  const room = Math.max(3, rows - above.length - ROWS_BESIDE + 2);
  const shown = story.filter(isNotRoutine).slice(-room);
  return [...above, '', view.paint.bold('Lately'), ...shown.map((entry) => storyLine(view, entry))].slice(0, rows - 1);
};

/** The entries that were not there before, for a terminal that cannot be redrawn. */
export const notShownYet = (known: ReadonlySet<string>, story: readonly Entry[]): readonly Entry[] =>
  story.filter((entry) => !known.has(entry.eventId) && isNotRoutine(entry));
