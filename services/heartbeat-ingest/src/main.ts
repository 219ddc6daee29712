import { runService } from '@vigil/chassis';
import { connectCodec, registryFrom } from '@vigil/events';
import { connectLog, kafkaFrom, runProcessor, topicsWritten } from '@vigil/stream';
import { config, proofCheckFrom } from './config.ts';
import { createIngest } from './processor.ts';

await runService(process.env, {
  name: 'heartbeat-ingest',
  config,
  async start({ config, logger, count, use }) {
    const ingest = createIngest(proofCheckFrom(config));
    const codec = await connectCodec(registryFrom(config), topicsWritten(ingest));
    const log = await use(connectLog({ kafka: kafkaFrom(config), clientId: 'heartbeat-ingest', codec, logger }));
    const options = { partitions: config.VIGIL_PARTITIONS, paceMs: 20, logger, count };
    return { ingest: await use(runProcessor(log, ingest, options)) };
  },
});
