import { readConfig } from '@vigil/chassis';
import { expect, test } from 'vitest';
import { config } from './config.ts';

const env = { KAFKA_BROKERS: '127.0.0.1:9092', SCHEMA_REGISTRY_URL: 'http://127.0.0.1:8081' };

test('by default the console alone is notified, half a minute after an alert is raised', () => {
  expect(readConfig(config, env)).toMatchObject({
    VIGIL_DASHBOARD_URL: 'http://127.0.0.1:7420',
    VIGIL_ALERT_GROUP_WAIT_MS: 30_000,
    VIGIL_ALERT_END_WAIT_MS: 30_000,
    VIGIL_ALERT_REPEAT_MS: 14_400_000,
  });
  expect(readConfig(config, env).VIGIL_ALERTS_FILE).toBeUndefined();
});
