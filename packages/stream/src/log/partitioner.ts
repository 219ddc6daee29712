import { hash } from 'node:crypto';

const SEED = 0x9747b28c;
const M = 0x5bd1e995;

/**
 * The hash by which Kafka's own clients partition a key (org.apache.kafka.common.utils.Utils.murmur2), as a signed
 * 32-bit number.
 */
export const murmur2 = (data: Buffer): number => {
  const { length } = data;
  const whole = length - (length % 4);
  let hash = SEED ^ length;
  for (let at = 0; at < whole; at += 4) {
    let k = Math.imul(data.readInt32LE(at), M);
    k = Math.imul(k ^ (k >>> 24), M);
    hash = Math.imul(hash, M) ^ k;
  }
  if (length > whole) hash = Math.imul(hash ^ data.readUIntLE(whole, length - whole), M);
  hash = Math.imul(hash ^ (hash >>> 13), M);
  return hash ^ (hash >>> 15);
};

/** The partition that Kafka's default partitioner assigns to a key. */
export const partitionOf = (key: string, partitions: number): number =>
  partitions === 1 ? 0 : (murmur2(Buffer.from(key)) & 0x7fffffff) % partitions;

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

type Position = { readonly topic: string; readonly partition: number; readonly offset: number };

/** The position of a record: `topic/partition/offset`. It is the id of a record without an id. */
export const positionOf = ({ topic, partition, offset }: Position): string => `${topic}/${partition}/${offset}`;

/** The key of a partition of a topic in a map: `topic/partition`. */
export const partitionKey = (topic: string, partition: number): string => `${topic}/${partition}`;

/**
 * A deterministic id: the same decision always gets the same id. It has the form of a UUID version 5, with sha1 over
 * the parts joined by a slash.
 */
export const eventId = (...parts: readonly (string | number)[]): string => {
  const hex = hash('sha1', parts.join('/'));
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const last = `${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${last}`;
};
