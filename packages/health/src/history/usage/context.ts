import type { Heartbeat, Receipt } from '../moment.ts';

/** The use of an agent's context. */
export type Context = {
  /** used / max; null: unknown */
  readonly ratio: number | null;
  /** the start of this ratio, on `now`'s axis */
  readonly at: number;
  /** when the agent first handed off its work in a text since its context last shrank, on `now`'s axis; null: not since */
  readonly handoffAt: number | null;
};

export const NO_CONTEXT: Context = { ratio: null, at: 0, handoffAt: null };

export const contextAfter = (before: Context, heartbeat: Heartbeat, { now }: Receipt): Context => {
  if (heartbeat.context === null && heartbeat.handoff === null) return before;
  const ratio = heartbeat.context ? ratioOf(heartbeat.context.tokens_used, heartbeat.context.tokens_max) : before.ratio;
  const at = ratio === before.ratio ? before.at : now;
  const handoffAt = (ratio ?? 0) < (before.ratio ?? 0) ? null : before.handoffAt;
  return { ratio, at, handoffAt: heartbeat.handoff === null ? handoffAt : (handoffAt ?? now) };
};

const ratioOf = (used: number, most: number): number | null => (most > 0 ? used / most : null);

/** Per cent, with at most two decimals. */
export const contextPct = ({ ratio }: Context): number | null =>
  ratio === null ? null : Math.round(ratio * 10_000) / 100;
