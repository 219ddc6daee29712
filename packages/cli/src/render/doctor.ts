import { spell } from '@vigil/policy';
import type { FleetRow } from '@vigil/read-model';
import { fleetLines } from './fleet.ts';
import { ageText, clockTime, type View } from './view.ts';

/** The dashboard's answer to /v1/doctor. */
export type Findings = {
  readonly services: readonly { readonly service: string; readonly ready: boolean; readonly said: string }[];
  readonly time: readonly { readonly processor: string; readonly ageMs: number | null }[];
  readonly lag: readonly { readonly group: string; readonly atMost: number | null }[];
  readonly duplicates: readonly {
    readonly agentId: string;
    readonly instanceId: string | null;
    readonly otherInstanceId: string;
    readonly count: number | null;
    readonly at: number | null;
  }[];
  readonly replayFrom: number | null;
  readonly fleet: FleetRow;
};

/** Time that has not moved for longer is a processor that stands. */
const OLD_MS = 15_000;

const stale = (ageMs: number | null): boolean => ageMs === null || ageMs > OLD_MS;

/** Whether everything is as it should be; duplicates and a halt are people's own. */
export const isWell = ({ services, time }: Findings): boolean =>
  services.every(({ ready }) => ready) && time.every(({ ageMs }) => !stale(ageMs));

export function doctorLines(view: View, found: Findings): string[] {
  const { paint } = view;
  const mark = (good: boolean) => (good ? paint.green('ok ') : paint.red('BAD'));
  return [
    ...found.services.map(({ service, ready, said }) => `${mark(ready)}  ${service}${ready ? '' : `: ${said}`}`),
    ...found.time.map(
      ({ processor, ageMs }) =>
        `${mark(!stale(ageMs))}  time of ${processor}: ${ageMs === null ? 'stands: no tick for over 15 s' : `${spell(ageMs)} old`}`,
    ),
    ...found.lag.map(
      ({ group, atMost }) =>
        `     lag of ${group}: ${atMost === null ? 'unknown' : `at most ${atMost} records, ticks counted`}`,
    ),
    ...found.duplicates.map(
      ({ agentId, instanceId, otherInstanceId, at }) =>
        `${paint.yellow('two')}  ${agentId} is two lives: ${instanceId} and ${otherInstanceId}${at === null ? '' : `, ${ageText(view, at)} ago`}`,
    ),
    `     replay reaches back to ${found.replayFrom === null ? 'nowhere: nothing was observed yet' : clockTime(view, found.replayFrom)}`,
    ...fleetLines(view, found.fleet),
  ];
}
