/**
 * A count for each name. The names are divided into buckets, so that a change copies one bucket: with 5,000 names it
 * takes microseconds instead of a millisecond.
 */
export type Counts = readonly Readonly<Record<string, number>>[];

const BUCKETS = 256;

export const NO_COUNTS: Counts = Array.from({ length: BUCKETS }, () => ({}));

const bucketOf = (name: string): number => {
  let hash = 0;
  for (let i = 0; i < name.length; i += 1) hash = (Math.imul(hash, 31) + name.charCodeAt(i)) >>> 0;
  return hash % BUCKETS;
};

/** 0: the name has none. A name may be `constructor`, so inherited properties do not count. */
export const countOf = (counts: Counts, name: string): number => {
  const bucket = counts[bucketOf(name)] ?? {};
  return Object.hasOwn(bucket, name) ? (bucket[name] ?? 0) : 0;
};

/** The counts with another one for this name; with 0 the name is forgotten. */
export const withCount = (counts: Counts, name: string, count: number): Counts => {
  const at = bucketOf(name);
  if (count !== 0) return counts.with(at, { ...counts[at], [name]: count });
  const { [name]: _, ...others } = counts[at] ?? {};
  return counts.with(at, others);
};

export const countedNames = (counts: Counts): readonly string[] => counts.flatMap((bucket) => Object.keys(bucket));
