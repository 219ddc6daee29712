/** How long a warrant holds, and how often it is renewed, milliseconds (the policy's `warrant`). */
type Terms = { readonly renewMs: number; readonly voidMs: number };

/**
 * An end cannot change any more, so its warrant is renewed ever less often: after half of the end's age. A dead agent that nobody
 * recovers costs some twenty renewals until it is forgotten, instead of one every `renewMs`.
 */
const intervalAt = (now: number, endAt: number | null, { renewMs }: Terms): number =>
  endAt === null ? renewMs : Math.max(renewMs, (now - endAt) / 2);

/** Until when a warrant holds that is filed or renewed now. */
export const leaseOf = (now: number, endAt: number | null, terms: Terms): number =>
  now + Math.round((intervalAt(now, endAt, terms) * terms.voidMs) / terms.renewMs);

/** When it is renewed next: found from its end, so that the state remembers one moment and not two. */
export const renewalOf = (voidAt: number, endAt: number | null, terms: Terms): number => {
  const plain = voidAt - terms.voidMs;
  if (endAt === null || plain - endAt <= 2 * terms.renewMs) return plain + terms.renewMs;
  const leases = terms.voidMs / terms.renewMs / 2;
  const issued = (voidAt + leases * endAt) / (1 + leases);
  return Math.floor(issued + (issued - endAt) / 2);
};
