import type { HeartbeatPayload } from '../../fixture.ts';

export type Heartbeats = readonly (readonly [ms: number, more: Partial<HeartbeatPayload>])[];

/**
 * For each signal: limits, heartbeats after which it fires at `firesAt` ms and not a millisecond before, heartbeats that leave it without
 * data.
 */
export type Case = {
  readonly limits: object;
  readonly heartbeats: Heartbeats;
  readonly firesAt: number;
  readonly unknown: Heartbeats;
  /** fields of the heartbeats; without any one of them the signal has no data: `output`, or `output.result_at` */
  readonly needs: readonly string[];
  /** heartbeats that reach a limit which must be exceeded; an absence is tried a millisecond before */
  readonly atLimit?: Heartbeats;
  readonly words: string;
};
