/**
 * The final behaviour of a real agent. `busy`: silent for long, in a call that may take that long; otherwise like
 * `works`.
 */
export type AgentFate = 'works' | 'busy' | 'hangs' | 'loops' | 'crashes';
/**
 * The behaviour of an agent. `cut off`: it works and its reports do not arrive; `lost`: its host is gone for good;
 * `taken for gone`: a person reports its host as gone, and it continues to work.
 */
export type Fate = AgentFate | 'cut off' | 'lost' | 'taken for gone';

type Deserved = { readonly flagged: boolean; readonly ended: boolean };

/** The findings and orders that an agent may get, and whether it must be ended and replaced. */
export const deserves: Readonly<Record<Fate, Deserved>> = {
  works: { flagged: false, ended: false },
  busy: { flagged: false, ended: false },
  'cut off': { flagged: true, ended: false },
  hangs: { flagged: true, ended: true },
  loops: { flagged: true, ended: true },
  crashes: { flagged: true, ended: true },
  lost: { flagged: true, ended: true },
  'taken for gone': { flagged: true, ended: true },
};

/**
 * An agent of the first generation; its replacement works. `afterMs`: how long it works before its behaviour begins.
 */
export type Doom<F extends Fate = Fate> = {
  readonly name: string;
  readonly task: string;
  readonly fate: F;
  readonly afterMs: number;
};

/** A number of agents of each behaviour, which begins at a random time between `fromMs` and `toMs`. */
export const doomsOf = (
  counts: Readonly<Record<AgentFate, number>>,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  random: () => number,
): readonly Doom<AgentFate>[] =>
  (Object.keys(counts) as AgentFate[]).flatMap((fate) =>
    Array.from({ length: counts[fate] }, (_, place) => ({
      name: `${fate}-${place}`,
      task: `T-${fate}-${place}`,
      fate,
      afterMs: Math.round(fromMs + random() * (toMs - fromMs)),
    })),
  );
