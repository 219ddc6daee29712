import { runService } from '@vigil/chassis';
import { connectCodec } from '@vigil/events';
import { connectLog, runProcessor } from '@vigil/stream';
import { config } from './config.ts';
import { ingest } from './processor.ts';

await runService(process.env, {
  name: 'heartbeat-ingest',
  config,
  async start({ config, log, count, use }) {
    const { KAFKA_BROKERS: brokers, SCHEMA_REGISTRY_URL, VIGIL_PARTITIONS: partitions } = config;
    const codec = await connectCodec(SCHEMA_REGISTRY_URL);
    const kafka = await use(connectLog({ brokers, clientId: 'heartbeat-ingest', codec, logger: log }));
    const processor = await use(runProcessor(kafka, ingest, { partitions, paceMs: 20, logger: log, count }));
    return { ingest: processor };
  },
});
