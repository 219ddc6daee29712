import { randomUUID } from 'node:crypto';
import { type Codec, type Draft, type HealthEvent, type TopicName, Undecodable } from '@vigil/events';
import {
  connectLog,
  type Decider,
  type DeciderProcessor,
  type Log,
  NEVER,
  plaintext,
  runProcessor,
} from '@vigil/stream';

/**
 * The start parameters of a worker, as JSON. `fencing`: false for the control, whose transactional ids no other worker
 * uses.
 */
export type WorkerPlan = {
  readonly brokers: readonly string[];
  readonly processor: string;
  readonly reads: TopicName;
  readonly writes: TopicName;
  readonly sessionMs: number;
  readonly fencing: boolean;
};

/** A counted input: its id, and the count of its key. */
export type Counted = { readonly id: number; readonly n: number };

/** Events as JSON, on topics that no other process uses, because the subject is the runner. */
export const jsonCodec: Codec = {
  encode: (event) => Buffer.from(JSON.stringify(event)),
  decode: (_, value) => {
    const { type, payload, eventId, ...rest } = JSON.parse(value.toString());
    return { type, payload, envelope: eventId === undefined ? null : { eventId, ...rest } };
  },
  learn: async ({ id }) => {
    throw new Undecodable('unknown_schema_id', `no schema ${id}: these are JSON`);
  },
};

type Counting = { readonly key: string; readonly n: number; readonly unreported: readonly Counted[] };

const counting = (topic: TopicName): Decider<Counting, HealthEvent, Draft> => ({
  initial: { key: '', n: 0, unreported: [] },
  observe: ({ n, unreported }, { key, payload }) => ({
    key,
    n: n + 1,
    unreported: [...unreported, { id: (payload as unknown as Counted).id, n: n + 1 }],
  }),
  decide: ({ key, unreported }) =>
    unreported.map((payload) => ({ topic, type: 'COUNTED', key, payload }) as unknown as Draft),
  evolve: (state) => ({ ...state, unreported: state.unreported.slice(1) }),
  dueAt: () => NEVER,
});

const processorOf = ({ processor, reads, writes }: WorkerPlan) =>
  ({
    processor,
    service: processor,
    reads: [reads],
    writes: [writes],
    time: null,
    ticks: [],
    decider: counting(writes),
    atRest: { oldest: 1, upgrades: [], usual: null },
  }) as unknown as DeciderProcessor<Counting, TopicName, TopicName>;

/** Runs the counting processor until the process is ended. */
export const work = async (plan: WorkerPlan): Promise<never> => {
  const { brokers, sessionMs } = plan;
  const logger = { debug: () => {}, info: console.log, warn: console.log, error: console.log };
  const log = await connectLog({ kafka: plaintext(brokers), clientId: 'worker', codec: jsonCodec, sessionMs, logger });
  const unfenced: Log = { ...log, fence: (id) => log.fence(`${id}-${randomUUID()}`) };
  const running = await runProcessor(plan.fencing ? log : unfenced, processorOf(plan), {
    partitions: 4,
    logger,
    count: () => {},
  });
  return running.finished;
};

if (process.argv[2]?.startsWith('{'))
  work(JSON.parse(process.argv[2])).catch((error: unknown) => {
    console.log(error);
    process.exit(1);
  });
