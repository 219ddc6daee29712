import { kafkaSettings, runService } from '@vigil/chassis';
import { connectCodec } from '@vigil/events';
import { connectLog, runProcessor, topicsWritten } from '@vigil/stream';
import { z } from 'zod';
import { processor } from './processor.ts';

await runService(process.env, {
  name: 'recovery',
  config: z.object(kafkaSettings),
  async start({ config, logger, count, use }) {
    const codec = await connectCodec(config.SCHEMA_REGISTRY_URL, topicsWritten(processor));
    const log = await use(connectLog({ brokers: config.KAFKA_BROKERS, clientId: 'recovery', codec, logger }));
    const options = { partitions: config.VIGIL_PARTITIONS, logger, count };
    return { recovery: await use(runProcessor(log, processor, options)) };
  },
});
