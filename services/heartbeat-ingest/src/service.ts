import { defineService, openLog } from '@vigil/chassis';
import { runProcessor, topicsWritten } from '@vigil/stream';
import { config, proofCheckFrom } from './config.ts';
import { createIngest } from './processor.ts';

/** The service, for a process of its own or with others. */
export const heartbeatIngest = defineService({
  name: 'heartbeat-ingest',
  config,
  async start({ config, logger, count, signal, use }) {
    const ingest = createIngest(proofCheckFrom(config));
    const writes = topicsWritten(ingest);
    const log = await use(openLog(config, { clientId: 'heartbeat-ingest', writes, logger, signal, now: Date.now }));
    const options = { partitions: config.VIGIL_PARTITIONS, paceMs: 20, logger, count };
    return { ingest: await use(runProcessor(log, ingest, options)) };
  },
});
