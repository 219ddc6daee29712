import type { CellRow } from '@vigil/read-model';

/** The columns of a cell. `labels` is the index of an entry of `labels` of the answer. */
const FIELDS = [
  'agentId',
  'state',
  'exemption',
  'since',
  'taskId',
  'policyName',
  'host',
  'unhealthy',
  'waiting',
  'held',
  'labels',
] as const satisfies readonly (keyof CellRow)[];

export type Cells = {
  readonly fields: typeof FIELDS;
  /** one row an agent, with a value for each of `fields` */
  readonly agents: readonly (readonly unknown[])[];
  /** each set of labels once */
  readonly labels: readonly CellRow['labels'][];
};

/** All agents in few bytes: 10,000 of them are sent at each look at the fleet. */
export const cellsOf = (rows: readonly CellRow[]): Cells => {
  const indexes = new Map<string, number>();
  const labels: CellRow['labels'][] = [];
  const indexOf = (one: CellRow['labels']): number => {
    const text = JSON.stringify(one);
    const known = indexes.get(text);
    if (known !== undefined) return known;
    indexes.set(text, labels.length);
    return labels.push(one) - 1;
  };
  const agents = rows.map((row) => FIELDS.map((field) => (field === 'labels' ? indexOf(row.labels) : row[field])));
  return { fields: FIELDS, agents, labels };
};
