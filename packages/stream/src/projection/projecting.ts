import type { HealthEvent, TopicName } from '@vigil/events';
import { DeadLetter } from '../errors.ts';
import { writeDeadLetter } from '../log/dead-letters.ts';
import type { Log, LogRecord } from '../log/log.ts';
// biome-ignore lint/suspicious/noImportCycles: of types only
import type { PlacedEvent, ProjectionBatch, ProjectionOptions } from './run-projection.ts';

const placed = ({ record: { offset }, event }: Read): PlacedEvent<TopicName> => ({ ...event, offset });

export type Read = { readonly record: LogRecord; readonly event: HealthEvent };

type Sink = Pick<ProjectionOptions<TopicName>, 'apply' | 'service' | 'group' | 'count'>;

/** All at once; where the sink will not have one of them, one by one, and that one is a dead letter. */
export const applyAll = async (
  log: Log,
  sink: Sink,
  batch: ProjectionBatch<TopicName>,
  read: readonly Read[],
): Promise<void> => {
  try {
    await sink.apply({ ...batch, events: read.map(placed) });
  } catch (error) {
    if (!(error instanceof DeadLetter)) throw error;
    await applyOneByOne(log, sink, batch, read);
  }
};

const applyOneByOne = async (
  log: Log,
  sink: Sink,
  batch: ProjectionBatch<TopicName>,
  read: readonly Read[],
): Promise<void> => {
  let from = batch.from;
  for (const [place, one] of read.entries()) {
    const { record } = one;
    const next = place === read.length - 1 ? batch.next : record.offset + 1;
    const part = { ...batch, from, next };
    try {
      await sink.apply({ ...part, events: [placed(one)] });
    } catch (error) {
      if (!(error instanceof DeadLetter)) throw error;
      await writeDeadLetter(log, sink, record, error, 'unprojected');
      await sink.apply({ ...part, events: [] });
    }
    from = next;
  }
};
