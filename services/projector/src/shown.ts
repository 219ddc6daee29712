import type { ReadFleet } from '@vigil/chassis';
import { type Database, figures } from '@vigil/read-model';

/** The fleet's numbers for `/metrics`, from the rows. */
export const fleetIn =
  (database: Database): ReadFleet =>
  async () => {
    const { agents, openCases } = await figures(database);
    return {
      agents: agents.map(({ state, count }) => ({ value: count, labels: { state } })),
      cases_open: openCases.map(({ waitsFor, count }) => ({ value: count, labels: { waits_for: waitsFor } })),
    };
  };
