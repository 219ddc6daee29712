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
  const armed = new Map<string, number>();
  const say = (key: string, state: AgentState, clock: Clock): readonly Said[] => {
    const said = decider.decide(state, clock);
    const after = said.reduce(decider.evolve, state);
    if (decider.forgets(after, clock)) states.delete(key);
    else states.set(key, after);
    armed.set(key, decider.dueAt(after, clock));
    return said;
  };
  for (const { clock, input } of records) {
    if (input === null) {
      const due = dueKeys(states, armed, clock.now, (state) => decider.dueAt(state, clock));
      yield { clock, input, said: due.flatMap((key) => say(key, states.get(key) ?? UNSEEN, clock)), refused: null };
      continue;
    }
    const told = tell(() => decider.observe(states.get(input.key) ?? UNSEEN, input, clock));
    const said = told.state === null ? [] : say(input.key, told.state, clock);
    yield { clock, input, said, refused: told.refused };
  }
}

/** In the order in which the runner asks: moment, then key. As there, what is armed is a lower bound: watched time may have stood still since. */
function dueKeys(
  states: ReadonlyMap<string, AgentState>,
  armed: Map<string, number>,
  now: number,
  dueAt: (state: AgentState) => number,
): string[] {
  const due: { readonly key: string; readonly at: number }[] = [];
  for (const [key, state] of states) {
    if ((armed.get(key) ?? 0) > now) continue;
    const at = dueAt(state);
    armed.set(key, at);
    if (at <= now) due.push({ key, at });
  }
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
