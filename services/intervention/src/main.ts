import { runService } from '@vigil/chassis';
import { connectCodec, registryFrom } from '@vigil/events';
import { connectLog, kafkaFrom, runProcessor, topicsWritten } from '@vigil/stream';
import { config } from './config.ts';
import { countDecided } from './counted.ts';
import { agentRequests, cases, governor, spendings } from './processors.ts';

await runService(process.env, {
  name: 'intervention',
  config,
  async start({ config, logger, count, use }) {
    const governed = governor(config.governor);
    const codec = await connectCodec(registryFrom(config), topicsWritten(cases, spendings, agentRequests, governed));
    const log = await use(connectLog({ kafka: kafkaFrom(config), clientId: 'intervention', codec, logger }));
    const onCommitted = countDecided(count);
    const options = { partitions: config.VIGIL_PARTITIONS, logger, count, onCommitted };
    return {
      cases: await use(runProcessor(log, cases, options)),
      spending: await use(runProcessor(log, spendings, options)),
      requests: await use(runProcessor(log, agentRequests, options)),
      governor: await use(runProcessor(log, governed, options)),
    };
  },
});
