import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { type HeartbeatPayload, heartbeat, presetsWith, T0 } from '../fixture.ts';
import { agentHealth } from './health.ts';

/** Why an agent under coditect's limits is HEALTHY again after a quarter of its steps were exceeded by errors. */
const reasons = (...after: readonly Partial<HeartbeatPayload>[]) => {
  const agent = given(agentHealth(presetsWith('coditect')), T0);
  const steps = (total_steps: number, error_count: number) => ({ steps: { total_steps, verdicts: [] }, error_count });
  [steps(0, 0), steps(20, 6), ...after.map((more) => ({ ...steps(40, 6), ...more }))].forEach((fields, i) => {
    agent.receive(heartbeat(i * 1000, fields), T0 + i * 1000);
  });
  return agent.all().flatMap((event) => (event.type === 'HEALTH_STATE_CHANGED' ? [event.payload] : []));
};

test('a finding that ends under an exemption that held before it is not ended by the exemption', () => {
  expect(reasons({})).toMatchObject([
    { to: 'DEGRADED', exemption: 'starting' },
    { to: 'HEALTHY', exemption: 'starting', reason: 'nothing speaks against it any more' },
  ]);
});

test('an exemption that begins with the end of the finding is its reason', () => {
  expect(reasons({ activity: 'paused' }).at(-1)).toMatchObject({
    from: 'DEGRADED',
    to: 'HEALTHY',
    reason: 'exempt: paused',
  });
});
