import { hash } from 'node:crypto';

type Position = { readonly topic: string; readonly partition: number; readonly offset: number };

/** The position of a record: `topic/partition/offset`. It is the id of a record without an id. */
export const positionOf = ({ topic, partition, offset }: Position): string => `${topic}/${partition}/${offset}`;

/** The key of a partition of a topic in a map: `topic/partition`. */
export const partitionKey = (topic: string, partition: number): string => `${topic}/${partition}`;

/** An id that every re-decision gives again: UUID version 5 in form, sha1 over the parts joined by a slash. */
export const eventId = (...parts: readonly (string | number)[]): string => {
  const hex = hash('sha1', parts.join('/'));
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const last = `${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${last}`;
};
