const { compare } = new Intl.Collator('en', { numeric: true });

/** The order of names in a list for people: `worker-2` comes before `worker-10`. Zero only for the same name. */
export const byName = (one: string, other: string): number =>
  compare(one, other) || (one === other ? 0 : one < other ? -1 : 1);
