import { readConfig } from '@vigil/chassis';
import { expect, test } from 'vitest';
import { config } from './config.ts';

const env = { KAFKA_BROKERS: '127.0.0.1:9092', SCHEMA_REGISTRY_URL: 'http://127.0.0.1:8081' };

test('without a word, alerts go to the console, half a minute after they rise', () => {
  expect(readConfig(config, env)).toMatchObject({
    VIGIL_ALERT_SINKS: ['console'],
    VIGIL_ALERT_GROUP_WAIT_MS: 30_000,
    VIGIL_ALERT_REPEAT_MS: 14_400_000,
  });
});

test('a sink that does not exist is refused at start, naming those that do', () => {
  expect(() => readConfig(config, { ...env, VIGIL_ALERT_SINKS: 'console,pager' })).toThrow(
    /VIGIL_ALERT_SINKS is "console,pager": give a comma-separated list of console/,
  );
});
