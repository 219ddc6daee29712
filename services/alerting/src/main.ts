import { runService } from '@vigil/chassis';
import { connectCodec, registryFrom } from '@vigil/events';
import { connectLog, kafkaFrom, runProcessor, writer } from '@vigil/stream';
import { config, ownHealthSettings, settingsOf } from './config.ts';
import { openChannels } from './delivery/channels.ts';
import { runDeliveries } from './delivery/deliveries.ts';
import { followPolicies } from './notices/policy-alerts.ts';
import { watchOwnHealth } from './own-health/own-health.ts';
import { agentMapper, alertDecider, fleetMapper, taskMapper, WRITTEN } from './processors.ts';
import { runAssessments } from './triage/assessments.ts';
import { triageModelOf } from './triage/model.ts';

await runService(process.env, {
  name: 'alerting',
  config,
  async start({ config, logger, count, signal, use }) {
    const write = (line: string) => void process.stdout.write(line);
    const { routing, sinks } = openChannels(config, { env: process.env, now: Date.now, write });
    const model = triageModelOf(config);
    const codec = await connectCodec(registryFrom(config), WRITTEN);
    const log = await use(connectLog({ kafka: kafkaFrom(config), clientId: 'alerting', codec, logger }));
    const options = { partitions: config.VIGIL_PARTITIONS, logger, count };
    const policies = await followPolicies(log, signal);
    const health = { now: Date.now, logger, signal, ...ownHealthSettings(config), write: writer(log, Date.now).write };
    const ownHealth = await watchOwnHealth(log, health);
    const delivering = { now: Date.now, random: Math.random, timeFlows: ownHealth.timeFlows, logger, count };
    return {
      policies,
      ownHealth,
      agents: await use(runProcessor(log, agentMapper(policies.alerts), options)),
      tasks: await use(runProcessor(log, taskMapper(policies.alerts), options)),
      fleet: await use(runProcessor(log, fleetMapper(policies.alerts), options)),
      alerts: await use(runProcessor(log, alertDecider(settingsOf(config, routing)), options)),
      triage: await use(runAssessments(log, model, { now: Date.now, logger, count })),
      delivery: await use(runDeliveries(log, sinks, delivering)),
    };
  },
});
