import type { Codec, Draft } from '@vigil/events';
import type { Count } from '../metrics.ts';

/** What a slot needs besides. `version`: of the code that decides. */
export type SlotSurroundings = Surroundings & { readonly version: string };

/** What a fold needs to know of the world. `sources`: the partitions of the agent and task key spaces. */
export type Surroundings = {
  readonly codec: Codec;
  readonly partition: number;
  readonly partitions: (topic: string) => number;
  readonly sources: number;
  readonly count: Count;
  /** hears what is decided, once it is committed */
  readonly committed?: ((drafts: readonly Draft[]) => void) | undefined;
  /** hears what is decided, before that */
  readonly decided?: ((drafts: readonly Draft[]) => void) | undefined;
};
