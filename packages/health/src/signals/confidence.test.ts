import { clockAt, given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { explain } from '../evaluator/explain.ts';
import { agentHealth } from '../evaluator/health.ts';
import { call, heartbeat, policyOf, T0 } from '../fixture.ts';
import { CONFIDENCE } from './confidence.ts';

/** The rows of the proposal's table, "Signals That Indicate Stuck", with its own names. */
test.each([
  ['No output', 'no_output', 'High'],
  ['Rate limit errors', 'rate_limited', 'High'],
  ['Repeated identical errors', 'repeated_error', 'Medium'],
  ['Token burn without progress', 'token_burn', 'Medium'],
  ['Completion signal timeout', 'no_completion', 'High'],
  ['No claim activity', 'no_claim_refresh', 'Medium'],
  ['Process exit', 'exited', 'High'],
  ['Spinning on same file', 'same_target', 'Low'],
] as const)('the botbox/botty proposal gives "%s" (%s) the confidence %s', (_, signal, confidence) => {
  expect(CONFIDENCE[signal]).toBe(confidence.toLowerCase());
});

const POLICY = policyOf(`
policy: p
signals: { spinning: { is: consecutive_failures, above: 1 }, gave_up: { is: self_reported_stuck } }
states: { STUCK: [spinning, gave_up] }
plans: [{ when: STUCK, do: [{ alert: ops }] }]
`);

test('evidence and explanations have the confidence of the signal, under any name of a policy', () => {
  const agent = given(agentHealth(POLICY), T0);
  const failed = (id: string) => call(id, { outcome: 'error', args_hash: id });
  const events = agent.receive(heartbeat(0, { activity: 'stuck', tool_calls: [failed('c1'), failed('c2')] }));
  const confidences = [
    expect.objectContaining({ signal: 'spinning', confidence: 'medium' }),
    expect.objectContaining({ signal: 'gave_up', confidence: 'high' }),
  ];
  for (const type of ['HEALTH_STATE_CHANGED', 'WARRANT_FILED'])
    expect(events).toContainEqual(
      expect.objectContaining({
        type,
        payload: expect.objectContaining({ evidence: expect.arrayContaining(confidences) }),
      }),
    );
  expect(explain(POLICY, agent.state(), clockAt(T0))?.signals).toEqual(expect.arrayContaining(confidences));
});
