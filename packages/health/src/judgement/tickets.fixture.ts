import { type EscalationTicket, type PayloadOf, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { agentHealth } from '../evaluator/health.ts';
import { type HeartbeatPayload, heartbeat, policyOf, T0 } from '../fixture.ts';

export const MIN: number = 60_000;
const policies = policyOf(`
policy: p
signals:
  looping: { is: repeated_calls, times: 5 }
  still: { is: no_step, after: 3m }
states: { DEGRADED: [looping, still] }
ticket:
  bands: [{ at: 10, severity: medium, needs_loop: true }, { at: 15, severity: high }, { at: 20, severity: critical }]
  stall: 4m
`);
export const decider: ReturnType<typeof agentHealth> = agentHealth(policies);
export type Filed = PayloadOf<typeof Topic.agentHealth, 'WORKER_ESCALATION_TICKET'>;

/** One agent under a policy with bands. Each call returns the tickets that it filed. */
export const agent = () => {
  const driven = given(decider, T0);
  let total = 0;
  const tickets = (emitted: readonly { readonly type: string; readonly payload: unknown }[]) =>
    emitted.filter(({ type }) => type === 'WORKER_ESCALATION_TICKET').map(({ payload }) => payload as Filed);
  const receive = (ms: number, more: Partial<HeartbeatPayload> = {}) =>
    tickets(driven.receive(heartbeat(ms, more), T0 + ms));
  return {
    receive,
    /** adds this many steps, each with this decision of the judge */
    steps: (
      ms: number,
      n: number,
      verdict: 'RETRY' | 'CONTINUE' | 'ACCEPT' = 'CONTINUE',
      more: Partial<HeartbeatPayload> = {},
    ) => {
      total += n;
      const verdicts = Array.from({ length: n }, () => verdict);
      return receive(ms, { steps: { total_steps: total, verdicts }, ...more });
    },
    passTo: (ms: number) => tickets(driven.passTo(T0 + ms)),
    file: (ticket: EscalationTicket) =>
      tickets(driven.receive({ ...example(Topic.agentObservation, 'FILE_TICKET', { ticket }), key: 'a1' })),
    /** when it is judged next, after the start */
    dueAt: () => decider.dueAt(driven.state(), driven.clock()) - T0,
    all: () => tickets(driven.all()),
    memory: () => JSON.stringify(driven.state()),
  };
};
export const severities = (filed: readonly Filed[]) => filed.map(({ ticket }) => ticket.severity);
/** past the first two minutes */
export const AFTER: number = 3 * MIN;
