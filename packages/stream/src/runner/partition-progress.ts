import type { PartitionReading } from './watchdog.ts';

/** How far a partition number of some topics is read. `at`: the next offset to read of a topic. */
export class PartitionProgress implements PartitionReading {
  readonly partition: number;
  readonly phase = 'running';
  progress = 0;
  readonly #topics: readonly string[];
  readonly #at: (topic: string) => number | undefined;

  constructor(partition: number, topics: readonly string[], at: (topic: string) => number | undefined) {
    this.partition = partition;
    this.#topics = topics;
    this.#at = at;
  }

  get positions(): ReadonlyMap<string, number> {
    const all = this.#topics.map((topic) => [topic, this.#at(topic)] as const);
    return new Map(all.filter((one): one is readonly [string, number] => one[1] !== undefined));
  }
}
