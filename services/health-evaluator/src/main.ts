import { runService } from '@vigil/chassis';
import { connectCodec, registryFrom, Topic } from '@vigil/events';
import { connectLog, kafkaFrom, type ProcessorOptions, runProcessor, topicsWritten } from '@vigil/stream';
import { followApplied } from './applying.ts';
import { config } from './config.ts';
import { countDecided } from './counted.ts';
import { loadPolicies } from './policies.ts';
import { EVALUATOR, evaluator } from './processor.ts';

await runService(process.env, {
  name: 'health-evaluator',
  config,
  async start({ config, logger, count, signal, use }) {
    const files = loadPolicies(config.VIGIL_POLICY_DIR, {
      fallback: config.VIGIL_DEFAULT_POLICY,
      requestable: config.VIGIL_REQUESTABLE_POLICIES,
    });
    const codec = await connectCodec(registryFrom(config), [...topicsWritten(EVALUATOR), Topic.policy]);
    const log = await use(connectLog({ kafka: kafkaFrom(config), clientId: 'health-evaluator', codec, logger }));
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
