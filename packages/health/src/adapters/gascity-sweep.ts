import type { CompiledPolicy, Use } from '@vigil/policy';

/**
 * gascity's stuck sweep under a policy. It finds stale work, where in addition an error is on the screen (the regex axis) or nothing was done
 * since the work moved (the axis of progress mismatch). `patterns`: of the regex axis; null: the policy does not use that axis.
 */
export type Sweep = {
  readonly policy: string;
  /** `misconfigured`: it is enabled, and no axis can find anything */
  readonly state: 'disabled' | 'misconfigured' | 'enabled';
  readonly thresholdMs: number;
  readonly label: string;
  readonly patterns: number | null;
  readonly progressMismatch: boolean;
};

const settingsOf = ({ limits }: Use) => limits as { readonly after?: number; readonly patterns?: readonly unknown[] };

/** null: no state of the policy is such a sweep. */
export const sweepOf = ({ name, enabled, uses, states, warrant }: CompiledPolicy): Sweep | null => {
  const all = states.flatMap(({ anyOf }) => anyOf.map((term) => term.flatMap((use) => uses[use] ?? [])));
  const terms = all.filter((term) => term.some(({ signal }) => signal === 'no_work_update'));
  const inTerms = (wanted: string) => terms.flatMap((term) => term.filter(({ signal }) => signal === wanted));
  const regex = inTerms('error_pattern');
  const progressMismatch = inTerms('progress_mismatch').length > 0;
  if (regex.length === 0 && !progressMismatch) return null;
  const patterns = regex.reduce((sum, use) => sum + (settingsOf(use).patterns?.length ?? 0), 0);
  const isLive = patterns > 0 || progressMismatch;
  return {
    policy: name,
    state: enabled ? (isLive ? 'enabled' : 'misconfigured') : 'disabled',
    thresholdMs: Math.min(...inTerms('no_work_update').map((use) => settingsOf(use).after ?? 0)),
    label: warrant.label,
    patterns: regex.length > 0 ? patterns : null,
    progressMismatch,
  };
};
