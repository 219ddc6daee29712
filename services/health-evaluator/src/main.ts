import { runService } from '@vigil/chassis';
import { connectCodec } from '@vigil/events';
import { connectLog, runProcessor } from '@vigil/stream';
import { followApplied } from './applying.ts';
import { config } from './config.ts';
import { loadPolicies } from './policies.ts';
import { evaluator } from './processor.ts';
import { countWarrants } from './warrants.ts';

await runService(process.env, {
  name: 'health-evaluator',
  config,
  async start({ config, log, count, signal, use }) {
    const { KAFKA_BROKERS: brokers, SCHEMA_REGISTRY_URL, VIGIL_PARTITIONS: partitions } = config;
    const files = loadPolicies(config.VIGIL_POLICY_DIR, config.VIGIL_DEFAULT_POLICY);
    const codec = await connectCodec(SCHEMA_REGISTRY_URL);
    const kafka = await use(connectLog({ brokers, clientId: 'health-evaluator', codec, logger: log }));
    const policies = await followApplied(kafka, files, { logger: log, count, signal, now: Date.now });
    const processor = await use(
      runProcessor(kafka, evaluator(policies.inForce), {
        ...{ partitions, paceMs: 20, logger: log, count },
        committed: countWarrants(count),
      }),
    );
    return { evaluator: processor, policies };
  },
});
