import type { EventOf, Topic } from '@vigil/events';

/** Whether the fleet is halted, as the governor has announced it. */
export const createHalts = () => {
  let newest = -1;
  let halted = false;
  return {
    /** `offset`: in its topic, which has one partition; the newest counts, in any order of the calls */
    observe: ({ type }: EventOf<typeof Topic.fleetGovernance>, offset: number): void => {
      if ((type !== 'FLEET_HALTED' && type !== 'FLEET_RESUMED') || offset <= newest) return;
      newest = offset;
      halted = type === 'FLEET_HALTED';
    },
    isHalted: (): boolean => halted,
    /** the newest halt or resume has been read */
    isKnown: (): boolean => newest >= 0,
  };
};
