import { spell } from '@vigil/policy';
import type { HangingTransaction } from './doctor.ts';
import type { View } from './view.ts';

const tool = (brokers: readonly string[], rest: string): string =>
  `  kafka-transactions.sh --bootstrap-server ${brokers.join(',')} ${rest}`;

/** What to do about each, in the order in which it is to be done. */
export function hangingLines(
  { paint }: View,
  hanging: readonly HangingTransaction[],
  brokers: readonly string[],
): string[] {
  if (hanging.length === 0) return ['No transaction hangs.'];
  return [
    ...hanging.map(
      ({ topic, partition, stableEnd, end, forMs }) =>
        `${paint.red('BAD')}  ${topic}/${partition} stands at ${stableEnd} of ${end} for ${spell(forMs)}`,
    ),
    '',
    'Ending it loses what the transaction wrote to the partition: look first what was decided.',
    '1. Stop the service that writes there.',
    "2. Look at the state of its transactional id, <processor>-<partition>, with the tool of your Kafka's version:",
    tool(brokers, 'describe --transactional-id ID'),
    '   CompleteCommit: it was committed, and its other partitions show it. Abort only where every partition of it hangs.',
    '3. Abort, once a partition:',
    ...hanging.map(({ topic, partition, stableEnd }) =>
      tool(brokers, `abort --topic ${topic} --partition ${partition} --start-offset ${stableEnd}`),
    ),
    '4. Start the service again; vigil doctor shows whether readers get further.',
  ];
}
