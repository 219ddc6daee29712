import type { Axis } from '@vigil/policy';
import type { ExemptionName } from './exemptions.ts';
import type { Verdict } from './judge.ts';
import type { Rules } from './rules.ts';

/** An exemption that holds. `until` on `now`'s axis, NEVER where nobody knows. */
export type Shown = { readonly name: ExemptionName; readonly suspends: readonly Axis[]; readonly until: number };

/** The one that is shown beside the state: the first that holds, of those that are announced. */
export function shownOf({ exemptions }: Rules, { until, at }: Verdict): Shown | null {
  for (const [i, { name, exemption }] of exemptions.entries()) {
    const end = until[i] ?? 0;
    if (exemption.announced && end > at.now) return { name, suspends: exemption.suspends, until: end };
  }
  return null;
}
