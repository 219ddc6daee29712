import type { Beat } from './moment.ts';

/** Whose life it is, as last reported. */
export type Identity = {
  readonly instanceId: string | null;
  readonly taskId: string | null;
  readonly runtimeId: string | null;
  readonly attempt: number | null;
  readonly maxAttempts: number | null;
  readonly labels: Readonly<Record<string, string>>;
};

export function identityOf(beat: Beat): Identity {
  return {
    instanceId: beat.instance_id,
    taskId: beat.task_id,
    runtimeId: beat.runtime_id,
    attempt: beat.attempt,
    maxAttempts: beat.max_attempts,
    labels: beat.labels,
  };
}

export function identityAfter(known: Identity, beat: Beat): Identity {
  return {
    instanceId: known.instanceId,
    taskId: beat.task_id,
    runtimeId: beat.runtime_id ?? known.runtimeId,
    attempt: beat.attempt ?? known.attempt,
    maxAttempts: beat.max_attempts ?? known.maxAttempts,
    labels: Object.keys(beat.labels).length > 0 ? beat.labels : known.labels,
  };
}
