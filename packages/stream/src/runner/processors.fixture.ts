import { randomUUID } from 'node:crypto';
import {
  type Codec,
  type Draft,
  type Envelope,
  type HealthEvent,
  NewerEvent,
  Undecodable,
  UnknownSchemaId,
} from '@vigil/events';
import type { Log } from '../log/log.ts';
import { type Decider, NEVER } from '../processor/decider.ts';
import type { TaskDeps } from '../processor/partition-task.ts';
import { SharedWriter } from '../processor/shared-writer.ts';
import type { AnyDecider, AnyMapper } from '../processor/topology.ts';
import { quiet } from '../testing.ts';

/** For tests of the runners: events as JSON on topics of any name. Values `?7` have the schema id 7; ids below 10 can be learned. `newer` is an event of a newer version. */
export const jsonCodec = (): Codec => {
  const known = new Set<number>();
  return {
    encode: (event) => Buffer.from(JSON.stringify(event)),
    decode: (_, value) => {
      const text = value.toString();
      if (text === 'newer') throw new NewerEvent('NEWER is an event of a newer version');
      if (text.startsWith('?')) {
        const id = Number(text.slice(1));
        if (!known.has(id)) throw new UnknownSchemaId(id);
        return { type: 'LEARNED', payload: {}, envelope: null };
      }
      try {
        const { type, payload, eventId, ...rest } = JSON.parse(text);
        return { type, payload, envelope: eventId === undefined ? null : ({ eventId, ...rest } as Envelope) };
      } catch {
        throw new Undecodable('not_json', `the value is ${text.slice(0, 20)}`);
      }
    },
    learn: async ({ id }) => {
      if (id >= 10) throw new Undecodable('unknown_schema_id', `the registry has no schema ${id}`);
      known.add(id);
    },
  };
};

/** An event as a test reads it. */
export type Emitted = {
  readonly type: string;
  readonly key: string;
  readonly payload: { readonly n?: number; readonly at?: number };
} & Envelope;

/** Counts the inputs of a key, and reports when there has been no input for 3 s of watched time. */
export type Listening = {
  readonly key: string;
  readonly received: number;
  readonly reported: number;
  readonly seen: number;
  readonly missing: boolean;
};

const LIMIT_MS = 3000;

const draft = (topic: string, type: string, key: string, payload: object) =>
  ({ topic, type, key, payload }) as unknown as Draft;

export const listener = (topic: string): Decider<Listening, HealthEvent, Draft> => ({
  initial: { key: '', received: 0, reported: 0, seen: 0, missing: false },
  observe: (state, input, clock) => {
    if (input.type === ('BOOM' as string)) throw new Error('boom');
    return { ...state, key: input.key, received: state.received + 1, seen: clock.watched };
  },
  decide: (state, clock) => [
    ...(state.received > state.reported
      ? [draft(topic, 'RECEIVED', state.key, { n: state.received, at: clock.now })]
      : []),
    ...(state.key !== '' && !state.missing && clock.watched - state.seen >= LIMIT_MS
      ? [draft(topic, 'MISSING', state.key, { at: clock.now })]
      : []),
  ],
  evolve: (state, event) =>
    event.type === ('RECEIVED' as string)
      ? { ...state, reported: state.received, missing: false }
      : { ...state, missing: true },
  dueAt: (state, clock) => {
    if (state.key === '' || state.missing) return NEVER;
    return clock.now + Math.max(0, LIMIT_MS - (clock.watched - state.seen));
  },
});

/** A processor over the listener, on topics of any name: `<run>.in`, `<run>.other`, and `<run>.out` with a tick route. */
export const listening = (run: string, rest: Partial<AnyDecider> = {}): AnyDecider => ({
  processor: run,
  service: run,
  reads: [`${run}.in`, `${run}.other`] as never,
  writes: [`${run}.out`] as never,
  time: { topic: `${run}.in` as never, sources: 'own' },
  ticks: [{ topic: `${run}.out` as never, everyMs: 1000, to: 'same' }],
  decider: listener(`${run}.out`) as AnyDecider['decider'],
  atRest: { oldest: 1, upgrades: [], usual: null },
  ...rest,
});

/** A mapper that emits every input again. */
export const echoing = (run: string, rest: Partial<AnyMapper> = {}): AnyMapper => ({
  processor: run,
  service: run,
  reads: [`${run}.in`] as never,
  writes: [`${run}.out`] as never,
  time: { topic: `${run}.in` as never, sources: 'own' },
  ticks: [{ topic: `${run}.out` as never, everyMs: 1000, to: 'same' }],
  map: (input, now, receivedAt) => [draft(`${run}.out`, 'ECHO', input.key, { now, receivedAt, echoed: input.payload })],
  ...rest,
});

/** The topics of a run and their partitions. */
export const topicsOf = (run: string, partitions: number): Readonly<Record<string, number>> => ({
  [`${run}.in`]: partitions,
  [`${run}.other`]: partitions,
  [`${run}.out`]: partitions,
  [`onex.dlq.${run}.dead-letter.v1`]: partitions,
  [`onex.snapshot.${run}.state.v1`]: partitions,
});

export const dependencies = (rest: Partial<TaskDeps> = {}): TaskDeps => ({
  codec: jsonCodec(),
  partition: 0,
  partitions: () => 1,
  sources: 1,
  version: '1',
  count: quiet.count,
  ...rest,
});

const writers = new Set<string>();

/** A writer that fences the earlier ones of the tests at once, without waiting until they give their partitions up. */
export const writerOn = (log: Pick<Log, 'fence'>): SharedWriter => {
  const id = `run-${randomUUID()}`;
  const writer = new SharedWriter({ log, id, former: new Set(writers), onCommitted: () => {} });
  writers.add(id);
  return writer;
};
