import { deadLetterTopic } from '../log/dead-letters.ts';
import type { LogRecord, OutRecord } from '../log/log.ts';
import { dependencies, type Emitted, jsonCodec, listening } from '../runner/processors.fixture.ts';
import { Fold, INGRESS, TICK } from './fold.ts';
import type { AnyProcessor } from './topology.ts';

export const T = 1_795_305_600_000;
export const codec = jsonCodec();

export const feeding = (processor: AnyProcessor = listening('run'), deps = dependencies()) => {
  const fold = new Fold(processor, deps);
  let offset = 0;
  const give = (topic: string, at: number, key: string | null, value: Buffer | null, rest: Partial<LogRecord> = {}) =>
    fold.apply({ topic, partition: 0, offset: offset++, key, value, timestamp: T + at, headers: {}, ...rest });
  const event = (type: string, rest = {}) => Buffer.from(JSON.stringify({ type, payload: {}, ...rest }));
  return {
    fold,
    give,
    event,
    heartbeat: (at: number, key = 'a', rest = {}) => give('run.in', at, key, event('HEARTBEAT', rest)),
    other: (at: number, key = 'a', type = 'HEARTBEAT') => give('run.other', at, key, event(type)),
    tick: (at: number, source = 0) => give('run.in', at, `${TICK}${source}`, null),
    ingress: (at: number) => give('run.in', at, `${INGRESS}gateway`, null),
  };
};
export const emitted = (outs: readonly OutRecord[]): readonly Emitted[] =>
  outs
    .filter(({ key, topic }) => !key?.startsWith('@') && topic === 'run.out')
    .map(
      ({ key, value, topic }) =>
        ({
          ...codec.decode(topic as never, value!).envelope!,
          ...codec.decode(topic as never, value!),
          key: key!,
        }) as unknown as Emitted,
    );
export const deadLetters = (outs: readonly OutRecord[]) =>
  outs
    .filter(({ topic }) => topic === deadLetterTopic('run'))
    .map(
      ({ value }) =>
        codec.decode('x' as never, value!).payload as {
          failure_reason: string;
          left_out: number;
          original_message: { truncated: boolean; value: { data: number[] }; key: string };
        },
    );
