/**
 * The final behaviour of a real agent. `busy`: silent for long, in a call that may take that long; otherwise like
 * `works`.
 */
export type AgentBehaviour = 'works' | 'busy' | 'hangs' | 'loops' | 'crashes';
/**
 * The behaviour of an agent. `cut off`: it works and its reports do not arrive; `lost`: its host is gone for good;
 * `taken for gone`: a person reports its host as gone, and it continues to work.
 */
export type Behaviour = AgentBehaviour | 'cut off' | 'lost' | 'taken for gone';

type Deserved = { readonly flagged: boolean; readonly ended: boolean };

/** The findings and orders that an agent may get, and whether it must be ended and replaced. */
export const deserves: Readonly<Record<Behaviour, Deserved>> = {
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
export type PlannedAgent<F extends Behaviour = Behaviour> = {
  readonly name: string;
  readonly task: string;
  readonly behaviour: F;
  readonly afterMs: number;
};

/** A number of agents of each behaviour, which begins at a random time between `fromMs` and `toMs`. */
export const plannedAgents = (
  counts: Readonly<Record<AgentBehaviour, number>>,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  random: () => number,
): readonly PlannedAgent<AgentBehaviour>[] =>
  (Object.keys(counts) as AgentBehaviour[]).flatMap((behaviour) =>
    Array.from({ length: counts[behaviour] }, (_, place) => ({
      name: `${behaviour}-${place}`,
      task: `T-${behaviour}-${place}`,
      behaviour,
      afterMs: Math.round(fromMs + random() * (toMs - fromMs)),
    })),
  );
