import type { HeartbeatPayload } from '../../fixture.ts';

export type Heartbeats = readonly (readonly [ms: number, more: Partial<HeartbeatPayload>])[];

/**
 * For each signal: limits, heartbeats after which it fires at `firesAt` ms and not a millisecond before, and heartbeats
 * without its data.
 */
export type Case = {
  readonly limits: object;
  readonly heartbeats: Heartbeats;
  readonly firesAt: number;
  readonly unknown: Heartbeats;
  /** fields of the heartbeats; without one of them the signal has no data: `output`, or `output.result_at` */
  readonly needs: readonly string[];
  /** heartbeats that reach a limit that must be exceeded; an absence is tested a millisecond before */
  readonly atLimit?: Heartbeats;
  readonly words: string;
};
