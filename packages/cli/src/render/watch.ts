import type { AgentRow, Entry, FleetRow } from '@vigil/read-model';
import { agentsTable, isUnhealthy } from './agents.ts';
import { fleetLines } from './fleet.ts';
import { storyLine } from './story.ts';
import { clockTime, type View } from './view.ts';

/** What is watched, at one moment. */
export type Seen = { readonly agents: readonly AgentRow[]; readonly story: readonly Entry[]; readonly fleet: FleetRow };

const ROWS_BESIDE = 6; // title, blank lines, heading, hint

/** Heartbeats of presence and rulings that let a step pass are no news to somebody who watches. */
const NO_NEWS = new Set(['STEP_ADMITTED', 'SPAWN_ADMITTED', 'AGENT_PRESENT', 'WARRANT_FILED', 'ALERT_REQUESTED']);
export const isNews = ({ type }: Pick<Entry, 'type'>): boolean => !NO_NEWS.has(type);

/** The plain watching view: agents, below them the last events as a story. As many as `rows` lines have room for. */
export function watchScreen(view: View, rows: number, { agents, story, fleet }: Seen): string[] {
  const unhealthy = agents.filter(isUnhealthy).length;
  const title = `${view.paint.bold('vigil')}  ${agents.length} agents, ${unhealthy} unhealthy  ${view.paint.dim(clockTime(view, view.now))}`;
  const table = agentsTable(view, agents);
  const above = [title, ...fleetLines(view, fleet), '', ...table];
  const room = Math.max(3, rows - above.length - ROWS_BESIDE + 2);
  const told = story.filter(isNews).slice(-room);
  return [...above, '', view.paint.bold('Lately'), ...told.map((entry) => storyLine(view, entry))].slice(0, rows - 1);
}

/** The entries that were not there before, for a terminal that cannot be redrawn. */
export function newlyTold(known: ReadonlySet<string>, story: readonly Entry[]): readonly Entry[] {
  return story.filter((entry) => !known.has(entry.eventId) && isNews(entry));
}
