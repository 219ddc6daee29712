import { runService } from '@vigil/chassis';
import { connectCodec } from '@vigil/events';
import { connectLog, runProcessor } from '@vigil/stream';
import { config } from './config.ts';
import { processor } from './processor.ts';

await runService(process.env, {
  name: 'recovery',
  config,
  async start({ config, log, count, use }) {
    const { KAFKA_BROKERS: brokers, SCHEMA_REGISTRY_URL, VIGIL_PARTITIONS: partitions } = config;
    const codec = await connectCodec(SCHEMA_REGISTRY_URL);
    const kafka = await use(connectLog({ brokers, clientId: 'recovery', codec, logger: log }));
    return { recovery: await use(runProcessor(kafka, processor, { partitions, logger: log, count })) };
  },
});
