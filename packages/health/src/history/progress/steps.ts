import type { Heartbeat, Receipt } from '../moment.ts';

/** The number of a judge's decisions that are stored. */
const RECENT = 8;

/** The decisions of a judge about the agent's steps. */
export type Steps = {
  /** cumulative within the instance; null: never reported */
  readonly total: number | null;
  /** mark at which `total` last changed; null: never reported */
  readonly changed: number | null;
  /** reported steps since the last ACCEPT */
  readonly sinceAccept: number;
  /** when `sinceAccept` last grew, on `now`'s axis */
  readonly at: number;
  /** the newest last */
  readonly recent: readonly string[];
  /** RETRY in a row, at the end of the decisions */
  readonly retries: number;
};

export const NO_STEPS: Steps = { total: null, changed: null, sinceAccept: 0, at: 0, recent: [], retries: 0 };

export const stepsAfter = (before: Steps, { steps }: Heartbeat, receipt: Receipt): Steps => {
  if (steps === null) return before;
  const { total_steps: total, verdicts } = steps;
  if (total === before.total && verdicts.length === 0) return before;
  const sinceAccept = sinceAcceptAfter(before, total, verdicts);
  return {
    total,
    changed: total === before.total ? before.changed : receipt.watched,
    sinceAccept,
    at: sinceAccept === before.sinceAccept ? before.at : receipt.now,
    recent: [...before.recent, ...verdicts].slice(-RECENT),
    retries: retriesAfter(before.retries, verdicts),
  };
};

/** A step counts with or without a decision of its own. Steps before the first report are unknown and do not count. */
const sinceAcceptAfter = (before: Steps, total: number, verdicts: readonly string[]): number => {
  const accepted = verdicts.lastIndexOf('ACCEPT');
  if (accepted >= 0) return verdicts.length - 1 - accepted;
  return before.sinceAccept + Math.max(verdicts.length, before.total === null ? 0 : total - before.total);
};

const retriesAfter = (before: number, verdicts: readonly string[]): number => {
  let retries = before;
  for (const verdict of verdicts) retries = verdict === 'RETRY' ? retries + 1 : 0;
  return retries;
};
