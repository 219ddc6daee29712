/** A partition as a processor sees it; `time`: epoch milliseconds, 0 where it has not begun. */
type PartitionFigures = {
  readonly partition: number;
  readonly phase: string;
  readonly lag: number;
  readonly time: number;
  /** milliseconds */
  readonly watched: number;
};

/**
 * A part runs until it is stopped. `ready`: whether it does its work now (caught up, assigned, connected), read at
 * every probe.
 * `finished`: settles when it ends by itself, which ends the process. `status`: its partitions, shown by `/metrics`.
 */
export type Part = {
  readonly ready: () => boolean;
  readonly finished?: Promise<unknown>;
  readonly status?: () => readonly PartitionFigures[];
};

/** The answer of `/ready`: `starting`, `stopping`, or the report of each part. */
export type Readiness =
  | { readonly ready: false; readonly because: 'starting' | 'stopping' }
  | { readonly ready: boolean; readonly parts: Readonly<Record<string, boolean>> };

/** Ready is every part being ready; a process that is starting or stopping is not. */
export const readinessOf = (parts: Readonly<Record<string, Part>> | undefined, stopping: boolean): Readiness => {
  if (stopping) return { ready: false, because: 'stopping' };
  if (parts === undefined) return { ready: false, because: 'starting' };
  const answers = Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, part.ready()]));
  return { ready: Object.values(answers).every(Boolean), parts: answers };
};
