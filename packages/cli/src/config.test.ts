import { expect, test } from 'vitest';
import { dashboardSettings, gatewaySettings } from './config.ts';

test('while npm start is starting, commands state that, and not that Vigil is to be started', () => {
  const env = { VIGIL_STARTING: '4711' };
  for (const settings of [dashboardSettings, gatewaySettings])
    expect(() => settings(env)).toThrow('npm start (process 4711) is starting Vigil here, or ending it');
  expect(() => dashboardSettings({})).toThrow('Vigil does not run here');
  expect(dashboardSettings({ ...env, VIGIL_DASHBOARD_TOKEN: 'a-token' })).toMatchObject({ token: 'a-token' });
});
