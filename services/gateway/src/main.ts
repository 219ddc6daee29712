import { runService } from '@vigil/chassis';
import { connectCodec } from '@vigil/events';
import { connectLog } from '@vigil/stream';
import { config } from './config.ts';
import { openGateway } from './gateway.ts';

await runService(process.env, {
  name: 'gateway',
  config,
  async start({ config, log, count, signal, use }) {
    const { KAFKA_BROKERS: brokers, SCHEMA_REGISTRY_URL } = config;
    const codec = await connectCodec(SCHEMA_REGISTRY_URL);
    const kafka = await use(connectLog({ brokers, clientId: 'gateway', codec, logger: log }));
    const door = await use(openGateway(kafka, config, { log, count, signal, now: Date.now }));
    log.info({ url: door.url }, 'open');
    return { door: { ready: door.ready, finished: door.finished } };
  },
});
