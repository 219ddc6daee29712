import type { FleetRow } from '@vigil/read-model';
import { orDash, type View } from '../view.ts';

/** The same in a word each, for a title. */
export const fleetWords = ({ halted, braked, dryRun }: FleetRow): readonly string[] => [
  ...(halted ? ['HALTED'] : []),
  ...(braked ? ['BRAKE'] : []),
  ...(dryRun ? ['DRY RUN'] : []),
];

/** What holds the whole fleet; nothing where nothing does. */
export const fleetLines = ({ paint }: View, fleet: FleetRow): string[] => [
  ...(fleet.halted ? [paint.red(`HALTED by ${orDash(fleet.haltBy)}: ${orDash(fleet.haltWhy)}. Nothing acts.`)] : []),
  ...(fleet.braked
    ? [paint.red(`BRAKE on ${orDash(fleet.brakeScope).replace(':', ' ')}: ${orDash(fleet.brakeWhy)}`)]
    : []),
  ...(fleet.dryRun
    ? [paint.yellow(`DRY RUN by ${orDash(fleet.dryRunBy)}: steps only report what they would do.`)]
    : []),
];
