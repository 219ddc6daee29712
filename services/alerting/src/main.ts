import { runService } from '@vigil/chassis';
import { connectCodec } from '@vigil/events';
import { connectLog, runProcessor } from '@vigil/stream';
import { config } from './config.ts';
import { runDeliveries } from './deliveries.ts';
import { followPolicies } from './policy-alerts.ts';
import { agentMapper, alertDecider, fleetMapper, taskMapper } from './processors.ts';
import { consoleOnly } from './routing.ts';

await runService({
  name: 'alerting',
  config,
  async start({ config, log, count, signal, use }) {
    const { KAFKA_BROKERS: brokers, SCHEMA_REGISTRY_URL, VIGIL_PARTITIONS: partitions } = config;
    const waits = { groupWaitMs: config.VIGIL_ALERT_GROUP_WAIT_MS, repeatMs: config.VIGIL_ALERT_REPEAT_MS };
    const settings = { ...waits, routing: consoleOnly };
    const codec = await connectCodec(SCHEMA_REGISTRY_URL);
    const kafka = await use(connectLog({ brokers, clientId: 'alerting', codec, logger: log }));
    const options = { partitions, logger: log, count };
    const write = (line: string) => void process.stdout.write(line);
    const policies = await followPolicies(kafka, signal);
    return {
      policies,
      agents: await use(runProcessor(kafka, agentMapper(policies.alerts), options)),
      tasks: await use(runProcessor(kafka, taskMapper(policies.alerts), options)),
      fleet: await use(runProcessor(kafka, fleetMapper, options)),
      alerts: await use(runProcessor(kafka, alertDecider(settings), options)),
      delivery: await use(runDeliveries(kafka, config.VIGIL_ALERT_SINKS, { write, logger: log })),
    };
  },
});
