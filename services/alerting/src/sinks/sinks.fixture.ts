import { type PayloadOf, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import type { AlertEvent, SinkDeps } from '../delivery/sink.ts';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export const LINK_KEY = 'a-key-for-tests-only-of-some-length';

export const sinkDeps: SinkDeps = {
  now: Date.now,
  env: { VIGIL_WEBHOOK_SECRET: SECRET },
  dashboardUrl: 'http://127.0.0.1:7420',
  linkKey: LINK_KEY,
};

const checkpoint = example(Topic.agentIntervention, 'ESCALATION_TRIGGERED').payload.checkpoint;

/** An alert as sinks receive it. It has no question unless a field sets one. */
export const alertEvent = (fields: Partial<PayloadOf<typeof Topic.alert, 'ALERT_RAISED'>> = {}): AlertEvent =>
  example(Topic.alert, 'ALERT_RAISED', {
    ...{ route: 'stuck_agent', severity: 'warning', title: 'worker-1 is STUCK', text: 'no call', options: [] },
    ...{ deadlineAt: null, onTimeout: null, checkpoint: null, blocked: null, raisedAt: EXAMPLE_TIME, ...fields },
  });

/** A case that waits for a decision. */
export const escalation = (): AlertEvent =>
  alertEvent({
    ...{ severity: 'critical', options: ['allow_more_time', 'pardon'], onTimeout: 'terminate' },
    ...{ deadlineAt: EXAMPLE_TIME + 900_000, checkpoint },
  });
