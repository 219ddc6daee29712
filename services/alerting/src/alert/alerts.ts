import { type Decider, NEVER } from '@vigil/stream';
import { alertRule } from './alert.ts';
import { type AlertingState, initial } from './alert-state.ts';
import { type GateInput, type Gates, isForGates, NO_GATES, observeGates, silenceIdOf, withSilence } from './gates.ts';
import type { Input, Output, Settings } from './messages.ts';
import { GATES_KEY } from './routing.ts';

const silenced = (input: GateInput): readonly Output[] => {
  if (input.type !== 'SILENCE_ALERTS') return [];
  const { matchers, until, by, why } = input.payload;
  // A new silence has no id yet; only its end names one.
  const silenceEnds = input.payload.silenceId !== '';
  const payload = { matchers, until, by, why, silenceId: silenceIdOf(input), silenceEnds };
  const { correlationId, policy } = input;
  return [
    { topic: 'onex.evt.alerting.alert.v1', type: 'SILENCE_CHANGED', key: GATES_KEY, correlationId, policy, payload },
  ];
};

const gatesIn = (state: AlertingState): Gates => (state.kind === 'gates' ? state : NO_GATES);

/** All alerts, and what holds back their delivery. `state`: of `GATES_KEY`. */
export const alerts = (
  settings: Settings,
  state: AlertingState | undefined = undefined,
): Decider<AlertingState, Input, Output> => {
  const rule = alertRule({ ...settings, gates: state === undefined ? NO_GATES : gatesIn(state) });
  return {
    initial,
    observe: (before, input, clock) => {
      if (isForGates(input)) return observeGates(gatesIn(before), input, clock.now);
      return before.kind === 'gates' ? before : rule.observe(before, input, clock);
    },
    decide: (before, clock, input) => {
      if (before.kind === 'gates') return input !== null && isForGates(input) ? silenced(input) : [];
      return rule.decide(before, clock, input);
    },
    evolve: (before, event, clock, input) => {
      if (before.kind === 'alert') return rule.evolve(before, event, clock, input);
      return event.type === 'SILENCE_CHANGED' ? withSilence(before, event.payload) : before;
    },
    dueAt: (before, clock) => (before.kind === 'gates' ? NEVER : rule.dueAt(before, clock)),
    forgets: (before, clock) => before.kind === 'alert' && rule.forgets?.(before, clock) === true,
  };
};
