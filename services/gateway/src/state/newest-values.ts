import type { LogRecord } from '@vigil/stream';

export type RecordPlace = Pick<LogRecord, 'partition' | 'offset' | 'timestamp'>;

type Entry<T> = RecordPlace & { readonly value: T };

/** A value that no longer counts. */
type Over<T> = { readonly key: string; readonly value: T };

/**
 * The newest value of each key, in any order of reading: forwards, or backwards by chunks. Null: the key has none.
 * All records of a key are in one partition. `most`: the keys with a value, and the keys without, that are remembered.
 *
 * Beyond `most` the oldest keys are forgotten. A later call with an unknown key and an offset before a forgotten one
 * changes nothing, because the forgotten record may be the key's newer one. So a key may lack its value, but never has
 * one that is over.
 */
export const createNewestValues = <T>(most: number) => {
  const values = new Map<string, Entry<T>>();
  const settled = new Map<string, Entry<null>>();
  /** the highest forgotten offset of each partition */
  const forgotten = new Map<number, number>();

  const forget = ({ partition, offset }: RecordPlace): void => {
    forgotten.set(partition, Math.max(offset, forgotten.get(partition) ?? -1));
  };
  const isOld = ({ partition, offset }: RecordPlace, known: RecordPlace | undefined): boolean =>
    offset <= (known?.offset ?? forgotten.get(partition) ?? -1);

  /** Returns the entries that were forgotten for this one. A full map does not take an entry older than its first. */
  const keep = <V>(entries: Map<string, Entry<V>>, key: string, entry: Entry<V>): readonly Over<V>[] => {
    const [first] = entries.size < most ? [] : entries;
    if (first !== undefined && entry.timestamp < first[1].timestamp) {
      forget(entry);
      return [];
    }
    entries.set(key, entry);
    if (first === undefined) return [];
    entries.delete(first[0]);
    forget(first[1]);
    return [{ key: first[0], value: first[1].value }];
  };

  return {
    find: (key: string): T | null => values.get(key)?.value ?? null,
    /** Returns the values that no longer count. */
    observe: (key: string, value: T | null, place: RecordPlace): readonly Over<T>[] => {
      const before = values.get(key);
      if (isOld(place, before ?? settled.get(key))) return [];
      values.delete(key);
      settled.delete(key);
      const { partition, offset, timestamp } = place;
      const replaced = before === undefined ? [] : [{ key, value: before.value }];
      if (value !== null) return [...replaced, ...keep(values, key, { value, partition, offset, timestamp })];
      keep(settled, key, { value, partition, offset, timestamp });
      return replaced;
    },
    /** the number of keys with a value, and of those that are remembered without one */
    size: () => ({ values: values.size, settled: settled.size }),
  };
};
