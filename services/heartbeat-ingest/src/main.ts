import { runService } from '@vigil/chassis';
import { connectCodec } from '@vigil/events';
import { connectLog, runProcessor, topicsWritten } from '@vigil/stream';
import { config } from './config.ts';
import { ingest } from './processor.ts';

await runService(process.env, {
  name: 'heartbeat-ingest',
  config,
  async start({ config, logger, count, use }) {
    const codec = await connectCodec(config.SCHEMA_REGISTRY_URL, topicsWritten(ingest));
    const log = await use(connectLog({ brokers: config.KAFKA_BROKERS, clientId: 'heartbeat-ingest', codec, logger }));
    const options = { partitions: config.VIGIL_PARTITIONS, paceMs: 20, logger, count };
    return { ingest: await use(runProcessor(log, ingest, options)) };
  },
});
