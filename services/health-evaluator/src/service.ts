import { defineService, openLog } from '@vigil/chassis';
import { Topic } from '@vigil/events';
import { type ProcessorOptions, runProcessor, topicsWritten } from '@vigil/stream';
import { followApplied } from './applying.ts';
import { config } from './config.ts';
import { countDecided } from './counted.ts';
import { loadPolicies } from './policies.ts';
import { EVALUATOR, evaluator } from './processor.ts';

/** The service, for a process of its own or with others. */
export const healthEvaluator = defineService({
  name: 'health-evaluator',
  config,
  async start({ config, logger, count, signal, use }) {
    const files = loadPolicies(config.VIGIL_POLICY_DIR, {
      fallback: config.VIGIL_DEFAULT_POLICY,
      requestable: config.VIGIL_REQUESTABLE_POLICIES,
    });
    const writes = [...topicsWritten(EVALUATOR), Topic.policy];
    const log = await use(openLog(config, { clientId: 'health-evaluator', writes, logger, signal, now: Date.now }));
    const policies = await followApplied(log, files, { logger, count, signal, now: Date.now });
    const options: ProcessorOptions = {
      partitions: config.VIGIL_PARTITIONS,
      paceMs: 20,
      logger,
      count,
      onCommitted: countDecided(count),
    };
    const processor = evaluator(policies.inForce, config.VIGIL_AGENTS_PER_PARTITION);
    return { evaluator: await use(runProcessor(log, processor, options)), policies };
  },
});
