import { defineService, openLog } from '@vigil/chassis';
import { runProcessor, writer } from '@vigil/stream';
import { config, groupSettingsOf, ownHealthSettings, settingsOf } from './config.ts';
import { readNow, watchChannels } from './delivery/changed-channels.ts';
import { openChannels } from './delivery/channels.ts';
import { runDeliveries } from './delivery/deliveries.ts';
import { followPolicies } from './notices/policy-alerts.ts';
import { watchOwnHealth } from './own-health/own-health.ts';
import { agentMapper, alertDecider, fleetMapper, groupDecider, taskMapper, WRITTEN } from './processors.ts';
import { runAssessments } from './triage/assessments.ts';
import { triageModelOf } from './triage/model.ts';

/** The service, for a process of its own or with others. */
export const alerting = defineService({
  name: 'alerting',
  config,
  async start({ env, config, logger, count, signal, use }) {
    const write = (line: string) => void process.stdout.write(line);
    const file = readNow(config.VIGIL_ALERTS_FILE);
    const open = () => openChannels(config, { env, now: Date.now, write });
    const { routing, sinks } = open();
    const model = triageModelOf(config);
    const log = await use(openLog(config, { clientId: 'alerting', writes: WRITTEN, logger, signal, now: Date.now }));
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
      groups: await use(runProcessor(log, groupDecider(groupSettingsOf(config)), options)),
      triage: await use(runAssessments(log, model, { now: Date.now, logger, count })),
      delivery: await use(runDeliveries(log, sinks, delivering)),
      channels: watchChannels(file, { check: open, logger, signal }),
    };
  },
});
