import { memoryCodec, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import type { Step } from './plan.ts';
import { stepOf, stepRecord } from './plan.ts';

const MESSAGE = 'go on with {task}';
/** One step of each kind. A missing one does not compile. */
const STEPS: { readonly [Name in Step['step']]: Extract<Step, { readonly step: Name }> } = {
  nudge: { step: 'nudge', attempts: 2, intervalMs: 1000, message: MESSAGE },
  interrogate: { step: 'interrogate', waitsMs: [1000, 2000], message: MESSAGE },
  interrupt: { step: 'interrupt', waitMs: 1000, message: MESSAGE },
  resume: { step: 'resume', waitMs: 1000, graceMs: 2000, againAfterMs: 3000, message: MESSAGE },
  escalate: { step: 'escalate', timeoutMs: null, onTimeout: 'hold', options: ['pardon'] },
  handoff: { step: 'handoff', deadlineMs: 1000, message: MESSAGE },
  pause: { step: 'pause', backoffMs: 1000, message: MESSAGE },
  terminate: {
    step: 'terminate',
    graceMs: 1000,
    cleanupMs: 2000,
    leave: 'released',
    release: ['claims'],
    requires: ['hard', 'two_axes', 'unanswered', 'high', 'two_medium'],
  },
  recover: { step: 'recover' },
  block: { step: 'block', reason: MESSAGE },
  alert: { step: 'alert', channel: 'ops', severity: 'critical' },
};

test.each(Object.values(STEPS))('a step is the same after encoding in a warrant and decoding: $step', (step) => {
  const codec = memoryCodec();
  const plan = [stepRecord(step)];
  const { payload } = codec.decode(
    Topic.agentHealth,
    codec.encode(example(Topic.agentHealth, 'WARRANT_FILED', { plan })),
  );
  expect((payload as { readonly plan: typeof plan }).plan.map(stepOf)).toEqual([step]);
});

const { terminate, alert, escalate } = STEPS;

test.each([
  ['a name that this version does not support', { ...stepRecord(STEPS.recover), step: 'reboot' }],
  ['a name that every object inherits', { ...stepRecord(STEPS.recover), step: 'constructor' }],
  ['no settings', { ...stepRecord(STEPS.recover), step: 'nudge' }],
  ['a new condition', { ...stepRecord(terminate), terminate: { ...terminate, requires: ['hard', 'UNKNOWN'] } }],
  ['a new state of its task', { ...stepRecord(terminate), terminate: { ...terminate, leave: 'UNKNOWN' } }],
  ['a new severity', { ...stepRecord(alert), alert: { ...alert, severity: 'UNKNOWN' } }],
  ['a new end of its time', { ...stepRecord(escalate), escalate: { ...escalate, onTimeout: 'UNKNOWN' } }],
] as const)('a step with %s is unknown, and is never executed in part', (_, record) => {
  expect(stepOf(record)).toEqual({ step: 'UNKNOWN', name: record.step });
});
