import { z } from 'zod';
import { duration } from '../values/duration-type.ts';
import { insteadOf } from '../values/spelling.ts';
import { HANDOFF, INTERRUPTED, NUDGE, PROBE, RESUMED, RETRY } from '../values/texts.ts';
import { type Path, reading } from './mistakes.ts';
import type { Step } from './plan.ts';

const count = z.int().min(1);
const text = z.string().min(1);
/** The decisions that people may take on an escalated case. */
const DECISIONS = ['allow_more_time', 'force_handoff', 'terminate_and_recover', 'pardon'] as const;

/** The settings of each step, with the transformation to the form that a case uses. */
export const STEPS = {
  nudge: z
    .strictObject({ attempts: count.default(3), interval: duration, message: text.default(NUDGE) })
    .transform(
      ({ attempts, interval: intervalMs, message }): Step => ({ step: 'nudge', attempts, intervalMs, message }),
    ),
  interrogate: z
    .strictObject({ waits: z.array(duration).min(1), message: text.default(PROBE) })
    .transform((s): Step => ({ step: 'interrogate', waitsMs: s.waits, message: s.message })),
  interrupt: z
    .strictObject({ wait: duration, message: text.default(INTERRUPTED) })
    .transform((s): Step => ({ step: 'interrupt', waitMs: s.wait, message: s.message })),
  resume: z
    .strictObject({
      wait: duration,
      grace: duration.default(5_000),
      again_after: duration.default(3_600_000),
      message: text.default(RESUMED),
    })
    .transform(
      ({ wait: waitMs, grace: graceMs, again_after: againAfterMs, ...s }): Step => ({
        step: 'resume',
        waitMs,
        graceMs,
        againAfterMs,
        ...s,
      }),
    ),
  escalate: z
    .strictObject({
      timeout: z.union([z.literal('never'), duration]),
      on_timeout: z.enum(['terminate', 'hold']).default('terminate'),
      options: z
        .array(z.enum(DECISIONS))
        .min(1)
        .default([...DECISIONS]),
    })
    .transform(({ timeout, on_timeout: onTimeout, options }): Step => {
      const timeoutMs = timeout === 'never' ? null : timeout;
      return { step: 'escalate', timeoutMs, onTimeout, options };
    }),
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
      requires: z.array(z.enum(['hard', 'two_axes', 'unanswered', 'high', 'two_medium'])).default([]),
    })
    .transform(
      ({ grace: graceMs, cleanup: cleanupMs, ...s }): Step => ({ step: 'terminate', graceMs, cleanupMs, ...s }),
    ),
  recover: z.strictObject({}).transform((): Step => ({ step: 'recover' })),
  block: z
    .union([text.transform((reason) => ({ reason })), z.strictObject({ reason: text.default('stopped by policy') })])
    .transform((s): Step => ({ step: 'block', ...s })),
  alert: z
    .union([
      text.transform((channel) => ({ channel, severity: 'warning' as const })),
      z.strictObject({
        channel: text.nullable().default(null),
        severity: z.enum(['info', 'warning', 'critical']).default('warning'),
      }),
    ])
    .transform((s): Step => ({ step: 'alert', ...s })),
} satisfies Record<Step['step'], z.ZodType<Step>>;

/** A step is its name, or its name with its settings: `recover`, `{ nudge: { attempts: 3, interval: 10m } }`. */
export const step = z.unknown().transform((written, context): Step => {
  const refuse = (message: string, path: Path = []) => {
    context.addIssue({ code: 'custom', message, path: [...path] });
    return z.NEVER;
  };
  const named = typeof written === 'string' ? [[written, {}] as const] : Object.entries(Object(written) as object);
  const [[name, settings] = ['', {}], ...more] = named;
  if (name === '' || Array.isArray(written))
    return refuse(`${JSON.stringify(written)} is not a step: ${insteadOf('', STEP_NAMES)}`);
  if (more.length > 0)
    return refuse(
      `${named.map(([one]) => one).join(' and ')} are in one entry: write each step as an entry of its own`,
    );
  if (!isStep(name)) return refuse(`there is no step ${name}: ${insteadOf(name, STEP_NAMES)}`);
  const read = reading(STEPS[name] as z.ZodType<Step>, settings ?? {});
  if ('value' in read) return read.value;
  for (const { message, path } of read.mistakes) refuse(message, [name, ...path]);
  return z.NEVER;
});

const STEP_NAMES = Object.keys(STEPS);
const isStep = (name: string): name is Step['step'] => Object.hasOwn(STEPS, name);
