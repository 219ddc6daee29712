import type { Count } from '@vigil/chassis';
import type { Draft, WarrantFiledPayload } from '@vigil/events';

/** omniclaude's attribute, one of a few: what its sweep has found, else the axis of what comes first. */
export const axisOf = ({ evidence, axes }: Pick<WarrantFiledPayload, 'evidence' | 'axes'>): string => {
  if (evidence.some(({ matched }) => matched !== null)) return 'regex';
  if (evidence.some(({ signal }) => signal === 'progress_mismatch')) return 'progress_mismatch';
  return axes[0] ?? 'none';
};

/** Counts each filed warrant; a renewal does not count. */
export const countWarrants =
  (count: Count) =>
  (drafts: readonly Draft[]): void => {
    for (const { type, payload } of drafts) if (type === 'WARRANT_FILED') count('warrants', 1, axisOf(payload));
  };
