import type { ReplayProgress } from '@vigil/health/replay';
import type { Replay, ReplayResult, ReplayRow } from '@vigil/read-model';
import { Problem } from '../problem.ts';
import type { ReplaySpec } from './fold.ts';

/** Replays that wait behind the running one. */
const MOST_WAITING = 4;
/** Replays of one caller that wait or run. */
const MOST_OF_CALLER = 2;
/** Ended replays that are kept, and for how long, milliseconds. */
const MOST_KEPT = 20;
const KEPT_MS = 3_600_000;
/** How long a replay may run, milliseconds. */
export const RUN_LIMIT_MS = 1_800_000;

/** Its message is for the person who asked. */
export class ReplayFailed extends Error {
  override readonly name = 'ReplayFailed';
}

/** Rejects with ReplayFailed, with the reason of the signal, or with an error for the log. */
export type RunReplay = (spec: ReplaySpec, onProgress: ReplayProgress, signal: AbortSignal) => Promise<ReplayResult>;

/** What is asked, and the names for its row. */
export type AskedReplay = {
  readonly spec: ReplaySpec;
  readonly policy: { readonly name: string; readonly hash: string } | null;
  readonly by: string;
};

export type ReplaysDeps = {
  readonly run: RunReplay;
  readonly limitMs: number;
  readonly newId: () => string;
  /** epoch milliseconds */
  readonly now: () => number;
  readonly onFailure: (error: unknown) => void;
  /** ends all replays */
  readonly signal: AbortSignal;
};

export type Replays = {
  /** Throws Problem 429 where too many wait. */
  readonly start: (asked: AskedReplay) => ReplayRow;
  /** newest first */
  readonly all: () => readonly ReplayRow[];
  readonly find: (replayId: string) => Replay | null;
  /** Ends a replay that waits or runs; leaves one that has ended as it is. */
  readonly cancel: (replayId: string, by: string) => ReplayRow | null;
};

type Kept = {
  row: ReplayRow;
  result: ReplayResult | null;
  readonly spec: ReplaySpec;
  readonly end: AbortController;
};

const isUnder = ({ row: { state } }: Kept): boolean => state === 'waiting' || state === 'running';

const MINUTE_MS = 60_000;

const busy = (detail: string): Problem => new Problem(429, 'too_many_replays', detail);

/**
 * The replays of this dashboard: one runs at a time, and a few wait. They and their results are only in memory, the newest ones for an
 * hour.
 */
export const openReplays = ({ run, limitMs, newId, now, onFailure, signal }: ReplaysDeps): Replays => {
  const kept = new Map<string, Kept>();
  let isRunning = false;

  const change = (one: Kept, more: Partial<ReplayRow>): void => {
    one.row = { ...one.row, ...more };
  };

  const forget = (): void => {
    for (const [id, { row }] of kept) if ((row.keptUntil ?? Infinity) <= now()) kept.delete(id);
    const ended = [...kept.values()].filter((one) => !isUnder(one));
    for (const { row } of ended.slice(0, Math.max(0, ended.length - MOST_KEPT))) kept.delete(row.replayId);
  };

  const finish = (one: Kept, state: 'done' | 'failed' | 'cancelled', why: string | null): void => {
    if (!isUnder(one)) return;
    change(one, { state, why, endedAt: now(), keptUntil: now() + KEPT_MS });
    forget();
  };

  const whyOf = (error: unknown): string => {
    if (error instanceof ReplayFailed) return error.message;
    onFailure(error);
    return 'The replay has failed; the log of the dashboard has the reason.';
  };

  const runOne = async (one: Kept): Promise<void> => {
    const limit = AbortSignal.timeout(limitMs);
    change(one, { state: 'running', begunAt: now() });
    try {
      const ends = AbortSignal.any([one.end.signal, limit, signal]);
      const result = await run(one.spec, (done, of) => change(one, { done, of }), ends);
      if (isUnder(one)) one.result = result;
      finish(one, 'done', null);
    } catch (error) {
      if (one.end.signal.aborted || signal.aborted) finish(one, 'cancelled', 'the dashboard has stopped');
      else if (limit.aborted)
        finish(
          one,
          'failed',
          `a replay may run for ${limitMs / MINUTE_MS} min: use \`vigil replay\` on the command line for this span`,
        );
      else finish(one, 'failed', whyOf(error));
    }
  };

  const runAll = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    for (;;) {
      const next = [...kept.values()].find(({ row }) => row.state === 'waiting');
      if (next === undefined || signal.aborted) break;
      await runOne(next);
    }
    isRunning = false;
  };

  return {
    start: ({ spec, policy, by }) => {
      forget();
      const under = [...kept.values()].filter(isUnder);
      if (under.filter(({ row }) => row.by === by).length >= MOST_OF_CALLER)
        throw busy(`${MOST_OF_CALLER} replays of ${by} wait or run: cancel one of them, or wait for its end.`);
      if (under.length > MOST_WAITING)
        throw busy(
          `One replay runs and ${MOST_WAITING} wait: try again later, or use \`vigil replay\` on the command line.`,
        );
      const { from, to, agent } = spec.span;
      const insteadOf = spec.kind !== 'what_if' || spec.insteadOf === 'all' ? null : spec.insteadOf;
      const row: ReplayRow = {
        ...{ replayId: newId(), kind: spec.kind, since: from, until: to, agentId: agent, insteadOf, by },
        ...{ policyName: policy?.name ?? null, policyHash: policy?.hash ?? null },
        ...{ state: 'waiting', askedAt: now(), begunAt: null, endedAt: null, done: 0, of: null, why: null },
        keptUntil: null,
      };
      const one: Kept = { row, result: null, spec, end: new AbortController() };
      kept.set(row.replayId, one);
      void runAll();
      return one.row;
    },
    all: () => {
      forget();
      return [...kept.values()].map(({ row }) => row).toReversed();
    },
    find: (replayId) => {
      forget();
      const one = kept.get(replayId);
      return one === undefined ? null : { ...one.row, result: one.result };
    },
    cancel: (replayId, by) => {
      forget();
      const one = kept.get(replayId);
      if (one === undefined) return null;
      finish(one, 'cancelled', `cancelled by ${by}`);
      one.end.abort();
      return one.row;
    },
  };
};
