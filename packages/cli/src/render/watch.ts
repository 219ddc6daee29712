import type { AgentRow, Entry, FleetRow } from '@vigil/read-model';
import { agentsTable, isUnhealthy } from './agents.ts';
import { fleetLines } from './fleet.ts';
import { storyLine } from './story.ts';
import { clockTime, type View } from './view.ts';

/** The watched state at one moment. */
export type Seen = { readonly agents: readonly AgentRow[]; readonly story: readonly Entry[]; readonly fleet: FleetRow };

const ROWS_BESIDE = 6; // title, blank lines, heading, hint

/** Routine: presence heartbeats and admissions that let a step pass. */
const ROUTINE = new Set(['STEP_ADMITTED', 'SPAWN_ADMITTED', 'AGENT_PRESENT', 'WARRANT_FILED', 'ALERT_REQUESTED']);
export const isNotRoutine = ({ type }: Pick<Entry, 'type'>): boolean => !ROUTINE.has(type);

/** The plain watching view: agents, below them the last events as a story. As many as `rows` lines have room for. */
export function watchScreen(view: View, rows: number, { agents, story, fleet }: Seen): string[] {
  const unhealthy = agents.filter(isUnhealthy).length;
  const title = `${view.paint.bold('vigil')}  ${agents.length} agents, ${unhealthy} unhealthy  ${view.paint.dim(clockTime(view, view.now))}`;
  const table = agentsTable(view, agents);
  const above = [title, ...fleetLines(view, fleet), '', ...table];
  const room = Math.max(3, rows - above.length - ROWS_BESIDE + 2);
  const shown = story.filter(isNotRoutine).slice(-room);
  return [...above, '', view.paint.bold('Lately'), ...shown.map((entry) => storyLine(view, entry))].slice(0, rows - 1);
}

/** The entries that were not there before, for a terminal that cannot be redrawn. */
export function notShownYet(known: ReadonlySet<string>, story: readonly Entry[]): readonly Entry[] {
  return story.filter((entry) => !known.has(entry.eventId) && isNotRoutine(entry));
}
