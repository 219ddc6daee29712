import { runService } from '@vigil/chassis';
import { connectCodec } from '@vigil/events';
import { connectLog, runProcessor, topicsWritten } from '@vigil/stream';
import { config } from './config.ts';
import { cases, governor, spendings } from './processors.ts';

await runService(process.env, {
  name: 'intervention',
  config,
  async start({ config, logger, count, use }) {
    const governed = governor(config.governor);
    const codec = await connectCodec(config.SCHEMA_REGISTRY_URL, topicsWritten(cases, spendings, governed));
    const log = await use(connectLog({ brokers: config.KAFKA_BROKERS, clientId: 'intervention', codec, logger }));
    const options = { partitions: config.VIGIL_PARTITIONS, logger, count };
    return {
      cases: await use(runProcessor(log, cases, options)),
      spending: await use(runProcessor(log, spendings, options)),
      governor: await use(runProcessor(log, governed, options)),
    };
  },
});
