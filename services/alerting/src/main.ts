import { runService } from '@vigil/chassis';
import { connectCodec } from '@vigil/events';
import { connectLog, runProcessor } from '@vigil/stream';
import { config, settingsOf } from './config.ts';
import { openChannels } from './delivery/channels.ts';
import { runDeliveries } from './delivery/deliveries.ts';
import { followPolicies } from './notices/policy-alerts.ts';
import { agentMapper, alertDecider, fleetMapper, taskMapper } from './processors.ts';

await runService(process.env, {
  name: 'alerting',
  config,
  async start({ config, log, count, signal, use }) {
    const { KAFKA_BROKERS: brokers, SCHEMA_REGISTRY_URL, VIGIL_PARTITIONS: partitions } = config;
    const write = (line: string) => void process.stdout.write(line);
    const { routing, sinks } = openChannels(config, { env: process.env, now: Date.now, write });
    const codec = await connectCodec(SCHEMA_REGISTRY_URL);
    const kafka = await use(connectLog({ brokers, clientId: 'alerting', codec, logger: log }));
    const options = { partitions, logger: log, count };
    const policies = await followPolicies(kafka, signal);
    return {
      policies,
      agents: await use(runProcessor(kafka, agentMapper(policies.alerts), options)),
      tasks: await use(runProcessor(kafka, taskMapper(policies.alerts), options)),
      fleet: await use(runProcessor(kafka, fleetMapper(policies.alerts), options)),
      alerts: await use(runProcessor(kafka, alertDecider(settingsOf(config, routing)), options)),
      delivery: await use(runDeliveries(kafka, sinks, { now: Date.now, random: Math.random, logger: log, count })),
    };
  },
});
