import type { Beat } from '../../fixture.ts';

export type Beats = readonly (readonly [ms: number, more: Partial<Beat>])[];

/** For each signal: limits, beats after which it fires at `firesAt` ms and not a millisecond before, beats that leave it without data. */
export type Case = {
  readonly limits: object;
  readonly beats: Beats;
  readonly firesAt: number;
  readonly unknown: Beats;
  /** fields of the beats, each of which taken away leaves it without data: `output`, or `output.result_at` */
  readonly needs: readonly string[];
  /** beats that reach a limit which must be exceeded; an absence is tried a millisecond before */
  readonly atLimit?: Beats;
  readonly words: string;
};
