import type { Heartbeat, Receipt } from '../moment.ts';

/** The number of exceeded limits that are stored; one is enough for a finding. */
export const MOST = 2;
const NAME_CHARACTERS = 40;

/** A limit that was exceeded at its last report. `at`: the start, on `now`'s axis. */
export type Exceeded = { readonly name: string; readonly used: number; readonly max: number; readonly at: number };

export const NO_LIMITS: readonly Exceeded[] = [];

/** A limit that a heartbeat does not mention keeps its reported state. */
export const limitsAfter = (
  before: readonly Exceeded[],
  heartbeat: Heartbeat,
  { now }: Receipt,
): readonly Exceeded[] => {
  let after = before;
  for (const { name, used, max } of heartbeat.limits)
    after = reported(after, { name: name.slice(0, NAME_CHARACTERS), used, max, at: now });
  return after;
};

const reported = (before: readonly Exceeded[], report: Exceeded): readonly Exceeded[] => {
  const known = before.find(({ name }) => name === report.name);
  if (!exceeded(report)) return known ? before.filter((one) => one !== known) : before;
  if (known) return before.map((one) => (one === known ? { ...report, at: known.at } : one));
  return before.length < MOST ? [...before, report] : before;
};

/** A maximum of zero or less, and a figure that is not a number, is ignored. */
const exceeded = ({ used, max }: Exceeded): boolean =>
  Number.isFinite(used) && Number.isFinite(max) && max > 0 && used > max;
