import { spell } from '@vigil/policy';
import type { Doctor, HangingTransaction, PartFound, ProcessorTime, StuckSweep } from '@vigil/read-model';
import { ageText, clockTime, type View } from '../view.ts';
import { fleetLines } from './fleet.ts';

/** Time that has not moved for longer is a processor that stands. */
const OLD_MS = 15_000;

/** Clocks of one fleet differ by less; a larger lead means a broker whose clock is wrong, or was. */
const AHEAD_MS = 30_000;

const isTimely = ({ ageMs, aheadMs }: ProcessorTime): boolean => !stale(ageMs) && aheadMs <= AHEAD_MS;

const describeTime = ({ ageMs, aheadMs }: ProcessorTime): string => {
  if (aheadMs > AHEAD_MS)
    return `${spell(aheadMs)} ahead of this host: the clock of a broker is wrong, or was; nothing falls due until it is right again`;
  return ageMs === null ? 'stands: no tick for over 15 s' : `${spell(ageMs)} old`;
};

const stale = (ageMs: number | null): boolean => ageMs === null || ageMs > OLD_MS;

const axesOf = ({ patterns, progressMismatch }: StuckSweep): string => {
  const regex = patterns === 0 ? 'off (no patterns)' : `on (${patterns} patterns)`;
  const axes = patterns === null ? [] : [`regex ${regex}`];
  return [...axes, `progress mismatch ${progressMismatch ? 'on' : 'off'}`].join(', ');
};

const REMEDY = 'nothing can be found: give error_pattern patterns, or use progress_mismatch';

const sweepLine = (view: View, sweep: StuckSweep): string => {
  const { policy, state, thresholdMs, label } = sweep;
  const mark = { disabled: '   ', misconfigured: view.paint.yellow('mis'), enabled: view.paint.green('ok ') }[state];
  const why = state === 'misconfigured' ? ` (${REMEDY})` : '';
  return `${mark}  stuck sweep of ${policy}: ${state}${why}; threshold ${spell(thresholdMs)}, label ${label}; axes: ${axesOf(sweep)}`;
};

/** Whether everything is as it should be; duplicates and a halt are people's own. */
export const isWell = ({ services, time, hanging, unknown }: Doctor): boolean =>
  services.every(({ ready }) => ready) && time.every(isTimely) && hanging.length === 0 && unknown.length === 0;

/** The name that the dashboard gives this question where it has no answer. */
const REACH = 'the reach of replay';

/** An unknown reach has a line of its own. */
const reachLines = (view: View, { replayFrom, unknown }: Doctor): readonly string[] =>
  unknown.some(({ what }) => what === REACH)
    ? []
    : [
        `     replay reaches back to ${replayFrom === null ? 'nowhere: nothing was observed yet' : clockTime(view, replayFrom)}`,
      ];

const mark = ({ paint }: View, good: boolean): string => (good ? paint.green('ok ') : paint.red('BAD'));

export const partLines = (view: View, parts: readonly PartFound[]): readonly string[] =>
  parts.map(({ service, ready, detail, since }) => {
    const from = since === null ? '' : ` since ${clockTime(view, since)}`;
    return `${mark(view, ready)}  ${service}${ready ? '' : `${from}: ${detail}`}`;
  });

export const doctorLines = (view: View, found: Doctor): string[] => {
  const { paint } = view;
  return [
    ...partLines(view, found.services),
    ...found.time.map((time) => `${mark(view, isTimely(time))}  time of ${time.processor}: ${describeTime(time)}`),
    ...found.unknown.map(({ what, why }) => `${mark(view, false)}  ${what}: unknown (${why})`),
    ...found.hanging.map(
      ({ topic, partition, stableEnd, end, forMs }) =>
        `${mark(view, false)}  ${topic}/${partition}: a transaction hangs at ${stableEnd} of ${end} for ${spell(forMs)}: vigil transactions`,
    ),
    ...found.lag.map(
      ({ group, atMost }) =>
        `     lag of ${group}: ${atMost === null ? 'unknown' : `at most ${atMost} records, ticks counted`}`,
    ),
    ...found.duplicates.map(
      ({ agentId, instanceId, otherInstanceId, at }) =>
        `${paint.yellow('two')}  ${agentId} has two instances: ${instanceId} and ${otherInstanceId}${at === null ? '' : `, ${ageText(view, at)} ago`}`,
    ),
    ...reachLines(view, found),
    // A sweep that is off concerns no user of another policy; --json has it.
    ...found.sweeps.filter(({ state }) => state !== 'disabled').map((sweep) => sweepLine(view, sweep)),
    ...(found.fleet === null ? [] : fleetLines(view, found.fleet)),
  ];
};

const tool = (brokers: readonly string[], rest: string): string =>
  `  kafka-transactions.sh --bootstrap-server ${brokers.join(',')} ${rest}`;

/** What to do about each, in the order in which it is to be done. */
export const hangingLines = (
  { paint }: View,
  hanging: readonly HangingTransaction[],
  brokers: readonly string[],
): string[] => {
  if (hanging.length === 0) return ['No transaction hangs.'];
  return [
    ...hanging.map(
      ({ topic, partition, stableEnd, end, forMs }) =>
        `${paint.red('BAD')}  ${topic}/${partition} stands at ${stableEnd} of ${end} for ${spell(forMs)}`,
    ),
    '',
    'Ending it loses what the transaction wrote to the partition: look first what was decided.',
    '1. Stop the service that writes there.',
    "2. Look at the state of its transactional id, <processor>-<partition>, with the tool of your Kafka's version:",
    tool(brokers, 'describe --transactional-id ID'),
    '   CompleteCommit: it was committed, and its other partitions show it. Abort only where every partition of it hangs.',
    '3. Abort, once a partition:',
    ...hanging.map(({ topic, partition, stableEnd }) =>
      tool(brokers, `abort --topic ${topic} --partition ${partition} --start-offset ${stableEnd}`),
    ),
    '4. Start the service again; vigil doctor shows whether readers get further.',
  ];
};
