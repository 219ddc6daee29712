const SEED = 0x9747b28c;
const M = 0x5bd1e995;

/** The hash by which Kafka's own clients place a key (org.apache.kafka.common.utils.Utils.murmur2), as a signed 32-bit number. */
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

/** The partition of a key, where Kafka's default partitioner puts it. */
export const partitionOf = (key: string, partitions: number): number =>
  partitions === 1 ? 0 : (murmur2(Buffer.from(key)) & 0x7fffffff) % partitions;
