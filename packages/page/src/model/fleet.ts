import type { AgentRow } from '@vigil/read-model';

export type State = AgentRow['state'];

/** The states in the order in which people look at them. */
export const STATES: readonly State[] = ['FAILING', 'STUCK', 'DEGRADED', 'UNKNOWN', 'HEALTHY', 'TERMINATED'];

/** One agent of the fleet, as small as a page of 10,000 needs it. Times are epoch milliseconds. */
export type Cell = Pick<
  AgentRow,
  'agentId' | 'state' | 'since' | 'exemption' | 'taskId' | 'host' | 'policyName' | 'unhealthy' | 'labels'
> & {
  /** a case, a permission or a question of it waits for a person */
  readonly asksPeople: boolean;
};

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
  if (cell.asksPeople) return 0;
  return cell.unhealthy ? 1 + STATES.indexOf(cell.state) : 10 + STATES.indexOf(cell.state);
};

const byText = (one: string | null, other: string | null): number => {
  if (one === other) return 0;
  if (one === null) return 1;
  return other === null || one < other ? -1 : 1;
};

const ORDERS: Readonly<Record<Sort, (one: Cell, other: Cell) => number>> = {
  urgency: (one, other) => urgency(one) - urgency(other),
  name: () => 0,
  changed: (one, other) => (other.since ?? 0) - (one.since ?? 0),
  task: (one, other) => byText(one.taskId, other.taskId),
  host: (one, other) => byText(one.host, other.host),
};

/** The agents that the filter asks for, in its order; by name where the order does not differ. */
export const shownCells = (cells: readonly Cell[], { find, state, sort, ended }: Filter): readonly Cell[] => {
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  const isShown = (cell: Cell): boolean => {
    if (state !== null ? cell.state !== state : cell.state === 'TERMINATED' && !ended && !cell.unhealthy) return false;
    if (words.length === 0) return true;
    const text = textOf(cell);
    return words.every((word) => text.includes(word));
  };
  const order = ORDERS[sort];
  return cells.filter(isShown).toSorted((one, other) => order(one, other) || byText(one.agentId, other.agentId));
};

/** How many agents are in each state. */
export const countsOf = (cells: readonly Cell[]): Readonly<Record<State, number>> => {
  const counts = { HEALTHY: 0, DEGRADED: 0, STUCK: 0, FAILING: 0, TERMINATED: 0, UNKNOWN: 0 };
  for (const { state } of cells) counts[state] += 1;
  return counts;
};

/** The agents that changed last, the newest first. */
export const lately = (cells: readonly Cell[], most: number): readonly Cell[] =>
  cells
    .filter(({ since }) => since !== null)
    .toSorted((one, other) => (other.since ?? 0) - (one.since ?? 0) || byText(one.agentId, other.agentId))
    .slice(0, most);
