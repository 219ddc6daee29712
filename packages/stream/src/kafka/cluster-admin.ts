import type { Admin, Kafka } from 'kafkajs';
import { Refused } from '../errors.ts';
import type { Bounds } from '../log/log.ts';
import { within } from '../runner/within.ts';
import { isMomentary, pastMoment } from './client.ts';

const ANSWER_MS = 10_000;
const TRIES = 5;
/** Each retry waits this much longer than the previous one. */
const STEP_MS = 200;

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The client fails on the metadata that it lacks where its only broker has gone. */
const namingAway = (error: unknown): never => {
  throw error instanceof TypeError ? new Error('no broker answers', { cause: error }) : error;
};

/** Queries of the cluster. Each answers within 10 s or throws. */
export class ClusterAdmin {
  readonly #admin: Admin;
  /** its ends are last stable offsets */
  readonly #stable: Admin;
  readonly #counts = new Map<string, number>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(kafka: Kafka) {
    this.#admin = kafka.admin();
    this.#stable = kafka.admin({ readUncommitted: false } as Parameters<Kafka['admin']>[0]);
  }

  async open(): Promise<void> {
    await within(ANSWER_MS, Promise.all([this.#admin.connect(), this.#stable.connect()]), 'connecting');
  }

  async close(): Promise<void> {
    await Promise.all([this.#admin.disconnect(), this.#stable.disconnect()]);
  }

  readonly clusterId = async (): Promise<string> =>
    (await within(ANSWER_MS, this.#admin.describeCluster().catch(namingAway), 'the cluster id')).clusterId;

  readonly partitionCount = async (topic: string): Promise<number> => {
    const known = this.#counts.get(topic);
    if (known !== undefined) return known;
    for (let tries = 1; ; tries++) {
      const count = await this.#counted(topic);
      if (count > 0) {
        this.#counts.set(topic, count);
        return count;
      }
      if (tries === TRIES) throw new Refused(`there is no topic ${topic}: create it with \`vigil topics apply\``);
      await later(tries * STEP_MS);
    }
  };

  /** 0 if the queried broker does not have the topic (yet). */
  async #counted(topic: string): Promise<number> {
    const topics = await this.#inTurn(() => within(ANSWER_MS, this.#admin.listTopics(), 'the list of topics'));
    if (!topics.includes(topic)) return 0;
    try {
      const { topics: found } = await this.#inTurn(() =>
        within(ANSWER_MS, this.#admin.fetchTopicMetadata({ topics: [topic] }), topic),
      );
      return found[0]?.partitions.length ?? 0;
    } catch (error) {
      if (isMomentary(error)) return 0;
      throw error;
    }
  }

  /** The ends of the log, including records of unfinished transactions. */
  readonly bounds = (topic: string): Promise<readonly Bounds[]> => this.#ends(this.#admin, topic);

  /** The last stable offsets, by partition. */
  readonly stableEnds = async (topic: string): Promise<readonly number[]> =>
    (await this.#ends(this.#stable, topic)).map(({ high }) => high);

  /** The offsets that the members of a group published last, by partition. */
  readonly groupOffsets = async (group: string, topic: string): Promise<readonly (number | null)[]> => {
    const found = await this.#inTurn(() =>
      pastMoment(() =>
        within(ANSWER_MS, this.#admin.fetchOffsets({ groupId: group, topics: [topic] }), `the offsets of ${group}`),
      ),
    );
    const published = (found[0]?.partitions ?? []).map(({ partition, offset }) => [partition, Number(offset)] as const);
    const offsets = new Map(published);
    return Array.from({ length: await this.partitionCount(topic) }, (_, partition) => {
      const offset = offsets.get(partition) ?? -1;
      return offset < 0 ? null : offset;
    });
  };

  /** The first offset at or after a moment, by partition; the end of the log if there is no such record. */
  readonly offsetsAt = async (topic: string, timestamp: number): Promise<readonly number[]> => {
    const found = await this.#inTurn(() =>
      within(ANSWER_MS, this.#admin.fetchTopicOffsetsByTimestamp(topic, timestamp), topic),
    );
    return found.toSorted((a, b) => a.partition - b.partition).map(({ offset }) => Number(offset));
  };

  /**
   * Runs requests one at a time. While the client loads the metadata of one topic it drops another, which then appears
   * to have no partitions.
   */
  #inTurn<T>(request: () => Promise<T>): Promise<T> {
    const answer = this.#turn.then(request);
    this.#turn = answer.catch(() => {});
    return answer;
  }

  async #ends(admin: Admin, topic: string): Promise<readonly Bounds[]> {
    const offsets = await pastMoment(() =>
      this.#inTurn(() => within(ANSWER_MS, admin.fetchTopicOffsets(topic), `the bounds of ${topic}`)),
    );
    const sorted = offsets.toSorted((a, b) => a.partition - b.partition);
    return sorted.map(({ low, high }) => ({ low: Number(low), high: Number(high) }));
  }
}
