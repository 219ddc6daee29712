import { type Clock, DeadLetter } from '@vigil/stream';
import { agentHealth, type Observation, type Said } from './health.ts';
import { OlderInstance } from './observe.ts';
import type { Policies } from './policies.ts';
import { type AgentState, UNSEEN } from './state.ts';

/** A record of the one order of observations: what was told, or only that time passed (a tick). */
export type Recorded = { readonly clock: Clock; readonly input: Observation | null };
/** What was said at it; the reason where the record is a dead letter. */
export type Evaluated = Recorded & { readonly said: readonly Said[]; readonly refused: string | null };

/** Folds records of one partition as the evaluator does, without Kafka: the same records give the same decisions. `states` is changed. */
export function* evaluate(
  policies: Policies,
  records: Iterable<Recorded>,
  states: Map<string, AgentState> = new Map(),
): Generator<Evaluated> {
  const decider = agentHealth(policies);
  const say = (key: string, state: AgentState, clock: Clock): readonly Said[] => {
    const said = decider.decide(state, clock);
    const after = said.reduce(decider.evolve, state);
    if (decider.forgets(after, clock)) states.delete(key);
    else states.set(key, after);
    return said;
  };
  for (const { clock, input } of records) {
    if (input === null) {
      const due = dueKeys(states, clock.now, (state) => decider.dueAt(state, clock));
      yield { clock, input, said: due.flatMap((key) => say(key, states.get(key) ?? UNSEEN, clock)), refused: null };
      continue;
    }
    const told = tell(() => decider.observe(states.get(input.key) ?? UNSEEN, input, clock));
    const said = told.state === null ? [] : say(input.key, told.state, clock);
    yield { clock, input, said, refused: told.refused };
  }
}

/** In the order in which the runner asks: moment, then key. */
function dueKeys(states: ReadonlyMap<string, AgentState>, now: number, dueAt: (state: AgentState) => number): string[] {
  const due = [...states].map(([key, state]) => ({ key, at: dueAt(state) })).filter(({ at }) => at <= now);
  return due.sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1)).map(({ key }) => key);
}

function tell(observe: () => AgentState): { readonly state: AgentState | null; readonly refused: string | null } {
  try {
    return { state: observe(), refused: null };
  } catch (error) {
    if (!(error instanceof DeadLetter)) throw error;
    return { state: error instanceof OlderInstance ? error.state : null, refused: error.reason };
  }
}
