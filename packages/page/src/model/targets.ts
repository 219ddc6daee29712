import { spell } from '@vigil/policy';
import type { Speed, Targets } from '@vigil/read-model';
import type { Known } from './knowledge.ts';

/** One of the targets of the design, with its present figure. `isMet`: null without a figure. */
export type Target = {
  readonly name: string;
  readonly figure: string;
  readonly aim: string;
  readonly isMet: boolean | null;
  readonly of: string;
};

const NO_FIGURE = '-';
const MINUTE_MS = 60_000;
/** The aims of the design: detection and intervention in minutes, rates in parts of one. */
const AIMS = { detectionMs: 5 * MINUTE_MS, interventionMs: 10 * MINUTE_MS, recovery: 0.95, falsePositives: 0.01 };

const CHECK_MS = 100;
const HEARTBEAT_MS = 50;
const TRANSITION_MS = 1000;
const WATCHED = 100;

const shortText = (ms: number): string => (ms < 1000 ? `${ms} ms` : spell(ms));

const percent = (rate: number): string => `${Math.round(rate * 1000) / 10} %`;

type Delay = Targets['detection'];
type Rate = Targets['recovery'];

const delay = (name: string, { count, p95Ms }: Delay, aimMs: number, of: string): Target => ({
  ...{ name, of: `95 % of ${count} ${of}`, aim: `target below ${spell(aimMs)}` },
  figure: p95Ms === null ? NO_FIGURE : spell(p95Ms),
  isMet: p95Ms === null ? null : p95Ms < aimMs,
});

const rate = (
  name: string,
  { part, all, rate: found }: Rate,
  aim: string,
  isMet: (rate: number) => boolean,
): Target => ({
  ...{ name, aim, of: `${part} of ${all}` },
  figure: found === null ? NO_FIGURE : percent(found),
  isMet: found === null ? null : isMet(found),
});

/** By a histogram: its bounds are all that is known. A bound that is the aim does not show that the figure is below it. */
const speed = (name: string, { count, p95AtMostMs }: Speed, aimMs: number, of: string): Target => ({
  ...{ name, of: `95 % of ${count} ${of}`, aim: `target below ${shortText(aimMs)}` },
  figure:
    count === 0 ? NO_FIGURE : p95AtMostMs === null ? 'longer than is measured' : `at most ${shortText(p95AtMostMs)}`,
  isMet: count === 0 || p95AtMostMs === aimMs ? null : p95AtMostMs !== null && p95AtMostMs < aimMs,
});

/** A smaller fleet does not show whether the target is met. */
const watching = (watched: number): Target => ({
  ...{ name: 'Agents watched', figure: watched.toLocaleString('en-US'), aim: `target ${WATCHED} and more at once` },
  ...{ isMet: watched >= WATCHED ? true : null, of: 'agents that have not ended' },
});

export const targetsOf = (targets: Targets): readonly Target[] => {
  const { detection, intervention, recovery, falsePositives, watched, speeds } = targets;
  return [
    delay('Detection', detection, AIMS.detectionMs, 'findings'),
    delay('Intervention', intervention, AIMS.interventionMs, 'cases'),
    rate('Recovery', recovery, `target above ${percent(AIMS.recovery)}`, (found) => found > AIMS.recovery),
    rate(
      'False positives',
      falsePositives,
      `target below ${percent(AIMS.falsePositives)}`,
      (found) => found < AIMS.falsePositives,
    ),
    speed('Health check', speeds.check, CHECK_MS, 'batches of heartbeats since the evaluator started'),
    speed('Heartbeat', speeds.heartbeat, HEARTBEAT_MS, 'batches of heartbeats since heartbeat-ingest started'),
    speed('State change', speeds.transition, TRANSITION_MS, 'limits reached since the evaluator started'),
    watching(watched),
  ];
};

/** The figure and its class: green or red where it is met or missed. A blind page has it without colour, as it was. */
export const figureOf = (
  { figure, isMet }: Target,
  { isNow, text, tone }: Known,
): { readonly text: string; readonly tone: string } => ({
  text: figure === NO_FIGURE ? figure : text(figure),
  tone: isMet === null && isNow ? 'dim' : tone(isMet ? 'met' : 'bad'),
});
