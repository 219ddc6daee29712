import { type Announcement, type AnnouncementContext, announcement } from './events.ts';

/**
 * A heartbeat that was delayed looks like a clock that is behind, so each heartbeat of a watched minute has to be off.
 * While the way to the broker is interrupted, all are delayed, and no time is watched.
 */
const OFF_FOR_MS = 60_000;

/**
 * Announces a clock beyond the policy's tolerance once, and its end once. It ends at half the tolerance, so that a clock near the tolerance is
 * announced once. It is not a finding: no state, plan or order follows from it.
 */
export const clockChanged = (context: AnnouncementContext): Announcement[] => {
  const { state, rules } = context;
  const { driftMs } = state.history.lastReceipt;
  if (state.announced.clock === undefined) {
    const { clockToleranceMs: toleranceMs } = rules.policy;
    return isDrifted(context) ? [announcement(context, 'CLOCK_DRIFTED', { driftMs, toleranceMs })] : [];
  }
  const why = whyEnded(context, state.announced.clock.instanceNumber);
  return why === null ? [] : [announcement(context, 'CLOCK_DRIFT_ENDED', { driftMs, why })];
};

/** A sub-agent has the clock of its parent. */
const isDrifted = ({ state: { excluded, history, clockOffSince } }: AnnouncementContext): boolean =>
  !excluded &&
  history.end === null &&
  history.identity.parentId === null &&
  clockOffSince !== undefined &&
  history.lastReceipt.watched - clockOffSince >= OFF_FOR_MS;

const whyEnded = ({ state, rules }: AnnouncementContext, announced: number): string | null => {
  const { excluded, history, instanceNumber } = state;
  if (announced !== instanceNumber) return 'another instance has started';
  if (history.end !== null) return 'it has ended';
  if (excluded) return 'its policy excludes it';
  return Math.abs(history.lastReceipt.driftMs) <= rules.policy.clockToleranceMs / 2 ? 'its clock is right again' : null;
};
