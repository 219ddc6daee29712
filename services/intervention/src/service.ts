import { defineService, openLog } from '@vigil/chassis';
import { runProcessor, topicsWritten } from '@vigil/stream';
import { config } from './config.ts';
import { countDecided } from './counted.ts';
import { agentRequests, cases, governor, spendings } from './processors.ts';

/** The service, for a process of its own or with others. */
export const intervention = defineService({
  name: 'intervention',
  config,
  async start({ config, logger, count, signal, use }) {
    const governed = governor(config.governor);
    const writes = topicsWritten(cases, spendings, agentRequests, governed);
    const log = await use(openLog(config, { clientId: 'intervention', writes, logger, signal, now: Date.now }));
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
