import type { Axis } from '@vigil/policy';
import type { ExemptionName } from '../judgement/exemptions.ts';
import type { Verdict } from '../judgement/judge.ts';
import type { Rules } from '../judgement/rules.ts';

/** An exemption that holds. `until` on `now`'s axis, NEVER where it is unknown. */
export type Shown = { readonly name: ExemptionName; readonly suspends: readonly Axis[]; readonly until: number };

/** The one that is shown beside the state: the first that holds, of those that are announced. */
export function shownOf({ exemptions }: Rules, { until, at }: Verdict): Shown | null {
  const i = exemptions.findIndex(({ exemption }, e) => (until[e] ?? 0) > at.now && exemption.announced);
  const first = exemptions[i];
  return first ? { name: first.name, suspends: first.exemption.suspends, until: until[i] ?? 0 } : null;
}
