import type { CellRow } from '@vigil/read-model';
import { byName } from '@vigil/read-model/names';
import type { Known } from './knowledge.ts';
import { ageText } from './time.ts';

export type State = CellRow['state'];

/** The states in the order in which people look at them. */
export const STATES: readonly State[] = ['FAILING', 'STUCK', 'DEGRADED', 'UNKNOWN', 'HEALTHY', 'TERMINATED'];

/** One agent of the fleet. */
export type Cell = CellRow;

export type Sort = 'urgency' | 'name' | 'changed' | 'task' | 'host';

export type Filter = {
  /** words that the agent, its task, host, policy, exemption or labels contain, all of them */
  readonly find: string;
  /** null: all states */
  readonly state: State | null;
  readonly sort: Sort;
  /** whether ended agents are shown, too */
  readonly ended: boolean;
};

export const EVERYTHING: Filter = { find: '', state: null, sort: 'urgency', ended: false };

const textOf = ({ agentId, taskId, host, policyName, exemption, labels }: Cell): string =>
  [agentId, taskId, host, policyName, exemption, ...Object.entries(labels).map(([k, v]) => `${k}=${v}`)]
    .join('\n')
    .toLowerCase();

const urgency = (cell: Cell): number => {
  if (cell.waiting) return 0;
  return cell.unhealthy ? 1 + STATES.indexOf(cell.state) : 10 + STATES.indexOf(cell.state);
};

const byText = (one: string | null, other: string | null): number => {
  if (one === other) return 0;
  if (one === null) return 1;
  return other === null ? -1 : byName(one, other);
};

const ORDERS: Readonly<Record<Exclude<Sort, 'name'>, (one: Cell, other: Cell) => number>> = {
  urgency: (one, other) => urgency(one) - urgency(other),
  changed: (one, other) => (other.since ?? 0) - (one.since ?? 0),
  task: (one, other) => byText(one.taskId, other.taskId),
  host: (one, other) => byText(one.host, other.host),
};

/** The agents that the filter asks for, in its order. `cells` are by name, and stay so where the order does not differ. */
export const shownCells = (cells: readonly Cell[], { find, state, sort, ended }: Filter): readonly Cell[] => {
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  const isShown = (cell: Cell): boolean => {
    if (state !== null ? cell.state !== state : cell.state === 'TERMINATED' && !ended && !cell.unhealthy) return false;
    if (words.length === 0) return true;
    const text = textOf(cell);
    return words.every((word) => text.includes(word));
  };
  const shown = cells.filter(isShown);
  // A sort keeps the order of what does not differ.
  return sort === 'name' ? shown : shown.sort(ORDERS[sort]);
};

/** The agents that match the words, and that the filter hides as ended or of another state; null: there are none. */
export type Hidden = { readonly text: string; readonly filter: Filter };

/** Where the filter shows no agent. */
export const hiddenMatches = (cells: readonly Cell[], filter: Filter): Hidden | null => {
  const wider = { ...filter, state: null, ended: true };
  const count = shownCells(cells, wider).length;
  if (count === 0) return null;
  const of = filter.state === null ? ['ended agent', ''] : ['agent', ' of other states'];
  return {
    text: `No ${filter.state === null ? 'agent that runs' : `${filter.state} agent`} matches. ${count} ${of[0]}${count === 1 ? '' : 's'}${of[1]} ${count === 1 ? 'does' : 'do'}.`,
    filter: wider,
  };
};

/** What a cell shows below its name. The state is a word: a person may not see its colour. */
export const cellText = (cell: Cell, now: number, text: Known['text']): string =>
  [
    text(cell.state),
    cell.waiting ? text('asks') : null,
    // The end of a narrow cell is left out: the time comes before the exemption.
    cell.since === null ? null : ageText(now, cell.since),
    cell.waiting ? null : (cell.exemption?.replaceAll('_', ' ') ?? null),
  ]
    .filter((part) => part !== null)
    .join(' · ');

/** The title of a cell, such as `worker-1: STUCK, asks, task T-1`. */
export const cellTitle = ({ agentId, state, waiting, taskId }: Cell, text: Known['text']): string => {
  const about = taskId === null ? null : `task ${taskId}`;
  const parts = [text(state), waiting ? text('asks') : null, about];
  return `${agentId}: ${parts.filter((part) => part !== null).join(', ')}`;
};

/** How many agents are in each state. */
export const countsOf = (cells: readonly Cell[]): Readonly<Record<State, number>> => {
  const counts = { HEALTHY: 0, DEGRADED: 0, STUCK: 0, FAILING: 0, TERMINATED: 0, UNKNOWN: 0 };
  for (const { state } of cells) counts[state] += 1;
  return counts;
};

/** The agents that changed last, the newest first. One pass: there may be 10,000. */
export const lately = (cells: readonly Cell[], most: number): readonly Cell[] => {
  const newest: Cell[] = [];
  for (const cell of cells) {
    const last = newest.length < most ? Number.NEGATIVE_INFINITY : (newest.at(-1)?.since ?? 0);
    if (cell.since === null || cell.since <= last) continue;
    const place = newest.findIndex(({ since }) => (since ?? 0) < (cell.since ?? 0));
    newest.splice(place < 0 ? newest.length : place, 0, cell);
    if (newest.length > most) newest.pop();
  }
  return newest;
};
