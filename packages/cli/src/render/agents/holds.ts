import type { Entry } from '@vigil/read-model';

type Change = { readonly held: boolean; readonly by: string };
type Exemption = { readonly from: string | null; readonly to: string | null };

/** A hold and its exemption are recorded at once. A later exemption has another cause, such as the end of a wait. */
const AT_ONCE_MS = 5000;

const REQUESTS: Readonly<Record<string, boolean>> = { HOLD_AGENT: true, RELEASE_AGENT: false };

const isRequestOf = ({ at, type, payload }: Entry, change: Entry): boolean => {
  const { held, by } = change.payload as Change;
  return REQUESTS[type] === held && (payload as { readonly by: string }).by === by && at <= change.at;
};

/** Another exemption than that of the hold is news of its own. */
const isExemptionOf = ({ at, type, payload }: Entry, change: Entry): boolean => {
  if (type !== 'EXEMPTION_CHANGED' || Math.abs(at - change.at) > AT_ONCE_MS) return false;
  const { from, to } = payload as Exemption;
  return (change.payload as Change).held ? to === 'held' : from === 'held' && to === null;
};

/** Each hold and release as its outcome alone, without its request and its exemption. A request without an outcome remains. */
export const onePerHold = (entries: readonly Entry[]): readonly Entry[] => {
  const left = new Set(entries);
  for (const change of entries) {
    if (change.type !== 'HOLD_CHANGED' && change.type !== 'HOLD_REFUSED') continue;
    const others = [...left];
    const request = others.findLast((one) => isRequestOf(one, change));
    const exemption = change.type === 'HOLD_CHANGED' ? others.find((one) => isExemptionOf(one, change)) : undefined;
    for (const one of [request, exemption]) if (one !== undefined) left.delete(one);
  }
  return entries.filter((one) => left.has(one));
};
