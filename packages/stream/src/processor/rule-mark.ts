import type { OutRecord } from '../log/log.ts';
import type { AnyDecider, AnyProcessor, AnyRules } from './processor.ts';

type Marker = NonNullable<AnyDecider['marker']>;

export type MarkedAt = {
  readonly partition: number;
  readonly positions: ReadonlyMap<string, number>;
  readonly now: number;
};

export const markerOf = (processor: AnyProcessor): Marker | undefined =>
  'marker' in processor ? processor.marker : undefined;

/** Under which rules everything behind it is folded, and from which positions of the inputs. */
export const markOf = ({ topic, key }: Marker, { value }: AnyRules, at: MarkedAt): OutRecord => {
  const from = Object.fromEntries(at.positions);
  const mark = Buffer.from(JSON.stringify({ rules: value, from }));
  return { topic, partition: at.partition, key, value: mark, timestamp: at.now };
};
