import type { RecoverySettings as RecoveryRecord } from '@vigil/events';
import type { RecoverySettings } from '@vigil/policy';
import { z } from 'zod';

const duration = z.number().nonnegative();
const count = z.number().int().positive();

const schema: z.ZodType<RecoverySettings, RecoveryRecord> = z.object({
  maxAttempts: count,
  delaysMs: z.array(duration),
  jitter: z.number().min(0).max(1),
  spawnDeadlineMs: duration,
  probationMs: duration,
  stableMs: duration,
  limitWaitMs: duration,
  // A newer version's answer to a failed probation: people decide.
  onProbationFailure: z
    .enum(['UNKNOWN', 'retry', 'review'])
    .transform((what) => (what === 'UNKNOWN' ? 'review' : what)),
  breaker: z.object({ failureThreshold: count, recoveryTimeoutMs: duration, halfOpenRequests: count }),
  emitHealthcheck: z.boolean(),
  // A newer version's rule: people decide.
  resetAttempts: z
    .enum(['UNKNOWN', 'after_stable', 'after_progress', 'by_people'])
    .transform((rule) => (rule === 'UNKNOWN' ? 'by_people' : rule)),
  maxAttemptsPerHour: count.nullable(),
});

/** RecoverTask's `recovery` has a figure that no policy may have: the record becomes a dead letter. */
export class UnreadableSettings extends Error {
  override readonly name = 'UnreadableSettings';
}

/** The settings under which a task is recovered, as RecoverTask carries them. Throws UnreadableSettings. */
export const readSettings = (taskId: string, record: RecoveryRecord): RecoverySettings => {
  const read = schema.safeParse(record);
  if (read.success) return read.data;
  const why = z.prettifyError(read.error);
  throw new UnreadableSettings(
    `RecoverTask of ${taskId} carries unreadable recovery settings: ${why}. Send the policy's recovery section`,
  );
};

/** The pause before attempt `next` (counted from 1), milliseconds; longer by up to `jitter` of itself, the same for the same task and attempt. */
export const delayBefore = (settings: RecoverySettings, taskId: string, next: number): number => {
  const base = settings.delaysMs[Math.min(next, settings.delaysMs.length) - 1] ?? 0;
  return Math.round(base * (1 + settings.jitter * fraction(`${taskId}/${next}`)));
};

/** FNV-1a, with murmur3's last mixing: 0 ≤ fraction < 1, evenly spread also for texts that differ in one digit only. */
const fraction = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
};
