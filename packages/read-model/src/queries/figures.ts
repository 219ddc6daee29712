import type { HealthState } from '@vigil/events';
import type { Sql } from '../apply.ts';
import { KNOWN_AGENTS } from './agents.ts';
import { WAITING } from './cases.ts';
import { select } from './select.ts';

/** The numbers of the fleet now. An agent that has ended is counted as TERMINATED until its row is gone. */
export type Figures = {
  readonly agents: readonly { readonly state: HealthState; readonly count: number }[];
  readonly openCases: readonly { readonly waitsFor: 'person' | 'service'; readonly count: number }[];
};

export const figures = async (sql: Sql): Promise<Figures> => ({
  agents: await select(
    sql,
    `${KNOWN_AGENTS} SELECT current_state AS state, count(*)::int AS count FROM judged GROUP BY 1 ORDER BY 1`,
  ),
  openCases: await select(
    sql,
    `SELECT CASE WHEN ${WAITING} THEN 'person' ELSE 'service' END AS "waitsFor",
            count(*)::int AS count
     FROM cases WHERE opened_order IS NOT NULL AND closed_order IS NULL GROUP BY 1 ORDER BY 1`,
  ),
});
