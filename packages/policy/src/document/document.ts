import { z } from 'zod';
import { duration } from '../values/duration-type.ts';
import { readable } from '../values/patterns.ts';
import { alertRoute } from './alerts.ts';
import type { BreakerLimits } from './plan.ts';
import { spendingDocument } from './spending.ts';
import { step } from './steps.ts';

const name = z.string().regex(/^[a-z][a-z0-9_-]*$/, 'write a name of lower-case letters, digits, - and _');
const names = z.union([z.string().transform((one) => [one]), z.array(z.string()).min(1)]);
const settings = z.record(z.string(), z.unknown());

/** CODITECT's figures for a breaker (`ADR-110`): an omitted figure keeps its default. */
const breaker = (failures = 3, timeoutMs = 60_000) =>
  z
    .strictObject({
      failure_threshold: z.int().min(1).default(failures),
      recovery_timeout: duration.default(timeoutMs),
      half_open_requests: z.int().min(1).default(1),
    })
    .transform(
      (b): BreakerLimits => ({
        failureThreshold: b.failure_threshold,
        recoveryTimeoutMs: b.recovery_timeout,
        halfOpenRequests: b.half_open_requests,
      }),
    )
    .prefault({});
const bands = z.array(
  z.strictObject({
    at: z.int().min(1),
    severity: z.enum(['low', 'medium', 'high', 'critical']),
    needs_loop: z.boolean().default(false),
  }),
);
const file = z.string().min(1).nullable().default(null);

/** The default for a policy without a number of attempts. */
export const USUAL_ATTEMPTS = 3;

/** The policy's section `recovery`. */
export const recoveryDocument = z.strictObject({
  max_attempts: z.int().min(0).default(USUAL_ATTEMPTS),
  max_attempts_per_hour: z.int().min(1).nullable().default(null),
  reset_attempts: z.enum(['after_stable', 'after_progress', 'by_people']).default('after_stable'),
  delays: z.array(duration).min(1).default([0, 60_000, 120_000, 240_000]),
  jitter: z.number().min(0).max(1).default(0.2),
  spawn_deadline: duration.default(120_000),
  probation: duration.default(900_000),
  stable: duration.default(1_800_000),
  limit_wait: duration.default(86_400_000),
  on_probation_failure: z.enum(['retry', 'review']).default('retry'),
  breaker: breaker(),
  emit_healthcheck: z.boolean().default(false),
  /** the last line of a replacement's prompt, which its runtime adds; `{ticket_id}` is the task */
  resume_line: z.string().min(1).max(500).nullable().default(null),
});

/** A policy's document as people write it. Names of signals and exemptions are checked when it is compiled. */
export const policyDocument = z.strictObject({
  policy: name,
  enabled: z.boolean().default(true),
  exclude: z.array(z.string().superRefine(readable)).default([]),
  heartbeat: z
    .strictObject({
      interval: duration.default(60_000),
      lost_after: duration.default(15_000),
      trusted_for: duration.default(900_000),
    })
    .prefault({}),
  clock_tolerance: duration.default(30_000),
  signals: z.record(
    name,
    settings.nullable().transform((s) => s ?? {}),
  ),
  states: z.strictObject({
    DEGRADED: z.array(z.string()).default([]),
    STUCK: z.array(z.string()).default([]),
    FAILING: z.array(z.string()).default([]),
  }),
  exemptions: z.record(z.string(), z.union([z.boolean(), settings])).default({}),
  warrant: z
    .strictObject({
      label: z.string().default('vigil'),
      requester: z.string().default('health-evaluator'),
      renew: duration.default(60_000),
      void: duration.default(180_000),
    })
    .prefault({}),
  plans: z.array(z.strictObject({ when: names, do: z.array(step).min(1) })).default([]),
  breakers: z
    .strictObject({
      tool_execution: breaker(5, 30_000),
      checkpoint_write: breaker(3, 120_000),
      external_api: breaker(),
      recovery_attempt: breaker(),
    })
    .prefault({}),
  ticket: z
    .strictObject({
      bands: bands.default([]),
      stall: duration.nullable().default(null),
      grace: duration.default(120_000),
    })
    .nullable()
    .default(null),
  files: z.strictObject({ dispatch_log: file, recovery: file, partial_state: file, friction: file }).prefault({}),
  spending: spendingDocument.nullable().default(null),
  recovery: recoveryDocument.prefault({}),
  /** what agents ask people: how long they wait for the answer, and what happens then */
  requests: z
    .strictObject({
      wait: duration.refine((ms) => ms >= 10_000 && ms <= 3_600_000, 'write a time from 10s to 1h').default(600_000),
      at_deadline: z.enum(['no_decision', 'allow']).default('no_decision'),
    })
    .prefault({}),
  alerts: z.record(name, alertRoute).default({}),
});

export type PolicyDocument = z.infer<typeof policyDocument>;
