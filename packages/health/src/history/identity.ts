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

/** The same object where nothing is new: most heartbeats tell what is known. */
export function identityAfter(known: Identity, beat: Beat): Identity {
  const runtimeId = beat.runtime_id ?? known.runtimeId;
  const attempt = beat.attempt ?? known.attempt;
  const maxAttempts = beat.max_attempts ?? known.maxAttempts;
  const labels = labelsAfter(known.labels, beat.labels);
  const place = runtimeId === known.runtimeId && labels === known.labels;
  const same = place && attempt === known.attempt && maxAttempts === known.maxAttempts;
  if (same && beat.task_id === known.taskId) return known;
  return { instanceId: known.instanceId, taskId: beat.task_id, runtimeId, attempt, maxAttempts, labels };
}

/** None told: as they were. */
function labelsAfter(known: Identity['labels'], told: Identity['labels']): Identity['labels'] {
  let more = 0;
  let same = true;
  for (const name in told) {
    more += 1;
    same &&= told[name] === known[name];
  }
  for (const _ in known) more -= 1;
  return (same && more === 0) || isEmpty(told) ? known : told;
}

function isEmpty(labels: Identity['labels']): boolean {
  for (const _ in labels) return false;
  return true;
}
