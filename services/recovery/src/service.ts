import { defineService, logSettings, openLog } from '@vigil/chassis';
import { runProcessor, topicsWritten } from '@vigil/stream';
import { countDecided } from './counted.ts';
import { processor } from './processor.ts';

/** The service, for a process of its own or with others. */
export const recovery = defineService({
  name: 'recovery',
  config: logSettings({}),
  async start({ config, logger, count, signal, use }) {
    const writes = topicsWritten(processor);
    const log = await use(openLog(config, { clientId: 'recovery', writes, logger, signal, now: Date.now }));
    const onCommitted = countDecided(count);
    const options = { partitions: config.VIGIL_PARTITIONS, logger, count, onCommitted };
    return { recovery: await use(runProcessor(log, processor, options)) };
  },
});
