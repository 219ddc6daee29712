import type { EventOf, Topic } from '@vigil/events';

type Governance = EventOf<typeof Topic.fleetGovernance>;

/** Whether the fleet is halted, as the governor has announced it. */
export type Halts = {
  /** `offset`: in its topic, which has one partition; the newest counts, in any order of the calls */
  readonly observe: (event: Governance, offset: number) => void;
  readonly isHalted: () => boolean;
  /** the newest halt or resume has been read */
  readonly isKnown: () => boolean;
};

export const createHalts = (): Halts => {
  let newest = -1;
  let halted = false;
  return {
    observe: ({ type }, offset) => {
      if ((type !== 'FLEET_HALTED' && type !== 'FLEET_RESUMED') || offset <= newest) return;
      newest = offset;
      halted = type === 'FLEET_HALTED';
    },
    isHalted: () => halted,
    isKnown: () => newest >= 0,
  };
};
