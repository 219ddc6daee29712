import { createHash } from 'node:crypto';

type Position = { readonly topic: string; readonly partition: number; readonly offset: number };

/** Where a record lies: `topic/partition/offset`. The id of what has none of its own. */
export const positionOf = ({ topic, partition, offset }: Position): string => `${topic}/${partition}/${offset}`;

/** An id that every re-decision gives again: UUID version 5 in form, sha1 over the parts joined by a slash. */
export const eventId = (...parts: readonly (string | number)[]): string => {
  const bytes = createHash('sha1').update(parts.join('/')).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};
