/** What a real agent does in the end. `busy`: silent for long, in a call that is allowed to take so long; it works as `works` does. */
export type AgentFate = 'works' | 'busy' | 'hangs' | 'loops' | 'crashes';
/**
 * How an agent behaves. `cut off`: it works and its reports do not arrive; `lost`: its host is gone for good; `taken
 * for gone`: a person reports so, and it works on.
 */
export type Fate = AgentFate | 'cut off' | 'lost' | 'taken for gone';

type Deserved = { readonly flagged: boolean; readonly ended: boolean };

/** Which findings and orders an agent may get, and whether it must be ended and replaced. */
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

/** An agent of the first generation; its replacement works. `afterMs`: how long it works before. */
export type Doom<F extends Fate = Fate> = {
  readonly name: string;
  readonly task: string;
  readonly fate: F;
  readonly afterMs: number;
};

/** So many agents of each behaviour, which begins at a random moment between `fromMs` and `toMs`. */
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
