import { byName } from '@vigil/read-model/names';
import type { Cell } from './fleet.ts';

/** The answer of `/v1/fleet/cells`: one row an agent, with a value for each of `fields`. */
export type CellsAnswer = {
  readonly fields: readonly string[];
  readonly agents: readonly (readonly unknown[])[];
  /** each set of labels once; a row has its index */
  readonly labels: readonly Cell['labels'][];
};

const NO_LABELS: Cell['labels'] = {};

/** The cells of an answer, by name. */
export const cellsOf = ({ fields, agents, labels }: CellsAnswer): readonly Cell[] =>
  agents
    .map((row) => {
      const cell: Record<string, unknown> = {};
      fields.forEach((field, at) => {
        cell[field] = row[at];
      });
      cell.labels = labels[Number(cell.labels)] ?? NO_LABELS;
      return cell as Cell;
    })
    .sort((one, other) => byName(one.agentId, other.agentId));
