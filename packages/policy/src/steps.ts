import { z } from 'zod';
import { duration } from './duration.ts';
import type { Step } from './plan.ts';
import { HANDOFF, PROBE, REMINDER, RETRY } from './texts.ts';

const count = z.int().min(1);
const text = z.string().min(1);

/** The settings of each step as they are written, resolved to what a case works with. */
const STEPS = {
  nudge: z
    .strictObject({ attempts: count.default(3), interval: duration, message: text.default(REMINDER) })
    .transform((s): Step => ({ step: 'nudge', attempts: s.attempts, intervalMs: s.interval, message: s.message })),
  interrogate: z
    .strictObject({ waits: z.array(duration).min(1), message: text.default(PROBE) })
    .transform((s): Step => ({ step: 'interrogate', waitsMs: s.waits, message: s.message })),
  escalate: z
    .strictObject({
      timeout: z.union([z.literal('never'), duration]),
      on_timeout: z.enum(['terminate', 'hold']).default('terminate'),
      options: z.array(text).default(['allow_more_time', 'force_handoff', 'terminate_and_recover', 'pardon']),
    })
    .transform(
      (s): Step => ({
        step: 'escalate',
        timeoutMs: s.timeout === 'never' ? null : s.timeout,
        onTimeout: s.on_timeout,
        options: s.options,
      }),
    ),
  handoff: z
    .strictObject({ deadline: duration, message: text.default(HANDOFF) })
    .transform((s): Step => ({ step: 'handoff', deadlineMs: s.deadline, message: s.message })),
  pause: z
    .strictObject({ backoff: duration, message: text.default(RETRY) })
    .transform((s): Step => ({ step: 'pause', backoffMs: s.backoff, message: s.message })),
  terminate: z
    .strictObject({
      grace: duration.default(10_000),
      cleanup: duration.default(30_000),
      leave: z.enum(['in_progress', 'released', 'blocked']).default('in_progress'),
      release: z.union([text.transform((one) => [one]), z.array(text)]).default([]),
      requires: z.array(z.enum(['hard', 'two_axes', 'unanswered'])).default([]),
    })
    .transform(
      (s): Step => ({
        step: 'terminate',
        graceMs: s.grace,
        cleanupMs: s.cleanup,
        leave: s.leave,
        release: s.release,
        requires: s.requires,
      }),
    ),
  recover: z.strictObject({}).transform((): Step => ({ step: 'recover' })),
  block: z
    .union([text.transform((reason) => ({ reason })), z.strictObject({ reason: text.default('stopped by policy') })])
    .transform((s): Step => ({ step: 'block', reason: s.reason })),
  alert: z
    .union([
      text.transform((channel) => ({ channel, severity: 'warning' as const })),
      z.strictObject({
        channel: text.nullable().default(null),
        severity: z.enum(['info', 'warning', 'critical']).default('warning'),
      }),
    ])
    .transform((s): Step => ({ step: 'alert', channel: s.channel, severity: s.severity })),
} satisfies Record<Step['step'], z.ZodType<Step>>;

/** A step is its name, or its name with its settings: `recover`, `{ nudge: { attempts: 3, interval: 10m } }`. */
export const step = z.unknown().transform((written, context): Step => {
  const [name, settings, ...more] =
    typeof written === 'string' ? [written, {}] : (Object.entries(written ?? {})[0] ?? []);
  const known = Object.keys(STEPS).join(', ');
  const several = typeof written === 'object' && written !== null && Object.keys(written).length > 1;
  if (typeof name !== 'string' || !(name in STEPS) || several || more.length > 0) {
    context.addIssue({
      code: 'custom',
      message: `${JSON.stringify(written)} is no step: write one of ${known}, one an entry`,
    });
    return z.NEVER;
  }
  const read = STEPS[name as Step['step']].safeParse(settings ?? {});
  if (read.success) return read.data;
  for (const { message, path } of read.error.issues)
    context.addIssue({ code: 'custom', message, path: [name, ...path] });
  return z.NEVER;
});
