import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { agentHealth } from '../evaluator/health.ts';
import { type HeartbeatPayload, heartbeat, policyOf, T0 } from '../fixture.ts';
import { MIN } from './tickets.fixture.ts';

const HOUR = 60 * MIN;
const LAST = 5 * MIN;
const TRUSTED = 10 * MIN;
const STALL = 4 * MIN;

const decider = agentHealth(
  policyOf(`
policy: p
heartbeat: { trusted_for: 10m }
signals: { still: { is: no_step, after: 3m } }
states: { DEGRADED: [still] }
exemptions: { awaiting_input: {}, rate_limited: {} }
ticket: { bands: [{ at: 15, severity: high }], stall: 4m }
`),
);

/** A step, and then this last report of a runtime. */
const silentAfter = (more: Partial<HeartbeatPayload>) => {
  const agent = given(decider, T0);
  const steps = { total_steps: 1, verdicts: [] };
  agent.receive(heartbeat(0, { reporter: 'runtime', activity: 'working', steps }), T0);
  const last = { reporter: 'runtime' as const, activity: 'working' as const, steps: { total_steps: 2, verdicts: [] } };
  agent.receive(heartbeat(LAST, { ...last, ...more }), T0 + LAST);
  return (ms: number) =>
    agent
      .passTo(T0 + ms)
      .flatMap((one) => (one.type === 'WORKER_ESCALATION_TICKET' ? [one.payload.ticket.severity] : []));
};

test('a wait without an end excuses a stall for trusted_for after the last report of a runtime, and no longer', () => {
  const ticketsTo = silentAfter({ activity: 'awaiting_input' });
  expect(ticketsTo(LAST + TRUSTED - 1)).toEqual([]);
  expect(ticketsTo(LAST + TRUSTED)).toEqual(['critical']);
});

test('a rate limit of days is left out of a stall for trusted_for, and no longer', () => {
  const ticketsTo = silentAfter({ rate_limit: { retry_at: T0 + 60 * HOUR } });
  expect(ticketsTo(LAST + TRUSTED + STALL - 1)).toEqual([]);
  expect(ticketsTo(LAST + TRUSTED + STALL)).toEqual(['critical']);
});

test('a stall without an excuse is due at its limit', () => {
  const ticketsTo = silentAfter({});
  expect(ticketsTo(LAST + STALL - 1)).toEqual([]);
  expect(ticketsTo(LAST + STALL)).toEqual(['critical']);
});
