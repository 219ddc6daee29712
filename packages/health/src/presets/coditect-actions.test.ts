import { describe, expect, test } from 'vitest';
import { MIN, preset, SEC } from './judging.fixture.ts';

const coditect = preset('coditect');

describe('section 3: intervention', () => {
  test('level 2 follows the third unanswered nudge, level 3 the fifteen minutes after it', () => {
    expect(coditect.steps('STUCK')).toMatchObject([
      { step: 'nudge', attempts: 3, intervalMs: 600 * SEC },
      {
        step: 'escalate',
        timeoutMs: 900 * SEC,
        onTimeout: 'terminate',
        options: ['allow_more_time', 'force_handoff', 'terminate_and_recover'],
      },
      { step: 'terminate', cleanupMs: 30 * SEC, requires: [] },
      { step: 'recover' },
    ]);
  });

  test('the reminder is CODITECT’s to the letter', () => {
    expect(coditect.steps('STUCK')[0]).toMatchObject({
      message: [
        'REMINDER: You have been working for {duration} without',
        'checkpoint update. Please either:',
        '- Update your progress',
        '- Request handoff if stuck',
        '- Report blockers',
      ].join('\n'),
    });
  });

  test('FAILING is terminated and recovered without nudges', () => {
    expect(coditect.steps('FAILING')).toMatchObject([{ step: 'terminate', cleanupMs: 30 * SEC }, { step: 'recover' }]);
  });
});

describe('sections 4, 5 and 7: figures', () => {
  test('breakers: 3 failures, 60 s, one trial; tool_execution 5 and 30 s, checkpoint_write 3 and 120 s', () => {
    const of = (failureThreshold: number, s: number) => ({
      failureThreshold,
      recoveryTimeoutMs: s * SEC,
      halfOpenRequests: 1,
    });
    expect(coditect.policy.breakers).toEqual({
      tool_execution: of(5, 30),
      checkpoint_write: of(3, 120),
      external_api: of(3, 60),
      recovery_attempt: of(3, 60),
    });
    expect(coditect.policy.recovery.breaker).toEqual(of(3, 60));
  });

  test('recovery: three attempts, 1, 2 and 4 min between them, watched for 15 min, and a failed probation goes to people', () => {
    expect(coditect.policy.recovery).toMatchObject({
      maxAttempts: 3,
      delaysMs: [0, 60 * SEC, 120 * SEC, 240 * SEC],
      probationMs: 15 * MIN,
      onProbationFailure: 'review',
      jitter: 0,
    });
  });

  test('three recoveries a task until people release it, and five an hour', () => {
    expect(coditect.policy.recovery).toMatchObject({
      maxAttempts: 3,
      resetAttempts: 'by_people',
      maxAttemptsPerHour: 5,
    });
  });

  test('alerts go where section 7 sends them', () => {
    const usual = { group_wait: null, repeat: null };
    expect(coditect.policy.alerts).toEqual({
      stuck_agent: { severity: 'warning', channels: ['slack', 'pagerduty'], ...usual },
      circuit_breaker_open: { severity: 'warning', channels: ['slack'], ...usual },
      recovery_failed: { severity: 'critical', channels: ['slack', 'pagerduty'], ...usual },
    });
    expect(coditect.policy.enabled).toBe(true);
  });
});
