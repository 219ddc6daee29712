import type { Decider } from '@vigil/stream';
import { given } from '@vigil/stream/testing';
import type { Alert, AlertingState } from './alert-state.ts';
import { alerts } from './alerts.ts';
import { isForGates, NO_GATES } from './gates.ts';
import type { Input, Output, Settings } from './messages.ts';
import { GATES_KEY } from './routing.ts';

/** A notice without these: raised at once, delivered as alerting is configured. */
export const PLAIN = {
  urgency: 'normal',
  groupWaitMs: null,
  repeatMs: null,
  afterMs: null,
  requestId: null,
  questions: [],
  itemId: null,
  askedAt: null,
  scope: null,
  agentIds: [],
  isPardon: false,
  heldFrom: null,
  heldTo: null,
  askedText: null,
  isExpired: false,
  waitSince: null,
} as const;

/** One alert key, and beside it the key of what holds back deliveries, which sets its rule as the runner does. */
export const alerting = (settings: Settings, start: number) => {
  let rule = alerts(settings);
  const current: Decider<AlertingState, Input, Output> = {
    initial: rule.initial,
    observe: (...args) => rule.observe(...args),
    decide: (...args) => rule.decide(...args),
    evolve: (...args) => rule.evolve(...args),
    dueAt: (...args) => rule.dueAt(...args),
  };
  const alert = given(current, start);
  let gates: AlertingState = NO_GATES;
  const receive = (input: Input, at: number = alert.clock().now): readonly Output[] => {
    if (!isForGates(input)) return alert.receive(input, at);
    const passed = alert.passTo(at);
    const holding = given(alerts(settings, gates), alert.clock(), gates);
    const outputs = holding.receive({ ...input, key: GATES_KEY });
    gates = holding.state();
    rule = alerts(settings, gates);
    return [...passed, ...outputs];
  };
  return { ...alert, receive, alert: () => alert.state() as Alert };
};
