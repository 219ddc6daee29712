import { spell } from '@vigil/policy';
import type { Doctor, HangingTransaction, PartFound, ProcessorTime, StuckSweep, Unknown } from '@vigil/read-model';
import { ageText, clockTime, type View } from '../view.ts';
import { fleetLines } from './fleet.ts';

/** Time that has not moved for longer is a processor that stands. Rows that are older are behind. */
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

type Lag = Doctor['lag'][number];

/** Where nothing is projected yet, no row is late. */
const isInTime = ({ behindMs }: Lag): boolean => (behindMs ?? 0) <= OLD_MS;

const describeLag = ({ atMost, behindMs }: Lag): string => {
  const rows = behindMs === null ? 'nothing is projected yet' : `its rows are ${spell(behindMs)} old`;
  return `${rows}, ${atMost === null ? 'unread records unknown' : `at most ${atMost} records unread, ticks counted`}`;
};

/** Whether everything is as it should be; duplicates and a halt are people's own. */
export const isWell = ({ services, time, lag, hanging, unknown }: Doctor): boolean =>
  services.every(({ ready }) => ready) &&
  time.every(isTimely) &&
  lag.every(isInTime) &&
  hanging.length === 0 &&
  unknown.length === 0;

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

/** What to do, below the line of what is wrong. */
const todo = (text: string): string => `     what to do: ${text}`;

const LOG = 'its log has the reason (.vigil/logs under npm start)';
const AGAIN = 'npm start, compose and Kubernetes start an ended process again by themselves';

const isAway =
  (name: string) =>
  ({ service, ready }: PartFound): boolean =>
    service === name && !ready;

/** `parts`: all that were asked. */
const remedyFor = ({ service, detail }: PartFound, parts: readonly PartFound[]): string => {
  if (service === 'registry' && parts.some(isAway('postgres')))
    return 'repair postgres first: this registry may keep its schemas there';
  const [, server] = /while (\w+) is away/.exec(detail) ?? [];
  if (server !== undefined) return `repair ${server} first; then it continues by itself`;
  if (/not ready|with status/.test(detail)) return `repair the other parts first; if they are ok, ${LOG}`;
  if (/within/.test(detail))
    return `end its process if it is frozen (on the embedded log all services are one); ${AGAIN}; ${LOG}`;
  return `wait half a minute, because ${AGAIN}; if it stays away, start it; ${LOG}`;
};

/** When nothing else is known, it is away since this moment or longer. */
const sinceText = (view: View, since: number | null): string =>
  since === null ? `since ${clockTime(view, view.now)} or before` : `since ${clockTime(view, since)}`;

/** Parts in a row with the same remedy have it once, below the last of them. */
export const partLines = (view: View, parts: readonly PartFound[]): readonly string[] =>
  parts.flatMap((part, i) => {
    const { service, ready, detail, since } = part;
    if (ready) return [`${mark(view, true)}  ${service}`];
    const line = `${mark(view, false)}  ${service} ${sinceText(view, since)}: ${detail}`;
    const remedy = remedyFor(part, parts);
    const next = parts[i + 1];
    return next !== undefined && !next.ready && remedyFor(next, parts) === remedy ? [line] : [line, todo(remedy)];
  });

const timeLines = (view: View, time: ProcessorTime): readonly string[] => {
  const line = `${mark(view, isTimely(time))}  time of ${time.processor}: ${describeTime(time)}`;
  if (isTimely(time)) return [line];
  const clocks = 'correct the clocks of the brokers; time follows by itself';
  return [
    line,
    todo(time.aheadMs > AHEAD_MS ? clocks : `repair the parts above; if they are ok, start its service again: ${LOG}`),
  ];
};

const unknownLines = (view: View, { what, why, parts, since }: Unknown): readonly string[] => [
  `${mark(view, false)}  ${what} ${sinceText(view, since)}: unknown (${why})`,
  todo(
    parts.length === 0
      ? 'the servers that know it are well: repair the other parts above, or ask again'
      : `repair ${parts.join(' and ')}, above`,
  ),
];

export const doctorLines = (view: View, found: Doctor): string[] => {
  const { paint } = view;
  return [
    ...partLines(view, found.services),
    ...found.time.flatMap((time) => timeLines(view, time)),
    ...found.unknown.flatMap((one) => unknownLines(view, one)),
    ...found.hanging.map(
      ({ topic, partition, stableEnd, end, forMs }) =>
        `${mark(view, false)}  ${topic}/${partition}: a transaction hangs at ${stableEnd} of ${end} for ${spell(forMs)}: vigil transactions`,
    ),
    ...found.lag.flatMap((lag) => [
      `${mark(view, isInTime(lag))}  lag of ${lag.group}: ${describeLag(lag)}`,
      ...(isInTime(lag) ? [] : [todo(`repair the parts above; if they are ok, it catches up, or ${LOG}`)]),
    ]),
    ...found.duplicates.map(
      ({ agentId, instanceId, otherInstanceId, at }) =>
        `${paint.yellow('two')}  ${agentId} has two instances: ${instanceId} and ${otherInstanceId}${at === null ? '' : `, ${ageText(view, at)} ago`}`,
    ),
    ...reachLines(view, found),
    ...found.sweeps.map((sweep) => sweepLine(view, sweep)),
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
    "2. Find its transactional id, which begins with the processor's name, and look at its state, with the tool of your Kafka's version:",
    tool(brokers, 'list'),
    tool(brokers, 'describe --transactional-id ID'),
    '   CompleteCommit: it was committed, and its other partitions show it. Abort only where every partition of it hangs.',
    '3. Abort, once a partition:',
    ...hanging.map(({ topic, partition, stableEnd }) =>
      tool(brokers, `abort --topic ${topic} --partition ${partition} --start-offset ${stableEnd}`),
    ),
    '4. Start the service again; vigil doctor shows whether readers get further.',
  ];
};
