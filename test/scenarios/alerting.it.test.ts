import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { openSystem, ownServers, type TestSystem } from '../support/system.ts';
import { type Orchestrator, SECRET, startOrchestrator } from './orchestrator.ts';
import { decidedByPeople, scaled } from './scaled.ts';
import { openStage, type Stage } from './stage.ts';
import * as alerting from './stories/alerting.ts';

const NAME = 'alerting';
/** The folder of the stage's agents, into which alerting writes beside their runtime. */
const root = path.resolve(import.meta.dirname, '../../.vigil', `system-${NAME}-${process.pid}`, 'stage');

const toOrchestrator = { alerts: { stuck_agent: { severity: 'warning', channels: ['orchestrator'] } } };
/** A policy whose friction event the channel writes. */
const toFiles = {
  files: { friction: null },
  alerts: { recovery_failed: { severity: 'critical', channels: ['console', 'files'] } },
};
const policies = {
  omniclaude: scaled('omniclaude', 20, toFiles),
  'coditect-people': decidedByPeople(scaled('coditect', 120, toOrchestrator), 'coditect-people', '90s'),
};

const channelsFor = (url: string): string =>
  JSON.stringify({
    default: ['console'],
    channels: {
      orchestrator: { kind: 'webhook', url, secret_env: 'VIGIL_WEBHOOK_SECRET' },
      files: { kind: 'files', root },
    },
  });

describe.skipIf(!ownServers)('people and orchestrators are notified, and decide', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'vigil-alerting-'));
  const alerts = path.join(dir, 'alerts.json');
  const env = {
    VIGIL_POLICY_DIR: path.join(dir, 'policies'),
    VIGIL_ALERTS_FILE: alerts,
    VIGIL_WEBHOOK_SECRET: SECRET,
    VIGIL_ALERT_GROUP_WAIT_MS: '1000',
    VIGIL_GOVERNOR_SETTLE_S: '1',
    VIGIL_GOVERNOR_COOLDOWN_S: '1',
    VIGIL_GOVERNOR_STEPS_PER_MINUTE: '100',
    VIGIL_GOVERNOR_SPAWNS_PER_HOUR: '100',
  };
  let orchestrator: Orchestrator;
  let vigil: TestSystem;
  let stage: Stage;

  beforeAll(async () => {
    orchestrator = await startOrchestrator();
    writeFileSync(alerts, channelsFor(orchestrator.url));
    mkdirSync(env.VIGIL_POLICY_DIR);
    for (const [name, text] of Object.entries(policies))
      writeFileSync(path.join(env.VIGIL_POLICY_DIR, `${name}.yaml`), text);
    vigil = await openSystem({ name: NAME, policy: 'omniclaude', env });
    stage = await openStage(vigil, alerting.roles);
  }, 300_000);
  afterAll(async () => {
    await stage?.stop();
    await vigil?.stop();
    orchestrator?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  test(
    'the third stall is Blocked: the friction event and its line, to the letter',
    () => alerting.blockedInItsFiles(stage),
    300_000,
  );
  test(
    'an orchestrator receives a question by webhook, and decides through the dashboard',
    () => alerting.decidedByAnOrchestrator(orchestrator)(stage),
    300_000,
  );
  test('each policy’s channels receive notices of its own agents only', () =>
    alerting.notifiesNoOther(orchestrator)(stage));
});
