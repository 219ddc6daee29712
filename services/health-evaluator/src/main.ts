import { runService } from '@vigil/chassis';
import { connectCodec } from '@vigil/events';
import { connectLog, runProcessor, writer } from '@vigil/stream';
import { config } from './config.ts';
import { loadPolicies } from './policies.ts';
import { evaluator, published } from './processor.ts';

await runService({
  name: 'health-evaluator',
  config,
  async start({ config, log, count, use }) {
    const { KAFKA_BROKERS: brokers, SCHEMA_REGISTRY_URL, VIGIL_PARTITIONS: partitions } = config;
    const policies = loadPolicies(config.VIGIL_POLICY_DIR, config.VIGIL_DEFAULT_POLICY);
    for (const { name, warnings } of policies.all) for (const warning of warnings) log.warn({ policy: name }, warning);
    const codec = await connectCodec(SCHEMA_REGISTRY_URL);
    const kafka = await use(connectLog({ brokers, clientId: 'health-evaluator', codec, logger: log }));
    await writer(kafka).write(published(policies));
    const processor = await use(
      runProcessor(kafka, evaluator(policies), { partitions, paceMs: 20, logger: log, count }),
    );
    return { evaluator: processor };
  },
});
