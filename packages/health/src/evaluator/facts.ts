import { type Clock, NEVER } from '@vigil/stream';
import { limitedUntil } from '../history/calls/rate-limits.ts';
import { type Moment, momentOn } from '../history/moment.ts';
import { contextPct } from '../history/usage/context.ts';
import type { KnownAgent } from './state.ts';

/** What is known of an agent's work, for programs with limits of their own. Times are on the broker's clock, epoch milliseconds. */
export type AgentFacts = {
  /** the last start or end of a call, or its start; null: no call was reported */
  readonly lastCallAt: number | null;
  /** for how long it has made no call, of the time that was watched, milliseconds; null as above */
  readonly idleMs: number | null;
  readonly lastTool: string | null;
  /** the limit that the arguments of the last call declare, milliseconds; null: none */
  readonly lastCallLimitMs: number | null;
  /** null: unknown */
  readonly contextPct: number | null;
  /** the last report of a rate limit that no report and no time has ended; null: none */
  readonly rateLimitedAt: number | null;
  /** the steps that a judge has looked at; null: none reports them */
  readonly totalSteps: number | null;
  readonly stepsSinceAccept: number;
  /** the newest last */
  readonly recentVerdicts: readonly string[];
  /** since the last new step, of the time that was watched, milliseconds; null: no step was reported */
  readonly stallMs: number | null;
};

export const factsOf = ({ history }: KnownAgent, clock: Clock): AgentFacts => {
  const moment: Moment = momentOn(history.axis, clock);
  const since = (mark: number | null): number | null => (mark === null ? null : Math.max(0, moment.watched - mark));
  const { calls, context, rateLimit, steps } = history;
  const idleMs = since(calls.last);
  return {
    lastCallAt: idleMs === null ? null : clock.now - idleMs,
    idleMs,
    lastTool: calls.lastTool,
    lastCallLimitMs: calls.lastSpanMs,
    contextPct: contextPct(context),
    rateLimitedAt: rateLimit !== null && limitedUntil(rateLimit, NEVER) > clock.now ? rateLimit.at : null,
    totalSteps: steps.total,
    stepsSinceAccept: steps.sinceAccept,
    recentVerdicts: steps.recent,
    stallMs: since(steps.changed),
  };
};
