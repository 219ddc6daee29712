import type { Run } from './runs.ts';

/** The marks of a source that marks each of its calls as failed, also those of successful runs. They show nothing. */
export type EmptyMarks = {
  readonly name: string;
  readonly calls: number;
  /** the number of its successful runs */
  readonly successes: number;
};

const isEmpty = (runs: readonly Run[]): boolean =>
  runs.some(({ success }) => success) && runs.every(({ calls }) => calls.every(({ err }) => err === true));

/** The sources whose marks show nothing. */
export const emptyMarks = (runs: readonly Run[]): readonly EmptyMarks[] =>
  [...Map.groupBy(runs, ({ src }) => src)]
    .filter(([, own]) => isEmpty(own))
    .map(([name, own]) => ({
      name,
      calls: own.flatMap(({ calls }) => calls).length,
      successes: own.filter(({ success }) => success).length,
    }));

/** The runs with the outcomes of calls that are known: the calls of a source with empty marks have none. */
export const withKnownOutcomes = (runs: readonly Run[]): readonly Run[] => {
  const empty = new Set(emptyMarks(runs).map(({ name }) => name));
  return runs.map((run) =>
    empty.has(run.src) ? { ...run, calls: run.calls.map((call) => ({ ...call, err: null })) } : run,
  );
};
