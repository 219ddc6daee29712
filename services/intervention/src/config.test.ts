import { readConfig } from '@vigil/chassis';
import { expect, test } from 'vitest';
import { config } from './config.ts';
import { usual } from './governor/settings.ts';

const servers = { KAFKA_BROKERS: 'localhost:9092', SCHEMA_REGISTRY_URL: 'http://localhost:8081' };

test('without variables of its own the governor is set to the usual figures', () => {
  expect(readConfig(config, servers).governor).toEqual(usual);
});

test('variables are in seconds and per cent', () => {
  const env = {
    ...servers,
    VIGIL_GOVERNOR_SETTLE_S: '1',
    VIGIL_GOVERNOR_BRAKE_PERCENT: '10',
    VIGIL_GOVERNOR_SCOPE_LABEL: 'team',
    VIGIL_GOVERNOR_BRAKE_MIN_AGE_S: '5',
  };
  const { governor } = readConfig(config, env);
  expect(governor).toEqual({
    ...usual,
    settleMs: 1000,
    scopeLabel: 'team',
    brake: { ...usual.brake, share: 0.1, minAgeMs: 5000 },
  });
});

test('a figure that cannot be is refused, with its name', () => {
  const env = { ...servers, VIGIL_GOVERNOR_STEPS_PER_MINUTE: '0' };
  expect(() => readConfig(config, env)).toThrow(/VIGIL_GOVERNOR_STEPS_PER_MINUTE is "0": give a whole number from 1/);
});
