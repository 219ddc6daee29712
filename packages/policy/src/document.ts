import { z } from 'zod';
import { duration } from './duration.ts';
import { step } from './steps.ts';

const name = z.string().regex(/^[a-z][a-z0-9_-]*$/, 'write a name of lower-case letters, digits, - and _');
const names = z.union([z.string().transform((one) => [one]), z.array(z.string()).min(1)]);
const settings = z.record(z.string(), z.unknown());

const recovery = z.strictObject({
  max_attempts: z.int().min(0).default(3),
  delays: z.array(duration).min(1).default([0, 60_000, 120_000, 240_000]),
  jitter: z.number().min(0).max(1).default(0.2),
  spawn_deadline: duration.default(120_000),
  probation: duration.default(900_000),
  stable: duration.default(1_800_000),
  on_probation_failure: z.enum(['retry', 'review']).default('retry'),
  breaker: z
    .strictObject({
      failure_threshold: z.int().min(1).default(3),
      recovery_timeout: duration.default(60_000),
      half_open_requests: z.int().min(1).default(1),
    })
    .prefault({}),
  emit_healthcheck: z.boolean().default(false),
});

/** A policy's document as people write it. Names of signals and exemptions are checked when it is compiled. */
export const policyDocument = z.strictObject({
  policy: name,
  enabled: z.boolean().default(true),
  exclude: z.array(z.string()).default([]),
  heartbeat: z.strictObject({ interval: duration.default(60_000), lost_after: duration.default(15_000) }).prefault({}),
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
  recovery: recovery.prefault({}),
  alerts: z
    .record(
      name,
      z.strictObject({ severity: z.enum(['info', 'warning', 'critical']), channels: z.array(z.string()).default([]) }),
    )
    .default({}),
});

export type PolicyDocument = z.infer<typeof policyDocument>;
