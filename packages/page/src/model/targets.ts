import { spell } from '@vigil/policy';
import type { Targets } from '@vigil/read-model';

/** One of the targets of the design, with its present figure. `isMet`: null without a figure. */
export type Target = {
  readonly name: string;
  readonly figure: string;
  readonly aim: string;
  readonly isMet: boolean | null;
  readonly of: string;
};

const MINUTE_MS = 60_000;
/** The aims of the design: detection and intervention in minutes, rates in parts of one. */
const AIMS = { detectionMs: 5 * MINUTE_MS, interventionMs: 10 * MINUTE_MS, recovery: 0.95, falsePositives: 0.01 };

const percent = (rate: number): string => `${Math.round(rate * 1000) / 10} %`;

type Delay = Targets['detection'];
type Rate = Targets['recovery'];

const delay = (name: string, { count, p95Ms }: Delay, aimMs: number, of: string): Target => ({
  ...{ name, of: `95 % of ${count} ${of}`, aim: `target below ${spell(aimMs)}` },
  figure: p95Ms === null ? '-' : spell(p95Ms),
  isMet: p95Ms === null ? null : p95Ms < aimMs,
});

const rate = (
  name: string,
  { part, all, rate: found }: Rate,
  aim: string,
  isMet: (rate: number) => boolean,
): Target => ({
  ...{ name, aim, of: `${part} of ${all}` },
  figure: found === null ? '-' : percent(found),
  isMet: found === null ? null : isMet(found),
});

export const targetsOf = ({ detection, intervention, recovery, falsePositives }: Targets): readonly Target[] => [
  delay('Detection', detection, AIMS.detectionMs, 'findings'),
  delay('Intervention', intervention, AIMS.interventionMs, 'cases'),
  rate('Recovery', recovery, `target above ${percent(AIMS.recovery)}`, (found) => found > AIMS.recovery),
  rate(
    'False positives',
    falsePositives,
    `target below ${percent(AIMS.falsePositives)}`,
    (found) => found < AIMS.falsePositives,
  ),
];
