import { defineService, openLog } from '@vigil/chassis';
import { config } from './config.ts';
import { openGateway } from './gateway.ts';
import { WRITTEN } from './log/record-encoding.ts';

/** The service, for a process of its own or with others. */
export const gateway = defineService({
  name: 'gateway',
  config,
  async start({ config, logger, count, signal, use }) {
    const log = await use(openLog(config, { clientId: 'gateway', writes: WRITTEN, logger, signal, now: Date.now }));
    const ingress = await use(openGateway(log, config, { logger, count, signal, now: Date.now }));
    logger.info({ url: ingress.url }, 'open');
    return { ingress };
  },
});
