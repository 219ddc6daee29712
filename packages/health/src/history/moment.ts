import type { AgentHeartbeatPayload } from '@vigil/events';
import { type Clock, familyOf } from '@vigil/stream';
import { NO_WAITS, type Waits } from './presence/waits.ts';

/**
 * The clock of one agent, milliseconds. `watched`: the part of `now` in which its ingress was open and read. A *mark*
 * is a moment on the `watched` axis; ages of absence are differences of two of them.
 */
export type Moment = { readonly now: number; readonly watched: number };

/**
 * The time of a judgement. `floor`: the mark before which no absence counts, because new work began or a call ended
 * then. `waits`: the waits until now, and beyond where their end is known; those of `kinds` are left out of an absence.
 */
export type Judging = Moment & { readonly floor: number; readonly waits: Waits; readonly kinds: number };

/** The time of a judgement that nothing excuses. */
export const unexcused = ({ now, watched }: Moment): Judging => ({ now, watched, floor: 0, waits: NO_WAITS, kinds: 0 });

/** The ingress whose clock an agent's marks use. `offset` keeps them comparable after a change of ingress. */
export type Axis = { readonly ingress: string | null; readonly offset: number };

export const OWN_AXIS: Axis = { ingress: null, offset: 0 };

export const momentOn = (axis: Axis, clock: Clock): Moment => ({
  now: clock.now,
  watched: watchedAt(axis.ingress, clock) + axis.offset,
});

/**
 * The axis of the agent's present ingress, or of its family if that ingress is unknown. Existing marks keep their
 * values.
 */
export const axisThrough = (ingress: string | null, axis: Axis, clock: Clock): Axis => {
  const known =
    ingress === null ? null : ([ingress, familyOf(ingress)].find((one) => Object.hasOwn(clock.ingresses, one)) ?? null);
  if (known === axis.ingress) return axis;
  return { ingress: known, offset: momentOn(axis, clock).watched - watchedAt(known, clock) };
};

const watchedAt = (ingress: string | null, clock: Clock): number =>
  ingress === null ? clock.watched : (clock.ingresses[ingress] ?? clock.watched);

/** The receipt of a heartbeat: its moment, the time on its sender's clock, and the receipt before it. */
export type Receipt = Moment & { readonly stamp: number; readonly previous: Moment | null };

/**
 * Converts a time of the sender's clock to the broker's clock, because the agent's clock is data (law 3 of docs/architecture.md). The result is limited to the span between the previous and this
 * receipt; null stays null. Watched time may have stood still between two receipts. The later mark is used, so that no
 * gap counts against an agent.
 */
export const instant = (receipt: Receipt, t: number | null): Moment => {
  const { previous } = receipt;
  if (t === null || previous === null) return receipt;
  const now = Math.min(receipt.now, Math.max(previous.now, receipt.now - (receipt.stamp - t)));
  return { now, watched: markOf(receipt, now) };
};

/** A time of the sender's clock on the broker's clock, by the present offset of the two; never later than the receipt. */
export const placed = ({ now, stamp }: Receipt, t: number): number => Math.min(now, now - (stamp - t));

/** The mark of a moment between the previous and this receipt. */
export const markOf = ({ now, watched, previous }: Receipt, moment: number): number =>
  previous === null || moment === now ? watched : Math.min(watched, previous.watched + (moment - previous.now));

/** Converts a future time of the sender's clock to the broker's clock; never before the receipt. */
export const ahead = (receipt: Receipt, t: number): number => Math.max(receipt.now, receipt.now + (t - receipt.stamp));

export type Heartbeat = AgentHeartbeatPayload;
