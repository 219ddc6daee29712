/** A member of a group, and the partitions it has now. */
export type MemberShare = { readonly id: string; readonly held: readonly number[] };

/**
 * Shares partition numbers out evenly, so that one member has the same numbers of all topics. A member keeps its
 * partitions as far as the shares allow: a new member takes from each other only its own share.
 */
export const shareOut = (
  members: readonly MemberShare[],
  partitions: number,
): ReadonlyMap<string, readonly number[]> => {
  const sorted = members.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const free = new Set(Array.from({ length: partitions }, (_, p) => p));
  const due = (place: number) => Math.floor(partitions / sorted.length) + (place < partitions % sorted.length ? 1 : 0);
  const kept = sorted.map(({ held }, place) =>
    held
      .filter((p) => free.has(p))
      .slice(0, due(place))
      .filter((p) => free.delete(p)),
  );
  const rest = [...free];
  return new Map(
    sorted.map(({ id }, place) => {
      const mine = kept[place] ?? [];
      return [id, [...mine, ...rest.splice(0, due(place) - mine.length)].toSorted((a, b) => a - b)];
    }),
  );
};
