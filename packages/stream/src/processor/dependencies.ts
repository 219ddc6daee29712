import type { Codec, Draft } from '@vigil/events';
import type { Count } from '../metrics.ts';

/** `version`: of the code that decides. */
export type TaskDependencies = FoldDependencies & { readonly version: string };

/** `sources`: the partitions of the agent and task key spaces. */
export type FoldDependencies = {
  readonly codec: Codec;
  readonly partition: number;
  readonly partitions: (topic: string) => number;
  readonly sources: number;
  readonly count: Count;
  /** receives the decided events once they are committed */
  readonly onCommitted?: ((drafts: readonly Draft[]) => void) | undefined;
  /** receives the decided events before that */
  readonly onDecided?: ((drafts: readonly Draft[]) => void) | undefined;
};

/**
 * Collects what is decided with `deps` until `commit` is called, then passes it to `onCommitted`. Collects nothing
 * without `onCommitted`.
 */
export const collectingCommitted = (
  deps: FoldDependencies,
): { readonly deps: FoldDependencies; readonly commit: () => void } => {
  const { onCommitted } = deps;
  if (onCommitted === undefined) return { deps, commit: () => {} };
  const decided: Draft[] = [];
  return {
    deps: { ...deps, onDecided: (drafts) => decided.push(...drafts) },
    commit: () => {
      if (decided.length > 0) onCommitted(decided.splice(0));
    },
  };
};
