import { runService } from '@vigil/chassis';
import { connectCodec, registryFrom } from '@vigil/events';
import { connectLog, kafkaFrom } from '@vigil/stream';
import { config } from './config.ts';
import { openGateway } from './gateway.ts';
import { WRITTEN } from './log/record-encoding.ts';

await runService(process.env, {
  name: 'gateway',
  config,
  async start({ config, logger, count, signal, use }) {
    const codec = await connectCodec(registryFrom(config), WRITTEN);
    const log = await use(connectLog({ kafka: kafkaFrom(config), clientId: 'gateway', codec, logger }));
    const ingress = await use(openGateway(log, config, { logger, count, signal, now: Date.now }));
    logger.info({ url: ingress.url }, 'open');
    return { ingress };
  },
});
